"""The same answer, whoever gives it."""

import numpy as np
import pandas as pd
import pytest

import lehr

FORMULA = "hit ~ x0 + x1 + x2 + color"
SMALL = 12_000


def fitted(files, workers=2, formula=FORMULA, threads=1, address="ray", **how):
    where = lehr.Cluster(address, workers, threads, sample_rows=20_000, partition_rows=SMALL)
    return lehr.fit(formula, files, cluster=where, seed=1, progress=False, **how)


def same(one, other):
    assert one.method == other.method
    assert (one.draws(raw=True) == other.draws(raw=True)).all().all()
    assert one.evidence == other.evidence
    assert one.elbo == other.elbo


@pytest.mark.parametrize("method", ["auto", "surrogate-hmc"])
def test_any_number_of_workers_gives_the_same_bits(files, nodes, method):
    one = fitted(files, workers=1, method=method)
    assert one.facts["n_rows"] == 120_000
    assert one.verdict.is_trusted, one.verdict
    for workers, threads in [(2, 1), (3, 1), (12, 2)]:
        same(one, fitted(files, workers=workers, threads=threads, method=method))


def test_chains_on_a_cluster_are_those_here_but_for_the_rows_of_the_surrogate(files, nodes):
    there = fitted(files, method="surrogate-hmc")
    here = lehr.fit(FORMULA, files, method="surrogate-hmc", seed=1, progress=False)
    there, here = there.coefficients, here.coefficients
    assert ((there["mean"] - here["mean"]).abs() < 0.03 * here["sd"]).all()
    assert ((there["sd"] / here["sd"] - 1).abs() < 0.03).all()


def test_a_table_on_a_cluster_is_fitted_like_one_here(files, nodes):
    there, here = fitted(files), lehr.fit(FORMULA, files, method="full-rank", progress=False)
    there, here = there.coefficients, here.coefficients
    assert list(there.index) == list(here.index)
    # A thousand draws tell a mean to 0.03 sd and a deviation to 2 %.
    assert ((there["mean"] - here["mean"]).abs() < 0.15 * here["sd"]).all()
    assert ((there["sd"] / here["sd"] - 1).abs() < 0.12).all()


@pytest.mark.parametrize("formula", ["y ~ x0 + x1 + color", "y ~ x0 + (1 | color)"])
def test_gaussian_rows_give_the_same_draws_but_for_rounding(files, nodes, formula):
    there = fitted(files, formula=formula, method="full-rank")
    here = lehr.fit(formula, files, method="full-rank", seed=1, progress=False)
    assert dict(there.facts["choices"])["condensed"].startswith("120000 rows to ")
    away = (there.draws() - here.draws()).abs().max() / here.coefficients["sd"]
    assert (away < 1e-4).all(), away


