"""Everything that the command can do, under the same names."""

import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehr
from lehr import _lehr, _option

PAGES = Path(__file__).parents[2] / "docs" / "commands"

# Options that say how a process talks to its user and where files go: a call returns what it finds.
TALK = {"json", "quiet", "help", "force", "accept_warnings"}

# What answers to each command, and options that have another form here, with that form.
ANSWERS = {
    "fit": (lehr.fit, {"groups": "Fit.summary(groups=True)"}),
    "compare": (
        lehr.compare,
        {"report": "Comparison.report", "subsample": "lehr.loo_compare(subsample=)"},
    ),
    "predict": (
        lehr.Fit.predict,
        {"only": "predictions come alone", "response": "Fit.response", "threads": "all of them"},
    ),
    "evaluate": (lehr.Fit.evaluate, {"response": "Fit.response", "threads": "all of them"}),
    "effects": (lehr.Fit.effects, {"response": "Fit.response", "threads": "all of them"}),
    "loo": (lehr.Fit.loo, {"output": "Loo.rows", "threads": "all of them"}),
    "draws": (
        lehr.Fit.draws,
        {
            "output": "a data frame; Fit.to_arviz for .nc",
            "log_likelihood": "Fit.to_arviz",
            "posterior_predictive": "Fit.to_arviz",
            "threads": "all of them",
        },
    ),
    "check": (lehr.Fit.check, {"threads": "all of them"}),
    "priors": (lehr.priors, {"threads": "all of them"}),
    "report": (
        lehr.Fit.report,
        {"output": "the argument path", "response": "Fit.response", "threads": "one"},
    ),
    "summary": (lehr.Fit.summary, {"threads": "one"}),
    "families": (lehr.families, {"threads": "one"}),
    "methods": (lehr.methods, {"threads": "one"}),
}

# Commands about the command itself, and its demonstration.
ITS_OWN = {"completions", "demo", "help", "man"}


def options(command):
    page = (PAGES / f"{command}.md").read_text()
    return {name.replace("-", "_") for name in re.findall(r"^- `(?:-\w, )?--([a-z-]+)", page, re.M)}


def keywords(function):
    found = inspect.signature(function).parameters
    names = set(found)
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in found.values()):
        names |= set(_option.READING) - {"header"} | {"no_header"}
        if function in (lehr.fit, lehr.compare):
            names |= {s.replace("-", "_") for _, _, all in _lehr.methods() for s, _ in all}
    return names


def test_every_command_has_an_answer():
    commands = {page.stem for page in PAGES.glob("*.md")} - {"README"}
    assert commands == set(ANSWERS) | ITS_OWN


@pytest.mark.parametrize("command", ANSWERS)
def test_every_option_has_the_same_name(command):
    function, other = ANSWERS[command]
    assert not set(other) & keywords(function), "it has that name after all"
    assert set(other) <= options(command), "the command has no such option"
    assert options(command) - TALK - set(other) <= keywords(function)


def test_a_parameter_of_the_family_has_a_formula_of_its_own(frame):
    fit = lehr.fit(["y ~ dose", "sigma ~ dose"], frame, method="full-rank", progress=False)
    assert fit.formula == "y ~ dose; sigma ~ dose"
    assert "sigma.dose" in fit.coefficients.index
    spread = fit.predict(frame, parameter="sigma", quantiles=[2.5, 50], responses=3)
    names = {"y_sigma", "y_sigma_q2.5", "y_mean_q50", "y_draw1", "y_draw3"}
    assert names <= set(spread.columns) and "y_mean_q95" not in spread.columns
    with pytest.raises(lehr.LehrError, match="responses: expected at most"):
        fit.predict(frame, draws=5, responses=6)
    with pytest.raises(lehr.LehrError, match="quantiles: expected percent"):
        fit.predict(frame, quantiles=[101])


def test_predictions_without_effects_of_groups(frame):
    fit = lehr.fit("y ~ dose + (1 | site)", frame, progress=False)
    whole = fit.predict(frame, level="population")["y_mean"]
    alike = fit.predict(frame.drop(columns="site"), level="population")["y_mean"]
    assert np.allclose(whole, alike)
    assert not np.allclose(whole, fit.predict(frame)["y_mean"], atol=0.05)
    assert fit.evaluate(frame)["rmse"] < fit.evaluate(frame, level="population")["rmse"]
    with pytest.raises(lehr.LehrError, match='level: expected "groups" or "population"'):
        fit.predict(frame, level="site")


