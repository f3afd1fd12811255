"""What can be asked of a fit."""

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import lehr


def test_coefficients_are_near_the_truth(fit):
    table = fit.coefficients
    assert list(table.columns) == ["mean", "sd", "q5", "q50", "q95"]
    assert abs(table.loc["dose", "mean"] - 2.0) < 4 * table.loc["dose", "sd"]


def test_a_fit_shows_its_verdict_first(fit):
    assert fit.verdict.level in ("reliable", "corrected")
    lines = repr(fit).splitlines()
    assert lines[0] == "y ~ dose + site, full-rank, 240 rows"
    assert lines[1].startswith(("✓ ", "≈ "))
    assert "<table" in fit._repr_html_() and "reliable" in fit._repr_html_()
    assert fit.elbo.mean <= fit.evidence.mean + 4 * (fit.elbo.error + fit.evidence.error)
    assert fit.khat is None or fit.khat < 0.7


def test_draws_are_those_that_the_coefficients_summarise(fit):
    draws = fit.draws()
    assert draws.shape == (fit.facts["n_draws"], len(fit.coefficients))
    assert np.allclose(draws.mean(), fit.coefficients["mean"], atol=0.02)
    assert "log_weight" in fit.draws(raw=True).columns


def test_predictions_follow_the_rows(fit, frame):
    pl = pytest.importorskip("polars")
    new = frame.drop(columns="y").iloc[::-1]
    predicted = fit.predict(new)
    assert predicted.index.equals(new.index)
    residual = predicted["y_mean"].reindex(frame.index) - frame["y"]
    assert residual.std() < 0.7
    assert isinstance(fit.predict(pl.from_pandas(new)), pl.DataFrame)
    assert fit.predictive_draws(new, draws=20).shape == (20, 240)


def test_held_out_rows_are_scored(fit, frame):
    scores = fit.evaluate(frame)
    assert 0.4 < scores["rmse"] < 0.6 and scores["n_rows"] == 240
    with pytest.raises(lehr.LehrError, match='no column "y"'):
        fit.evaluate(frame.drop(columns="y"))


def test_probabilities_of_classes(frame):
    fit = lehr.fit("failed ~ dose", frame, method="full-rank", progress=False)
    assert fit.family == "bernoulli"
    assert set(fit.evaluate(frame)["calibration"].columns) >= {"predicted", "observed"}
    assert fit.predict(frame)["failed_mean"].between(0, 1).all()


def test_saved_fits_are_read_again(fit, tmp_path):
    fit.save(tmp_path / "fit.lehr")
    again = lehr.load(tmp_path / "fit.lehr")
    pd.testing.assert_frame_equal(again.draws(), fit.draws())
    pickled = pickle.loads(pickle.dumps(fit))
    pd.testing.assert_frame_equal(pickled.draws(), fit.draws())
    fit.report(tmp_path / "fit.html")
    assert (tmp_path / "fit.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(lehr.LehrError, match="nothing.lehr"):
        lehr.load(tmp_path / "nothing.lehr")


def test_the_same_seed_gives_the_same_bits_on_any_threads(frame):
    one, two = (
        lehr.fit("y ~ dose", frame, method="full-rank", seed=2, threads=n, progress=False)
        for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one.draws(), two.draws(), check_exact=True)


def test_the_method_is_chosen_by_the_model_unless_it_is_named(frame):
    fit = lehr.fit("y ~ dose + (1 | site)", frame, progress=False)
    assert fit.method == "collapse"


def test_methods_are_compared(frame):
    found = lehr.compare(
        "y ~ dose",
        frame,
        methods=["mean-field", "full-rank"],
        test=frame,
        chain_steps=2,
        progress=False,
    )
    assert list(found.table.index) == ["mean-field", "full-rank"]
    assert found.table["test_log_likelihood"].notna().all()
    assert found["full-rank"].method == "full-rank"
    assert found["mean-field"].compare(found["full-rank"]).table.shape[0] == 2
    assert {"nuts", "sl-dais"} <= set(lehr.methods().index)


def test_settings_and_priors_have_the_names_of_the_command(frame):
    prior = {"dose": "normal(0, 0.001)"}
    fit = lehr.fit("y ~ dose", frame, prior=prior, method="full-rank", batch=64, progress=False)
    assert abs(fit.coefficients.loc["dose", "mean"]) < 0.1
    assert ("dose", "normal(0, 0.001)") in fit.facts["priors"]


@pytest.mark.parametrize(
    ("formula", "options", "words"),
    [
        ("y ~ does", {}, 'did you mean "dose"'),
        ("y ~ dose +", {}, "formula"),
        ("y ~ dose", {"family": "gausian"}, "gaussian"),
        ("y ~ dose", {"method": "nutz"}, "nuts"),
        ("y ~ dose", {"prior": {"dsoe": "normal(0, 1)"}}, "dsoe"),
        ("y ~ dose", {"surrogate_row": 3}, "surrogate"),
        ("y ~ dose", {"missing": "keep"}, "refuse"),
        ("y ~ dose", {"memory": "much"}, "1GiB"),
    ],
)
def test_mistakes_are_exceptions_with_a_hint(frame, formula, options, words):
    with pytest.raises(lehr.LehrError) as found:
        lehr.fit(formula, frame, progress=False, **options)
    assert words in str(found.value)
    assert "--" not in str(found.value)


def test_doubts_are_logged_and_nothing_is_printed(frame, caplog, capsys):
    few = frame.head(8)
    with caplog.at_level(logging.INFO, logger="lehr"):
        lehr.fit("failed ~ dose + site", few, method="full-rank", progress=False)
    assert any("the prior says more than the data" in record.message for record in caplog.records)
    assert capsys.readouterr() == ("", "")


def test_progress_is_told_and_other_threads_run(frame):
    told, counts = [], [0]

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.005)

    done = threading.Event()
    other = threading.Thread(target=count)
    other.start()
    lehr.fit("y ~ dose", frame, method="nuts", draws=4000, progress=lambda *news: told.append(news))
    done.set()
    other.join()
    assert counts[0] > 5
    assert all(len(news) == 5 for news in told)


