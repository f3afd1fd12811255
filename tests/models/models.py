"""The models of examples/models.rs, written in Python."""

import numpy as np

import lehr
from lehr import dist

ROWS = 200


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


MODELS = [conjugate, multilevel, robust, counts]
FORMULAS = [
    ("formula_multilevel", "y ~ z + (1 | site)", "gaussian"),
    ("formula_counts", "count ~ z", "poisson"),
]