def test_the_prior_alone(frame):
    prior = {"dose": "normal(0, 0.01)"}
    drawn = lehr.fit("y ~ dose", frame, prior=prior, prior_only=True, progress=False)
    assert "prior alone" in drawn.verdict.sentence
    assert 0.009 < drawn.draws()["dose"].std() < 0.011
    with pytest.raises(lehr.LehrError, match="prior_only"):
        lehr.fit("y ~ dose", frame, prior_only=True, method="nuts", progress=False)
    with pytest.raises(lehr.LehrError, match="batch: expected no setting"):
        lehr.fit("y ~ dose", frame, prior_only=True, batch=3, progress=False)


def test_priors_are_listed_with_who_set_them(frame):
    found = lehr.priors("y ~ dose + site", frame, prior={"dose": "normal(0, 2)"}, predictive=True)
    assert found.table.loc["dose", "prior"] == "normal(0, 2)"
    assert found.table.loc["sigma", "origin"] == "default"
    assert found.coefficients.loc["dose", "q95"] == pytest.approx(2 * 1.645, rel=0.2)
    assert {"mean", "sd"} <= set(found.response.index)
    assert "normal(0, 2)" in repr(found)
    assert lehr.priors("y ~ dose", frame).coefficients is None
    assert "sigma" in lehr.families().loc["gaussian", "parameters"]


def test_parts_of_the_table_are_left_out_by_fits_of_their_own(fit, frame):
    parts = fit.loo(folds=3)
    assert parts.folds == 3 and len(parts.rows) == 240
    assert parts.elpd.mean == pytest.approx(fit.loo().elpd.mean, abs=3)
    assert repr(parts).endswith("by 3 folds of 240 rows")
    with pytest.raises(lehr.LehrError, match="folds_by: expected folds"):
        fit.loo(folds_by="site")
    with pytest.raises(lehr.LehrError, match="folds: expected neither"):
        fit.loo(folds=3, refit=2)
    by = lehr.fit("y ~ dose", frame, method="full-rank", progress=False)
    by_site = by.loo(folds=2, folds_by="site")
    assert by_site.elpd.mean < by.loo(folds=2).elpd.mean


def test_influential_rows_are_left_out_by_fits_of_their_own():
    x = np.append(np.linspace(-1, 1, 30), 8.0)
    table = {"x": x, "y": np.append(np.sin(40 * x[:-1]), 30.0)}
    fit = lehr.fit("y ~ x", table, method="full-rank", progress=False)
    once, again = fit.loo(), fit.loo(refit=1)
    assert once.rows["k"].idxmax() == 30 and once.rows["k"].max() > 0.7
    assert again.elpd.mean < once.elpd.mean - 1


def test_diagnostics_at_length(fit, frame):
    found = fit.check()
    assert set(found.witnesses.columns) == {"level", "sentence", "overruled"}
    assert found.against is None and found.simulation is None
    assert {"dose", "Intercept"} <= set(found.shifts.index)
    beside = fit.check(against="nuts", progress=False).against
    assert beside["verdict"] == "reliable"
    assert beside["lower"][0] <= beside["upper"][0] + 4 * (beside["lower"][1] + beside["upper"][1])
    assert (beside["differences"]["mean_off"].abs() < 0.2).all()
    with pytest.raises(lehr.LehrError, match="against: expected one of"):
        fit.check(against="full-rank")
    ranks = fit.check(simulate=True, simulations=8, simulation_rows=60, progress=False).simulation
    assert all(len(one) == 8 for one in ranks["ranks"]) and (ranks["p_value"] > 1e-4).all()


def test_latents_of_single_rows_are_drawn():
    random = np.random.default_rng(3)
    table = pd.DataFrame({"x": random.normal(size=80)})
    table["n"] = random.poisson(np.exp(1 + 0.3 * table["x"] + random.normal(size=80)))
    formula = "n ~ x + (1 | row())"
    fit = lehr.fit(formula, table, family="poisson", method="full-rank", progress=False)
    drawn = fit.draws(locals=[1, 80])
    own = [name for name in drawn.columns if name not in fit.draws().columns]
    assert len(own) == 2 and drawn[own].notna().all().all()
    with pytest.raises(lehr.LehrError, match="locals: expected draws"):
        fit.draws(raw=True, locals=[1])


def test_the_best_of_several_methods_has_a_page(frame, tmp_path):
    names = ["mean-field", "full-rank"]
    found = lehr.compare("y ~ dose + site", frame, methods=names, progress=False)
    assert found.best.method == "full-rank"
    found.report(tmp_path / "compare.html")
    page = (tmp_path / "compare.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "mean-field" in page
