"""NumPyro's No-U-Turn sampler on the posteriors of the comparison of chains."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import Array, lax, random
from numpyro.infer import NUTS

WARM_UP, BLOCK, MOST = 300, 50, 80
SITES = {
    "logistic": ("w",),
    "hierarchy": ("mean", "spread", "noise", "effect"),
    "funnel": ("v", "x"),
}


def logistic(x: Array, y: Array) -> Callable[[], None]:
    """Logistic regression with N(0, 1) weights."""

    def model() -> None:
        w = numpyro.sample("w", dist.Normal(0.0, 1.0).expand([x.shape[1]]).to_event(1))
        numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)

    return model


def hierarchy(y: Array, groups: int) -> Callable[[], None]:
    """Effects of groups around a mean, centred as lehr's."""
    group = jnp.arange(y.shape[0]) % groups

    def model() -> None:
        mean = numpyro.sample("mean", dist.Normal(0.0, 1.0))
        spread = numpyro.sample("spread", dist.HalfNormal(1.0))
        noise = numpyro.sample("noise", dist.HalfNormal(1.0))
        effect = numpyro.sample("effect", dist.Normal(mean, spread).expand([groups]).to_event(1))
        numpyro.sample("y", dist.Normal(effect[group], noise), obs=y)

    return model


def funnel(size: int) -> Callable[[], None]:
    """Neal's funnel."""

    def model() -> None:
        v = numpyro.sample("v", dist.Normal(0.0, 3.0))
        numpyro.sample("x", dist.Normal(0.0, jnp.exp(0.5 * v)).expand([size]).to_event(1))

    return model


def run(x: Array, y: Array, problem: dict[str, Any], limit: float, path: str) -> dict[str, Any]:
    """One chain: 300 draws of warm-up, then blocks until so much processor time is spent.

    A block is one `lax.scan`, compiled ahead of time; compiling is not counted. The unconstrained draws
    are written to a file, so that one estimator judges both sides.
    """
    model = {
        "logistic": lambda: logistic(x, y),
        "hierarchy": lambda: hierarchy(
            jnp.asarray(np.fromfile(problem.get("path", ""), dtype="<f8")), problem["groups"]
        ),
        "funnel": lambda: funnel(problem["size"]),
    }[problem["name"]]()
    kernel = NUTS(model, dense_mass=problem["name"] == "logistic")
    state = kernel.init(random.PRNGKey(1), WARM_UP, None, (), {})

    def step(state: Any, _: None) -> Any:
        state = kernel.sample(state, (), {})
        return state, (state.z, state.num_steps)

    block = jax.jit(lambda state: lax.scan(step, state, None, length=BLOCK)).lower(state).compile()
    spent = time.process_time()
    for _ in range(WARM_UP // BLOCK):
        state, _ = block(state)
    jax.block_until_ready(state.z)
    warm, spent = time.process_time() - spent, time.process_time()
    kept, gradients = [], 0
    while not kept or (time.process_time() - spent < limit and len(kept) < MOST):
        state, (z, steps) = block(state)
        kept.append(jax.device_get(z))
        gradients += int(steps.sum())
    seconds = time.process_time() - spent
    sites = SITES[problem["name"]]
    draws = {site: np.concatenate([z[site] for z in kept]) for site in sites}
    seen = jax.vmap(kernel.postprocess_fn((), {}))(draws)
    own, shown = (
        np.concatenate([np.reshape(of[site], (BLOCK * len(kept), -1)) for site in sites], axis=1)
        for of in (draws, seen)
    )
    Path(path).write_bytes(np.ascontiguousarray(own, dtype="<f8").tobytes())
    return {
        "warm_up_seconds": warm,
        "seconds": seconds,
        "draws": own.shape[0],
        "size": own.shape[1],
        "gradients": gradients,
        "mean": shown.mean(axis=0).tolist(),
        "sd": shown.std(axis=0, ddof=1).tolist(),
    }