SLOW = """
import lehr, numpy as np, sys
x = np.random.default_rng(1).normal(size=(20_000, 2))
table = {"x": x[:, 0], "y": x.sum(axis=1)}
try:
    slow = {"method": "sl-dais", "chain_steps": 64}
    lehr.fit("y ~ x", table, progress=lambda *news: print(news[0], flush=True), **slow)
except KeyboardInterrupt as stopped:
    print("stopped", type(stopped).__name__, str(stopped).splitlines()[-1], flush=True)
"""


def test_an_interrupt_leaves_a_checkpoint_that_is_resumed(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True, env=environment
    )
    while child.stdout.readline() != "training\n":
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    rest, _ = child.communicate(timeout=60)
    last = rest.splitlines()[-1]
    assert last.startswith("stopped Interrupted") and "resume=" in last
    checkpoint = last.split('resume="')[1].split('"')[0]
    assert os.path.exists(checkpoint)


def test_an_unfinished_fit_is_neither_resumed_nor_replaced_unasked(frame, tmp_path):
    output = tmp_path / "fit.lehr"

    def stop(doing, done, *_):
        if doing == "training" and done > 0:
            raise KeyboardInterrupt

    slow = {"method": "sl-dais", "chain_steps": 32, "output": output}
    with pytest.raises(lehr.Interrupted, match="resume="):
        lehr.fit("y ~ dose", frame, progress=stop, **slow)
    with pytest.raises(lehr.LehrError, match="was not finished"):
        lehr.fit("y ~ dose", frame, **slow)
    with pytest.raises(lehr.LehrError, match="no unfinished fit"):
        lehr.fit("y ~ dose", frame, output=tmp_path / "other.lehr", resume=True)


def test_a_cluster_without_ray_is_refused_with_what_to_install(monkeypatch, frame, fit, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(lehr.LehrError, match=r"pip install 'lehr\[ray\]'"):
        lehr.fit("y ~ dose", tmp_path / "t.parquet", cluster="ray", progress=False)
    with pytest.raises(lehr.LehrError, match="expected names of parquet files"):
        lehr.fit("y ~ dose", frame, cluster="ray", progress=False)
    with pytest.raises(lehr.LehrError, match="expected a folder for predictions"):
        fit.predict(tmp_path / "t.parquet", cluster="ray")


def test_effects_are_those_of_the_coefficients(fit, frame):
    slopes = fit.effects("dose", frame)
    slope = slopes[slopes["kind"] == "slope"].iloc[0]
    assert abs(slope["mean"] - fit.coefficients.loc["dose", "mean"]) < 0.05
    assert slopes.attrs["n_rows"] == 240
    held = fit.effects("dose", at={"site": "south"}, points=3, draws=50)
    assert (held["kind"] == "prediction").sum() == 3 and held.attrs["n_rows"] == 0
    with pytest.raises(lehr.LehrError, match='scale: expected "response"'):
        fit.effects("dose", scale="log")
    with pytest.raises(lehr.LehrError, match="weight"):
        fit.effects("weight")


def test_rows_are_left_out_and_models_compared(fit, frame):
    left = fit.loo()
    assert left.elpd.mean < 0 and 2 < left.p_loo < 8
    assert len(left.rows) == 240 and np.isclose(left.rows["elpd"].sum(), left.elpd.mean)
    smaller = lehr.fit("y ~ site", frame, method="full-rank", progress=False)
    table = lehr.loo_compare({"with": fit, "without": smaller})
    assert list(table.index) == ["with", "without"] and table.loc["without", "difference"] < -50
    assert np.isclose(table["weight"].sum(), 1.0)
    with pytest.raises(lehr.LehrError, match="two models"):
        lehr.loo_compare([fit])
    again = pickle.loads(pickle.dumps(fit))
    with pytest.raises(lehr.LehrError, match="the table that was fitted"):
        again.loo()
    assert again.loo(frame, subsample=50).facts["n_left_out"] == 50


def test_shares_of_variance(fit):
    share = fit.explained.loc["R2", "mean"]
    assert 0.8 < share < 1.0


def test_one_of_several_responses_is_a_fit_of_its_own():
    random = np.random.default_rng(5)
    group = np.repeat(np.arange(30), 6)
    effect = random.normal(size=30)[group]
    x = random.normal(size=180)
    frame = pd.DataFrame({"x": x, "g": group.astype(str)})
    frame["y"] = 1.0 + x + effect + random.normal(scale=0.5, size=180)
    frame["n"] = random.poisson(np.exp(0.3 * x + 0.5 * effect))
    formula = "mvbind(y, n) ~ x + (1 |p| g)"
    fit = lehr.fit(formula, frame, family=["gaussian", "poisson"], method="collapse")
    assert fit.family == "gaussian,poisson" and fit.formula == formula
    assert "cor(g, y.Intercept, n.Intercept)" in fit.coefficients.index
    assert {"y_mean", "n_mean"} <= set(fit.predict(frame).columns)
    with pytest.raises(lehr.LehrError, match=r"fit\.response\(\"y\"\)"):
        fit.effects("x")
    one = fit.response("n")
    assert one.family == "poisson" and list(one.coefficients.index) == ["Intercept", "x", "sd(g)"]
    assert one.coefficients.loc["x", "mean"] == pytest.approx(fit.coefficients.loc["n.x", "mean"])
    assert one.effects("x", frame).loc[0, "kind"] == "slope"
