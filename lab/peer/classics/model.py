"""The model of lehr in NumPyro's language, with the priors that lehr prints."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, init_to_median, init_to_uniform

from classics.analysis import Analysis

LAWS = {
    "normal": dist.Normal,
    "half_normal": dist.HalfNormal,
    "exponential": dist.Exponential,
    "gamma": dist.Gamma,
    "inverse_gamma": dist.InverseGamma,
    "beta": dist.Beta,
}
AT_MEANS = " at the means of the columns"
CHAINS, WARM_UP, DRAWS = 4, 1000, 1000


class Rows:
    """A table with the columns that coefficients multiply."""

    def __init__(self, path: Path) -> None:
        with path.open() as file:
            self.rows = list(csv.DictReader(file))

    def text(self, column: str) -> list[str]:
        """The column as it stands."""
        return [row[column] for row in self.rows]

    def number(self, column: str) -> np.ndarray:
        """The column as numbers."""
        return np.array([float(cell) for cell in self.text(column)])

    def multiplier(self, coefficient: str) -> np.ndarray:
        """What `x`, `trt[b]` or `x:trt[b]` multiplies."""
        product = np.ones(len(self.rows))
        for factor in coefficient.split(":"):
            column, bracket, level = factor.partition("[")
            if bracket:
                wanted = level.rstrip("]")
                product = product * np.array([cell == wanted for cell in self.text(column)])
            else:
                product = product * self.number(column)
        return product


def law(text: str) -> dist.Distribution:
    """A prior as lehr prints it."""
    name, arguments = re.fullmatch(r"(\w+)\((.*)\)", text).groups()
    return LAWS[name](*[float(one) for one in arguments.split(",")])


def common(
    rows: Rows, names: list[str], priors: dict[str, str], prefix: str = ""
) -> tuple[jax.Array, jax.Array]:
    """What one formula's common terms add in each row, and what their columns' means do.

    Without an intercept it is measured from the means.
    """
    design = np.stack([rows.multiplier(name) for name in names], 1) if names else None
    sites = [numpyro.sample(prefix + name, law(priors[prefix + name])) for name in names]
    weights = jnp.stack(sites) if sites else None
    total = jnp.zeros(len(rows.rows)) if design is None else (design - design.mean(0)) @ weights
    shift = jnp.zeros(()) if design is None else design.mean(0) @ weights
    key = prefix + "Intercept"
    if key not in priors:
        return total, shift
    middle = numpyro.sample(key + " at means", law(priors[key].removesuffix(AT_MEANS)))
    numpyro.deterministic(key, middle - shift)
    return total + middle, shift


def group(rows: Rows, name: str, effects: tuple[str, ...], priors: dict[str, str]) -> jax.Array:
    """The effects of one grouping, in each row; correlated where there are several."""
    levels, codes = np.unique(rows.text(name), return_inverse=True)
    if effects == ("Intercept",):
        spread = numpyro.sample(f"sd({name})", law(priors[f"sd({name})"]))
        with numpyro.plate(name, len(levels)):
            return spread * numpyro.sample(f"standard({name})", dist.Normal(0, 1))[codes]
    keys = [f"sd({name}, {effect})" for effect in effects]
    spreads = jnp.stack([numpyro.sample(key, law(priors[key])) for key in keys])
    shape = float(re.search(r"\((.*)\)", priors[f"cor({name})"]).group(1))
    factor = numpyro.sample(f"factor({name})", dist.LKJCholesky(len(effects), shape))
    numpyro.deterministic(f"cor({name}, {effects[0]}, {effects[1]})", factor[1, 0])
    with numpyro.plate(name, len(levels)):
        own = numpyro.sample(
            f"standard({name})", dist.Normal(0, 1).expand([len(effects)]).to_event(1)
        )
    own = (own @ factor.T * spreads)[codes]
    ones = np.ones(len(rows.rows))
    slopes = [ones if one == "Intercept" else rows.multiplier(one) for one in effects]
    return (own * np.stack(slopes, 1)).sum(1)


def response(of: Analysis, rows: Rows, at: jax.Array, own: dict[str, jax.Array]) -> None:
    """The distribution of the response."""
    y = rows.number(of.response)
    laws = {
        "binomial": lambda: dist.Binomial(rows.number(of.trials).astype(int), logits=at),
        "negbinomial": lambda: dist.NegativeBinomial2(jnp.exp(at), own["shape"]),
        "poisson": lambda: dist.Poisson(jnp.exp(at)),
        "gaussian": lambda: dist.Normal(at, rows.number(of.errors) if of.errors else own["sigma"]),
        "zero_inflated_negbinomial": lambda: dist.ZeroInflatedDistribution(
            dist.NegativeBinomial2(jnp.exp(at), own["shape"]), gate_logits=own["gate"]
        ),
        "beta": lambda: dist.BetaProportion(jax.nn.sigmoid(at), own["precision"]),
        "ordinal": lambda: dist.OrderedLogistic(at, own["cutpoint"]),
    }
    if of.family == "ordinal":
        y = y.astype(int) - 1
    numpyro.sample("y", laws[of.family](), obs=y)


def model(of: Analysis, rows: Rows, names: list[str], priors: dict[str, str]) -> None:
    """The whole model."""
    own_names = [n for n in names if "." not in n and not re.match(r"sd\(|cor\(|cutpoint", n)]
    plain = ("Intercept", "sigma", "shape", "precision", "gate")
    columns = [name for name in own_names if name not in plain]
    at, shift = common(rows, columns, priors)
    for name, effects in of.groups.items():
        at = at + group(rows, name, effects, priors)
    own = {
        name: numpyro.sample(name, law(priors[name]))
        for name in ("sigma", "shape", "precision")
        if name in names
    }
    for text in of.parameters:
        parameter, right = (part.strip() for part in text.split("~"))
        own[parameter], _ = common(rows, right.split(" + "), priors, f"{parameter}.")
    if of.family == "ordinal":
        classes = len(set(rows.text(of.response)))
        shares = numpyro.sample("shares", dist.Dirichlet(jnp.ones(classes)))
        below = jnp.cumsum(shares)[:-1]
        cuts = jnp.log(below) - jnp.log1p(-below)
        for place in range(classes - 1):
            numpyro.deterministic(f"cutpoint[{place + 1}]", cuts[place] + shift)
        own["cutpoint"] = cuts
    response(of, rows, at, own)


def by_nuts(of: Analysis, rows: Rows, names: list[str], priors: dict[str, str]) -> dict:
    """Draws of every coefficient that lehr reports, chain by chain."""
    # Means of shares that round to 1 at the usual starts have no density.
    start = init_to_median() if of.family == "beta" else init_to_uniform()
    sampler = MCMC(
        NUTS(model, target_accept_prob=0.95, init_strategy=start),
        num_warmup=WARM_UP,
        num_samples=DRAWS,
        num_chains=CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )
    sampler.run(jax.random.PRNGKey(0), of, rows, names, priors)
    draws = sampler.get_samples(group_by_chain=True)
    return {name: np.asarray(draws[name]) for name in names if name in draws}
