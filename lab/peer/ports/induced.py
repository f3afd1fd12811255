"""A Gaussian process by its values at inducing points, with unknown scale and length."""

from __future__ import annotations

import jax.numpy as jnp
import jax.scipy.linalg
import lehr
import numpy as np
import numpyro
import numpyro.distributions as theirs
from lehr import dist
from numpy.random import Generator

from ports.port import Columns, Port

POINTS = np.linspace(-1.0, 1.0, 10)
# Keeps the factor of the covariance at the points well away from singular.
NUGGET = 1e-4 * np.eye(len(POINTS))
APART = (POINTS[:, None] - POINTS[None, :]) ** 2


def rows(random: Generator) -> Columns:
    """A curve with noise."""
    x = np.sort(random.uniform(-1.0, 1.0, size=200))
    return {"x": x, "y": np.sin(4.0 * x) + 0.5 * x + 0.3 * random.normal(size=200)}


def in_numpyro(data: Columns) -> None:
    """The curve is K(x, points) K(points, points)⁻¹ times its values at the points."""
    scale = numpyro.sample("scale", theirs.HalfNormal(1.0))
    length = numpyro.sample("length", theirs.LogNormal(-0.7, 0.5))
    noise = numpyro.sample("noise", theirs.HalfNormal(1.0))
    raw = numpyro.sample("raw", theirs.Normal(0.0, 1.0).expand([len(POINTS)]).to_event(1))
    factor = jnp.linalg.cholesky(jnp.exp(-0.5 * APART / length**2) + NUGGET)
    weight = scale * jax.scipy.linalg.solve_triangular(factor, raw, lower=True, trans=1)
    near = jnp.exp(-0.5 * ((data["x"][:, None] - POINTS) / length) ** 2)
    numpyro.deterministic("curve", jnp.exp(-0.5 * APART / length**2) @ weight)
    numpyro.sample("y", theirs.Normal(near @ weight, noise), obs=data["y"])


@lehr.model
def in_lehr(data: lehr.Table) -> None:
    """The curve is K(x, points) K(points, points)⁻¹ times its values at the points."""
    scale = lehr.sample("scale", dist.HalfNormal(1.0))
    length = lehr.sample("length", dist.LogNormal(-0.7, 0.5))
    noise = lehr.sample("noise", dist.HalfNormal(1.0))
    raw = lehr.sample("raw", dist.Normal(0.0, 1.0).expand([len(POINTS)]))
    covariance = np.exp(-0.5 * APART / length**2)
    weight = scale * (covariance + NUGGET).cholesky().solve_lower_transposed(raw)
    lehr.deterministic("curve", covariance @ weight)
    with lehr.rows(data) as row:
        mean = 0.0
        for k, point in enumerate(POINTS):
            mean = mean + np.exp(-0.5 * ((row["x"] - point) / length) ** 2) * weight[k]
        lehr.observe("y", dist.Normal(mean, noise), row["y"])


PORTS = [
    Port(
        "Gaussian process, inducing points",
        26,
        rows,
        in_numpyro,
        in_lehr,
        ("scale", "length", "noise", "curve"),
        acceptance=0.95,
    )
]
