"""Regressions without groups: logistic, robust, zero-inflated, ordinal, horseshoe."""

from __future__ import annotations

import jax.numpy as jnp
import lehr
import numpy as np
import numpyro
import numpyro.distributions as theirs
from lehr import dist
from numpy.random import Generator

from ports.port import Columns, Port, logistic

WEIGHTS = np.array([0.8, -0.5, 0.3, 0.0, 1.2, -0.2, 0.0, 0.4])
SLAB = 2.0


def logistic_rows(random: Generator) -> Columns:
    """Outcomes by eight correlated columns."""
    shared = random.normal(size=(2000, 1))
    x = 0.8 * random.normal(size=(2000, 8)) + 0.6 * shared
    return {"x": x, "y": (random.random(2000) < logistic(x @ WEIGHTS)).astype(float)}


def logistic_theirs(data: Columns) -> None:
    """Logistic regression."""
    weight = numpyro.sample("weight", theirs.Normal(0.0, 1.0).expand([8]).to_event(1))
    numpyro.sample("y", theirs.Bernoulli(logits=data["x"] @ weight), obs=data["y"])


@lehr.model
def logistic_ours(data: lehr.Table) -> None:
    """Logistic regression."""
    weight = lehr.sample("weight", dist.Normal(0.0, 1.0).expand([8]))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Bernoulli(logits=row["x"] @ weight), row["y"])


def robust_rows(random: Generator) -> Columns:
    """A plane with heavy-tailed noise."""
    x = random.normal(size=(400, 3))
    y = 1.0 + x @ np.array([1.5, -1.0, 0.2]) + 0.5 * random.standard_t(3.0, size=400)
    return {"x": x, "y": y}


def robust_theirs(data: Columns) -> None:
    """Student's t with unknown degrees of freedom."""
    level = numpyro.sample("level", theirs.Normal(0.0, 5.0))
    weight = numpyro.sample("weight", theirs.Normal(0.0, 2.0).expand([3]).to_event(1))
    scale = numpyro.sample("scale", theirs.HalfNormal(2.0))
    df = numpyro.sample("df", theirs.Gamma(2.0, 0.1))
    numpyro.sample("y", theirs.StudentT(df, level + data["x"] @ weight, scale), obs=data["y"])


@lehr.model
def robust_ours(data: lehr.Table) -> None:
    """Student's t with unknown degrees of freedom."""
    level = lehr.sample("level", dist.Normal(0.0, 5.0))
    weight = lehr.sample("weight", dist.Normal(0.0, 2.0).expand([3]))
    scale = lehr.sample("scale", dist.HalfNormal(2.0))
    df = lehr.sample("df", dist.Gamma(2.0, 0.1))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.StudentT(df, level + row["x"] @ weight, scale), row["y"])


def zero_inflated_rows(random: Generator) -> Columns:
    """Counts of which a share are 0 by another cause."""
    x = random.normal(size=(1000, 2))
    count = random.poisson(np.exp(0.7 + x @ np.array([0.5, -0.3])))
    closed = random.random(1000) < logistic(-0.8 + 0.9 * x[:, 0])
    return {"x": x, "first": x[:, 0], "y": np.where(closed, 0, count).astype(float)}


def zero_inflated_theirs(data: Columns) -> None:
    """Zero-inflated Poisson regression, the gate by the first column."""
    level = numpyro.sample("level", theirs.Normal(0.0, 2.0))
    weight = numpyro.sample("weight", theirs.Normal(0.0, 1.0).expand([2]).to_event(1))
    gate = numpyro.sample("gate", theirs.Normal(0.0, 1.5).expand([2]).to_event(1))
    rate = jnp.exp(level + data["x"] @ weight)
    closed = gate[0] + gate[1] * data["first"]
    numpyro.sample(
        "y",
        theirs.ZeroInflatedDistribution(theirs.Poisson(rate), gate_logits=closed),
        obs=data["y"],
    )


@lehr.model
def zero_inflated_ours(data: lehr.Table) -> None:
    """Zero-inflated Poisson regression, the gate by the first column."""
    level = lehr.sample("level", dist.Normal(0.0, 2.0))
    weight = lehr.sample("weight", dist.Normal(0.0, 1.0).expand([2]))
    gate = lehr.sample("gate", dist.Normal(0.0, 1.5).expand([2]))
    with lehr.rows(data) as row:
        count = dist.Poisson(log_rate=level + row["x"] @ weight)
        closed = gate[0] + gate[1] * row["first"]
        lehr.observe("y", dist.ZeroInflated(count, closed), row["y"])


