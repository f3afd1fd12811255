"""ArviZ opens what it is given, in its versions 0.21 and newer and from 1 on."""

import pytest

import lehr

arviz = pytest.importorskip("arviz")


def groups(data):
    return set(getattr(data, "children", None) or data.groups())


def test_arviz_summarises_and_scores(fit, frame):
    data = fit.to_arviz()
    named = {"posterior", "sample_stats", "observed_data", "log_likelihood", "constant_data"}
    assert named | {"posterior_predictive"} <= groups(data)
    assert data["posterior_predictive"]["y"].shape[-1] == len(frame)
    summary = arviz.summary(data)
    mean = float(summary.loc["dose", "mean"])
    assert abs(mean - fit.coefficients.loc["dose", "mean"]) < 0.05
    left = arviz.loo(data)
    elpd = float(getattr(left, "elpd_loo", getattr(left, "elpd", None)))
    assert abs(elpd - fit.loo().elpd.mean) < 1.0


def test_markov_chains_keep_their_chains(frame):
    fit = lehr.fit("y ~ dose", frame, method="nuts", progress=False)
    data = fit.to_arviz()
    assert data["posterior"].sizes["chain"] > 1
    assert data["sample_stats"]["diverging"].dtype == bool


@pytest.mark.parametrize("method", ["full-rank", "nuts"])
def test_arviz_draws_traces_and_predictions(frame, method):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    data = lehr.fit("y ~ dose + site", frame, method=method, progress=False).to_arviz()
    # What was plot_ppc is called plot_ppc_dist in ArviZ 1.
    predictions = getattr(arviz, "plot_ppc", None) or arviz.plot_ppc_dist
    for plot in (arviz.plot_trace, predictions):
        plot(data)
        drawn = [pyplot.figure(number) for number in pyplot.get_fignums()]
        lines = [one for figure in drawn for axes in figure.axes for one in axes.lines]
        assert lines, plot.__name__
        pyplot.close("all")
