"""ArviZ opens what it is given."""

import pytest

import lehr

arviz = pytest.importorskip("arviz")


def test_arviz_summarises_and_scores(fit, frame):
    data = fit.to_arviz()
    for group in ("posterior", "sample_stats", "observed_data", "log_likelihood", "constant_data"):
        assert group in list(getattr(data, "children", None) or data.groups())
    assert data["posterior_predictive"]["y"].shape[-1] == len(frame)
    summary = arviz.summary(data)
    assert abs(summary.loc["dose", "mean"] - fit.coefficients.loc["dose", "mean"]) < 0.05
    loo = arviz.loo(data)
    assert float(getattr(loo, "elpd_loo", getattr(loo, "elpd", None))) < 0


def test_markov_chains_keep_their_chains(frame):
    fit = lehr.fit("y ~ dose", frame, method="nuts", progress=False)
    data = fit.to_arviz()
    assert data["posterior"].sizes["chain"] > 1
    assert data["sample_stats"]["diverging"].dtype == bool
