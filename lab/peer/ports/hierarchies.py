"""Models with groups, and a Gaussian process.

NumPyro's chains are given effects as standard normals times their spread, the form that they
move well in. lehr's language states them as they are.
"""

from __future__ import annotations

import jax.numpy as jnp
import lehr
import numpy as np
import numpyro
import numpyro.distributions as theirs
from lehr import dist
from numpy.random import Generator

from ports.port import Columns, Port, logistic

STUDENTS, ITEMS = 150, 20
BASIS, HALF_WIDTH = 24, 1.5
PLACES = np.linspace(-1.0, 1.0, 9)


def baseball_rows(random: Generator) -> Columns:
    """Hits of 18 players in 45 turns at bat each."""
    ability = logistic(random.normal(-1.0, 0.25, size=18))
    return {
        "player": np.arange(18),
        "turns": np.full(18, 45.0),
        "y": random.binomial(45, ability).astype(float),
    }


def baseball_theirs(data: Columns) -> None:
    """Abilities of players, partially pooled on the logit scale."""
    mean = numpyro.sample("mean", theirs.Normal(-1.0, 1.0))
    spread = numpyro.sample("spread", theirs.HalfNormal(1.0))
    raw = numpyro.sample("raw", theirs.Normal(0.0, 1.0).expand([18]).to_event(1))
    ability = numpyro.deterministic("ability", mean + spread * raw)
    law = theirs.Binomial(45, logits=ability[data["player"]])
    numpyro.sample("y", law, obs=data["y"])


@lehr.model
def baseball_ours(data: lehr.Table) -> None:
    """Abilities of players, partially pooled on the logit scale."""
    mean = lehr.sample("mean", dist.Normal(-1.0, 1.0))
    spread = lehr.sample("spread", dist.HalfNormal(1.0))
    ability = lehr.sample("ability", dist.Normal(mean, spread).expand([data.levels("player")]))
    with lehr.rows(data) as row:
        law = dist.Binomial(row["turns"], ability[row["player"]])
        lehr.observe("y", law, row["y"])


def radon_rows(random: Generator) -> Columns:
    """Log radon of houses in counties, a few to many houses in each."""
    county = np.repeat(np.arange(40), random.integers(2, 40, size=40))
    level, slope = random.normal(1.4, 0.3, size=40), random.normal(-0.6, 0.25, size=40)
    floor = (random.random(county.size) < 0.25).astype(float)
    y = level[county] + slope[county] * floor + random.normal(0.0, 0.7, size=county.size)
    return {"county": county, "floor": floor, "y": y}


def radon_theirs(data: Columns) -> None:
    """Intercepts and slopes by county."""
    sites = {}
    for name in ("level", "slope"):
        mean = numpyro.sample(f"{name}_mean", theirs.Normal(0.0, 2.0))
        spread = numpyro.sample(f"{name}_spread", theirs.HalfNormal(1.0))
        raw = numpyro.sample(f"{name}_raw", theirs.Normal(0.0, 1.0).expand([40]).to_event(1))
        sites[name] = numpyro.deterministic(name, mean + spread * raw)
    noise = numpyro.sample("noise", theirs.HalfNormal(2.0))
    mean = sites["level"][data["county"]] + sites["slope"][data["county"]] * data["floor"]
    numpyro.sample("y", theirs.Normal(mean, noise), obs=data["y"])


@lehr.model
def radon_ours(data: lehr.Table) -> None:
    """Intercepts and slopes by county."""
    sites = {}
    for name in ("level", "slope"):
        mean = lehr.sample(f"{name}_mean", dist.Normal(0.0, 2.0))
        spread = lehr.sample(f"{name}_spread", dist.HalfNormal(1.0))
        counties = data.levels("county")
        sites[name] = lehr.sample(name, dist.Normal(mean, spread).expand([counties]))
    noise = lehr.sample("noise", dist.HalfNormal(2.0))
    with lehr.rows(data) as row:
        mean = sites["level"][row["county"]] + sites["slope"][row["county"]] * row["floor"]
        lehr.observe("y", dist.Normal(mean, noise), row["y"])