def test_levels_are_learnt_from_all_nodes(tmp_path, nodes):
    tmp_path.mkdir(exist_ok=True)
    for k, levels in enumerate([["b", "a"], ["c", "a"], ["d"]]):
        random = np.random.default_rng(k)
        site = np.repeat(levels, 600 // len(levels))
        rows = pd.DataFrame({"site": site, "y": random.normal(size=600) + (site == "d")})
        rows.to_parquet(tmp_path / f"{k}.parquet")
    fit = fitted(str(tmp_path), formula="y ~ site", method="full-rank")
    here = lehr.fit("y ~ site", str(tmp_path), method="full-rank", progress=False)
    assert list(fit.coefficients.index) == ["Intercept", "site[b]", "site[c]", "site[d]", "sigma"]
    assert fit.facts["priors"] == here.facts["priors"]


# Every gradient is a question to all workers: short chains, of which the bits are asked alone.
SHORT = {"method": "nuts", "chains": 2, "warm_up": 20, "draws": 40, "max_depth": 3}


@pytest.mark.parametrize("formula", [FORMULA, "hit ~ x0 + (1 | color)"])
def test_chains_on_all_rows_are_the_same_bits_on_any_number_of_workers(files, nodes, formula):
    one = fitted(files, workers=1, formula=formula, **SHORT)
    assert dict(one.facts["choices"])["chains"] == "2"
    same(one, fitted(files, workers=3, threads=2, formula=formula, **SHORT))


def test_chains_on_all_rows_of_a_cluster_are_those_here(files, nodes):
    how = {"method": "nuts", "chains": 2, "warm_up": 60, "draws": 300}
    there = fitted(files, **how).coefficients
    here = lehr.fit(FORMULA, files, seed=1, progress=False, **how).coefficients
    # 300 draws on either side tell a mean to 0.12 sd where each counts for half, and a deviation
    # to 8 %. The posterior of the sample is about 2 sd away.
    assert ((there["mean"] - here["mean"]).abs() < 0.45 * here["sd"]).all()
    assert ((there["sd"] / here["sd"] - 1).abs() < 0.3).all()


def test_rows_left_out_on_a_cluster_are_those_left_out_here(files, nodes):
    fit = fitted(files)
    here = fit.loo(subsample=700, seed=3)
    there, again = (
        fit.loo(subsample=700, seed=3, cluster=lehr.Cluster(workers=workers, partition_rows=SMALL))
        for workers in (1, 3)
    )
    assert there.facts == again.facts
    assert (there.rows == again.rows).all().all()
    assert list(there.rows.index) == list(here.rows.index)
    assert np.allclose(there.rows["elpd"], here.rows["elpd"], rtol=1e-12)
    assert np.isclose(there.elpd.mean, here.elpd.mean, rtol=1e-12)
    assert there.facts["n_rows"] == 120_000


def test_models_are_compared_on_a_cluster_as_here(files, nodes):
    fits = {"all": fitted(files), "one": fitted(files, formula="hit ~ x0")}
    where = lehr.Cluster(partition_rows=SMALL)
    there = lehr.loo_compare(fits, subsample=500, cluster=where)
    here = lehr.loo_compare(fits, subsample=500)
    assert list(there.index) == ["all", "one"]
    numbers = ["elpd", "difference", "difference_se", "weight"]
    assert np.allclose(there[numbers], here[numbers], rtol=1e-9)


def test_rows_that_are_dropped_are_not_numbered(tmp_path, nodes):
    for k in range(3):
        random = np.random.default_rng(k)
        rows = pd.DataFrame({"x": random.normal(size=400), "y": random.normal(size=400)})
        rows.loc[random.choice(400, 30, replace=False), "x"] = np.nan
        rows.to_parquet(tmp_path / f"{k}.parquet")
    fit = lehr.fit("y ~ x", str(tmp_path), missing="drop", method="full-rank", progress=False)
    there = fit.loo(cluster=lehr.Cluster(partition_rows=400))
    here = fit.loo()
    assert there.facts["n_left_out"] == here.facts["n_left_out"] == 3 * 370
    assert list(there.rows.index) == list(here.rows.index)
    assert np.allclose(there.rows["elpd"], here.rows["elpd"], rtol=1e-12)


def test_what_a_cluster_cannot_do_is_said_with_what_it_can(files, nodes):
    with pytest.raises(lehr.LehrError, match=r"found 120000 on a cluster\n.*surrogate-hmc, nuts"):
        fitted(files, method="hmc")
    with pytest.raises(lehr.LehrError, match="terms that a cluster can learn"):
        fitted(files, formula="hit ~ s(x0)")
    with pytest.raises(lehr.LehrError, match="no spread among the latents"):
        fitted(files, formula="hit ~ x0 + (1 | color)")
    with pytest.raises(lehr.LehrError, match="names of parquet files"):
        fitted(pd.DataFrame({"hit": [0.0], "x0": [1.0]}), formula="hit ~ x0")


def test_predictions_are_written_in_parts_and_are_those_made_here(files, nodes, tmp_path):
    fit = fitted(files)
    where = lehr.Cluster(partition_rows=SMALL)
    paths = fit.predict(files, cluster=where, output=tmp_path / "out", draws=20)
    assert len(paths) == 12
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"part-{k:05}.parquet" for k in range(12)
    ]
    there = pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)
    here = fit.predict(files, draws=20)
    assert list(there.columns) == list(here.columns)
    assert (there["hit_class"].astype(str) == here["hit_class"].astype(str)).all()
    assert np.allclose(there["hit[1]"], here["hit[1]"], rtol=1e-12)


@pytest.mark.parametrize("formula", [FORMULA, "y ~ x0 + x1 + color"])
def test_scores_of_parts_are_those_of_the_table(files, nodes, formula):
    fit = fitted(files, formula=formula)
    there = fit.evaluate(files, cluster=lehr.Cluster(partition_rows=SMALL), draws=20)
    here = fit.evaluate(files, draws=20)
    bins = [one.pop("calibration").to_numpy(dtype=float) for one in (there, here)]
    assert there.keys() == here.keys()
    assert all(np.isclose(there[key], here[key], rtol=1e-11) for key in here)
    assert np.allclose(*bins, rtol=1e-9)
