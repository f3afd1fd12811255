"""The models of examples/models.rs, written in Python."""

import numpy as np

import lehr
from lehr import dist

ROWS = 200

# Where the Gaussian process has values.
POINTS = np.array([-0.75, -0.375, 0.0, 0.375, 0.75])


def table():
    """Return numbers that any language makes the same: quotients of small whole numbers."""
    i = np.arange(ROWS)

    def share(times):
        return (i * times % 101) / 64.0 - 0.75

    return {
        "y": 2.0 * share(37) + share(71),
        "z": share(37),
        "x": np.column_stack([share(37), share(53)]),
        "coin": (i * 37 % 101 > 40).astype(float),
        "count": (i * 37 % 101 // 17).astype(float),
        "site": np.array(["a", "b", "c", "d", "e"])[i * 7 % 5],
    }


@lehr.model
def conjugate(data):
    """Fit a line through 0 with known noise."""
    slope = lehr.sample("slope", dist.Normal(0.0, 2.0))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(row["z"] * slope, 1.0), row["y"])


@lehr.model
def multilevel(data):
    """Fit a logistic regression with effects of sites."""
    weight = lehr.sample("weight", dist.Normal(0.0, 1.0).expand([2]))
    scale = lehr.sample("scale", dist.HalfNormal(1.0))
    effect = lehr.sample("effect", dist.Normal(0.0, scale).expand([data.levels("site")]))
    with lehr.rows(data) as row:
        logit = row["x"] @ weight + effect[row["site"]]
        lehr.observe("coin", dist.Bernoulli(logits=logit), row["coin"])


@lehr.model
def robust(data):
    """Fit a line with heavy-tailed noise."""
    level = lehr.sample("level", dist.StudentT(3.0, 0.0, 2.5))
    slope = lehr.sample("slope", dist.Normal(0.0, 2.0))
    scale = lehr.sample("scale", dist.Exponential(1.0))
    lehr.deterministic("at_one", level + slope)
    with lehr.rows(data) as row:
        mean = level + slope * row["z"]
        lehr.observe("y", dist.StudentT(4.0, mean, scale), row["y"])


@lehr.model
def counts(data):
    """Fit counts with more zeros than they should have."""
    gate = lehr.sample("gate", dist.Normal(0.0, 1.0))
    rate = lehr.group_effect("rate", data.levels("site"), 0.5)
    with lehr.rows(data) as row:
        log_rate = rate[row["site"]] + row.offset("z")
        lehr.observe("count", dist.ZeroInflated(dist.Poisson(log_rate=log_rate), gate))


@lehr.model
def process(data):
    """Fit a curve by its values at five points, of a Gaussian process whose length is unknown."""
    scale = lehr.sample("scale", dist.HalfNormal(1.0))
    length = lehr.sample("length", dist.LogNormal(-0.5, 0.5))
    noise = lehr.sample("noise", dist.Exponential(1.0))
    raw = lehr.sample("raw", dist.Normal(0.0, 1.0).expand([len(POINTS)]))
    apart = (POINTS[:, None] - POINTS[None, :]) ** 2
    covariance = np.exp(-0.5 * (apart / length**2)) + 0.01 * np.eye(len(POINTS))
    weight = covariance.cholesky().solve_lower_transposed(raw)
    with lehr.rows(data) as row:
        mean = 0.0
        for k, point in enumerate(POINTS):
            near = np.exp(-0.5 * ((row["z"] - point) ** 2 / length**2))
            mean = mean + near * weight[k]
        lehr.observe("y", dist.Normal(scale * mean, noise), row["y"])


@lehr.model
def spread(data):
    """Fit counts that vary more than Poisson's, with a latent of each row's own."""
    level = lehr.sample("level", dist.Normal(0.0, 1.0))
    slope = lehr.sample("slope", dist.Normal(0.0, 1.0))
    width = lehr.sample("width", dist.HalfNormal(1.0))
    with lehr.rows(data) as row:
        own = lehr.local("own", dist.Normal(0.0, 1.0))
        log_rate = level + slope * row["z"] + width * own
        lehr.observe("count", dist.Poisson(log_rate=log_rate), row["count"])


@lehr.model
def funnel(data):
    """Fit what no Gaussian is near: effects that nothing but their spread is known of."""
    width = lehr.sample("width", dist.Normal(0.0, 3.0))
    lehr.sample("effect", dist.Normal(0.0, np.exp(0.5 * width)).expand([6]))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(0.0, 2.0), row["y"])


@lehr.model
def wrong_shape(data):
    """Join two columns with three weights."""
    weight = lehr.sample("weight", dist.Normal(0.0, 1.0).expand([3]))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(row["x"] @ weight, 1.0), row["y"])


@lehr.model
def wrong_column(data):
    """Name a column that is not there."""
    slope = lehr.sample("slope", dist.Normal(0.0, 1.0))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(row.number("zz") * slope, 1.0), row["y"])


@lehr.model
def named_twice(data):
    """Give two sites one name."""
    slope = lehr.sample("slope", dist.Normal(0.0, 1.0))
    level = lehr.sample("slope", dist.Normal(0.0, 1.0))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(row["z"] * slope + level, 1.0), row["y"])


@lehr.model
def discrete(data):
    """Sample a count."""
    count = lehr.sample("latent", dist.Poisson(1.0))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(row["z"] * count, 1.0), row["y"])


@lehr.model
def negative_scale(data):
    """Give a prior a scale below 0."""
    slope = lehr.sample("slope", dist.Normal(0.0, -1.0))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(row["z"] * slope, 1.0), row["y"])


@lehr.model
def wrong_labels(data):
    """Take numbers for the toss of a coin."""
    slope = lehr.sample("slope", dist.Normal(0.0, 1.0))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Bernoulli(logits=row["z"] * slope), row["y"])


MODELS = [conjugate, multilevel, robust, counts, process, spread, funnel]
FAILING = [wrong_shape, wrong_column, named_twice, discrete, negative_scale, wrong_labels]
FORMULAS = [
    ("formula_multilevel", "y ~ z + (1 | site)", "gaussian"),
    ("formula_counts", "count ~ z", "poisson"),
    ("formula_coin", "coin ~ z + (1 + z | site)", "bernoulli"),
    ("formula_curve", "y ~ gp(z)", "gaussian"),
    ("formula_spread", "count ~ z + (1 | row())", "poisson"),
    ("formula_unknown", "y ~ zz", "gaussian"),
    ("formula_family", "y ~ z", "bernoulli"),
]