def mixed_rows(random: Generator) -> Columns:
    """Events counted in 30 patients at eight visits, by a dose."""
    patient, visit = np.divmod(np.arange(240), 8)
    dose = visit / 4.0 - 0.875
    effect = random.multivariate_normal([0.0, 0.0], [[0.25, -0.06], [-0.06, 0.09]], size=30)
    log_rate = 1.2 + effect[patient, 0] + (0.4 + effect[patient, 1]) * dose
    return {"patient": patient, "dose": dose, "y": random.poisson(np.exp(log_rate)).astype(float)}


def mixed_theirs(data: Columns) -> None:
    """Correlated intercepts and slopes by patient, in a Poisson regression."""
    fixed = numpyro.sample("fixed", theirs.Normal(0.0, 2.0).expand([2]).to_event(1))
    spread = numpyro.sample("spread", theirs.HalfNormal(1.0).expand([2]).to_event(1))
    factor = numpyro.sample("factor", theirs.LKJCholesky(2, 2.0))
    raw = numpyro.sample("raw", theirs.Normal(0.0, 1.0).expand([30, 2]).to_event(2))
    numpyro.deterministic("correlation", factor[1, 0])
    effect = numpyro.deterministic("effect", raw @ (spread[:, None] * factor).T)
    own = fixed + effect[data["patient"]]
    numpyro.sample(
        "y", theirs.Poisson(jnp.exp(own[:, 0] + own[:, 1] * data["dose"])), obs=data["y"]
    )


@lehr.model
def mixed_ours(data: lehr.Table) -> None:
    """Correlated intercepts and slopes by patient, in a Poisson regression."""
    fixed = lehr.sample("fixed", dist.Normal(0.0, 2.0).expand([2]))
    spread = lehr.sample("spread", dist.HalfNormal(1.0).expand([2]))
    factor = lehr.sample("factor", dist.LkjCholesky(2, 2.0))
    raw = lehr.sample("raw", dist.Normal(0.0, 1.0).expand([data.levels("patient"), 2]))
    lehr.deterministic("correlation", factor[1, 0])
    effect = lehr.deterministic("effect", raw @ (np.diag(spread) @ factor).T)
    with lehr.rows(data) as row:
        own = fixed + effect[row["patient"]]
        log_rate = own[:, 0] + own[:, 1] * row["dose"]
        lehr.observe("y", dist.Poisson(log_rate=log_rate), row["y"])


def response_rows(random: Generator) -> Columns:
    """Every answer of every student to every item."""
    student, item = np.divmod(np.arange(STUDENTS * ITEMS), ITEMS)
    ability = random.normal(size=STUDENTS)
    difficulty, slope = random.normal(size=ITEMS), np.exp(random.normal(0.0, 0.3, size=ITEMS))
    logit = slope[item] * (ability[student] - difficulty[item])
    answer = (random.random(student.size) < logistic(logit)).astype(float)
    return {"student": student, "item": item, "y": answer}


def response_theirs(data: Columns) -> None:
    """Two parameters per item: difficulty and discrimination."""
    ability = numpyro.sample("ability", theirs.Normal(0.0, 1.0).expand([STUDENTS]).to_event(1))
    difficulty = numpyro.sample("difficulty", theirs.Normal(0.0, 1.5).expand([ITEMS]).to_event(1))
    slope = numpyro.sample("slope", theirs.LogNormal(0.0, 0.5).expand([ITEMS]).to_event(1))
    logit = slope[data["item"]] * (ability[data["student"]] - difficulty[data["item"]])
    numpyro.sample("y", theirs.Bernoulli(logits=logit), obs=data["y"])