def ordinal_rows(random: Generator) -> Columns:
    """Five ordered classes by three columns."""
    x = random.normal(size=(600, 3))
    hidden = x @ np.array([1.0, -0.6, 0.2]) + random.logistic(size=600)
    return {"x": x, "y": np.digitize(hidden, [-2.0, -0.5, 0.4, 1.8])}


def ordinal_theirs(data: Columns) -> None:
    """Cumulative logit, cutpoints by a first one and positive gaps."""
    weight = numpyro.sample("weight", theirs.Normal(0.0, 1.0).expand([3]).to_event(1))
    first = numpyro.sample("first", theirs.Normal(0.0, 2.0))
    gap = numpyro.sample("gap", theirs.LogNormal(0.0, 1.0).expand([3]).to_event(1))
    cutpoint = first + jnp.concatenate([jnp.zeros(1), jnp.cumsum(gap)])
    numpyro.sample("y", theirs.OrderedLogistic(data["x"] @ weight, cutpoint), obs=data["y"])


@lehr.model
def ordinal_ours(data: lehr.Table) -> None:
    """Cumulative logit, cutpoints by a first one and positive gaps."""
    weight = lehr.sample("weight", dist.Normal(0.0, 1.0).expand([3]))
    first = lehr.sample("first", dist.Normal(0.0, 2.0))
    gap = lehr.sample("gap", dist.LogNormal(0.0, 1.0).expand([3]))
    cutpoint = first + np.concatenate([np.zeros(1), np.cumsum(gap)])
    with lehr.rows(data) as row:
        lehr.observe("y", dist.OrderedLogistic(row["x"] @ weight, cutpoint), row["y"])


def horseshoe_rows(random: Generator) -> Columns:
    """Twenty columns of which three matter."""
    x = random.normal(size=(120, 20))
    weight = np.zeros(20)
    weight[:3] = [2.0, -1.0, 0.5]
    return {"x": x, "y": x @ weight + random.normal(size=120)}


def horseshoe_theirs(data: Columns) -> None:
    """The regularised horseshoe of Piironen & Vehtari 2017 with a slab of 2."""
    share = numpyro.sample("local", theirs.HalfCauchy(1.0).expand([20]).to_event(1))
    whole = numpyro.sample("global", theirs.HalfCauchy(0.1))
    raw = numpyro.sample("raw", theirs.Normal(0.0, 1.0).expand([20]).to_event(1))
    scale = numpyro.sample("scale", theirs.HalfNormal(2.0))
    own = share * whole
    weight = numpyro.deterministic("weight", raw * own / jnp.sqrt(1.0 + (own / SLAB) ** 2))
    numpyro.deterministic("log_global", jnp.log(whole))
    numpyro.sample("y", theirs.Normal(data["x"] @ weight, scale), obs=data["y"])


@lehr.model
def horseshoe_ours(data: lehr.Table) -> None:
    """The regularised horseshoe of Piironen & Vehtari 2017 with a slab of 2."""
    share = lehr.sample("local", dist.HalfCauchy(1.0).expand([20]))
    whole = lehr.sample("global", dist.HalfCauchy(0.1))
    raw = lehr.sample("raw", dist.Normal(0.0, 1.0).expand([20]))
    scale = lehr.sample("scale", dist.HalfNormal(2.0))
    own = share * whole
    weight = lehr.deterministic("weight", raw * own / np.sqrt(1.0 + (own / SLAB) ** 2))
    lehr.deterministic("log_global", np.log(whole))
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(row["x"] @ weight, scale), row["y"])


PORTS = [
    Port("logistic regression", 11, logistic_rows, logistic_theirs, logistic_ours, ("weight",)),
    Port(
        "robust regression",
        12,
        robust_rows,
        robust_theirs,
        robust_ours,
        ("level", "weight", "scale", "df"),
    ),
    Port(
        "zero-inflated Poisson",
        13,
        zero_inflated_rows,
        zero_inflated_theirs,
        zero_inflated_ours,
        ("level", "weight", "gate"),
    ),
    Port(
        "ordinal regression",
        14,
        ordinal_rows,
        ordinal_theirs,
        ordinal_ours,
        ("weight", "first", "gap"),
    ),
    Port(
        "horseshoe",
        15,
        horseshoe_rows,
        horseshoe_theirs,
        horseshoe_ours,
        ("weight", "scale", "log_global"),
        acceptance=0.99,
    ),
]
