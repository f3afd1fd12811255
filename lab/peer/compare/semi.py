"""NumPyro's `AutoSemiDAIS`: robust regression with a precision of each row's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import Array, lax, random
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer import autoguide as guides
from numpyro.optim import Adam

DF = 4.0
ETA_MAX = 0.25  # lehr's


def model_of(x: Array, y: Array, batch: int) -> tuple[Callable[..., Any], ...]:
    """The model, and its parts: what rows share, and what they do not."""
    rows, columns = x.shape

    def shared() -> tuple[Array, Array]:
        weight = numpyro.sample("weight", dist.Normal(0.0, 1.0).expand([columns]).to_event(1))
        scale = numpyro.sample("scale", dist.HalfNormal(1.0))
        return weight, scale

    def local(values: tuple[Array, Array]) -> None:
        weight, scale = values
        with numpyro.plate("rows", rows, subsample_size=batch) as chosen:
            precision = numpyro.sample("precision", dist.Gamma(0.5 * DF, 0.5 * DF))
            spread = scale / jnp.sqrt(precision)
            numpyro.sample("y", dist.Normal(x[chosen] @ weight, spread), obs=y[chosen])

    def whole() -> None:
        local(shared())

    return whole, local, shared


def guide_of(model: tuple[Callable[..., Any], ...], chain_steps: int, shares: bool) -> Any:
    """Independent Gaussians for what rows share, and a chain for each row of the batch."""
    whole, local, shared = model
    return guides.AutoSemiDAIS(
        whole,
        local,
        guides.AutoNormal(shared),
        K=chain_steps,
        eta_max=ETA_MAX,
        use_global_dais_params=shares,
    )


def weigher(x: Array, y: Array, chain_steps: int, shares: bool) -> Callable[..., Array]:
    """The bound on all rows at given quantities, one number for each key."""
    model = model_of(x, y, x.shape[0])
    guide = guide_of(model, chain_steps, shares)
    svi = SVI(model[0], guide, Adam(1e-3), Trace_ELBO())
    svi.init(random.PRNGKey(1))

    @jax.jit
    def weigh(values: Any, keys: Array) -> Array:
        return lax.map(lambda key: -Trace_ELBO().loss(key, values, model[0], guide), keys)

    return weigh