@lehr.model
def response_ours(data: lehr.Table) -> None:
    """Two parameters per item: difficulty and discrimination."""
    ability = lehr.sample("ability", dist.Normal(0.0, 1.0).expand([data.levels("student")]))
    items = data.levels("item")
    difficulty = lehr.sample("difficulty", dist.Normal(0.0, 1.5).expand([items]))
    slope = lehr.sample("slope", dist.LogNormal(0.0, 0.5).expand([items]))
    with lehr.rows(data) as row:
        logit = slope[row["item"]] * (ability[row["student"]] - difficulty[row["item"]])
        lehr.observe("y", dist.Bernoulli(logits=logit), row["y"])


def process_rows(random: Generator) -> Columns:
    """A curve with noise."""
    x = np.sort(random.uniform(-1.0, 1.0, size=200))
    y = np.sin(4.0 * x) + 0.5 * x + 0.3 * random.normal(size=200)
    return {"basis": sines(x), "y": y}


def sines(x: np.ndarray) -> np.ndarray:
    """The functions of the basis, on an interval half as wide again as that of the rows."""
    return np.sin((x[:, None] + HALF_WIDTH) * frequency()) / np.sqrt(HALF_WIDTH)


def frequency() -> np.ndarray:
    """The frequencies of the sines (Riutort-Mayol et al. 2023)."""
    return np.arange(1, BASIS + 1) * np.pi / (2.0 * HALF_WIDTH)


def process_theirs(data: Columns) -> None:
    """A Gaussian process by 24 sines, with unknown scale and lengthscale."""
    scale = numpyro.sample("scale", theirs.HalfNormal(1.0))
    length = numpyro.sample("length", theirs.LogNormal(-0.7, 0.5))
    noise = numpyro.sample("noise", theirs.HalfNormal(1.0))
    raw = numpyro.sample("raw", theirs.Normal(0.0, 1.0).expand([BASIS]).to_event(1))
    density = jnp.sqrt(2.0 * jnp.pi) ** 0.5 * jnp.exp(-0.25 * (length * frequency()) ** 2)
    weight = scale * jnp.sqrt(length) * density * raw
    numpyro.deterministic("curve", sines(PLACES) @ weight)
    numpyro.sample("y", theirs.Normal(data["basis"] @ weight, noise), obs=data["y"])


@lehr.model
def process_ours(data: lehr.Table) -> None:
    """A Gaussian process by 24 sines, with unknown scale and lengthscale."""
    scale = lehr.sample("scale", dist.HalfNormal(1.0))
    length = lehr.sample("length", dist.LogNormal(-0.7, 0.5))
    noise = lehr.sample("noise", dist.HalfNormal(1.0))
    raw = lehr.sample("raw", dist.Normal(0.0, 1.0).expand([BASIS]))
    density = np.sqrt(2.0 * np.pi) ** 0.5 * np.exp(-0.25 * (length * frequency()) ** 2)
    weight = scale * np.sqrt(length) * density * raw
    lehr.deterministic("curve", sines(PLACES) @ weight)
    with lehr.rows(data) as row:
        lehr.observe("y", dist.Normal(row["basis"] @ weight, noise), row["y"])


PORTS = [
    Port(
        "baseball",
        21,
        baseball_rows,
        baseball_theirs,
        baseball_ours,
        ("mean", "spread", "ability"),
        acceptance=0.99,
    ),
    Port(
        "radon",
        22,
        radon_rows,
        radon_theirs,
        radon_ours,
        (
            *("level_mean", "level_spread", "level", "slope_mean", "slope_spread", "slope"),
            "noise",
        ),
    ),
    Port(
        "mixed effects, Poisson",
        23,
        mixed_rows,
        mixed_theirs,
        mixed_ours,
        ("fixed", "spread", "correlation", "effect"),
    ),
    Port(
        "item response",
        24,
        response_rows,
        response_theirs,
        response_ours,
        ("ability", "difficulty", "slope"),
    ),
    Port(
        "Gaussian process, basis",
        25,
        process_rows,
        process_theirs,
        process_ours,
        ("scale", "length", "noise", "curve"),
    ),
]
