"""Both sides of a port: moments of every compared number, and seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer import MCMC, NUTS

from ports.port import Columns, Port

CHAINS, WARM_UP, DRAWS = 4, 1000, 1000


@dataclass(frozen=True)
class Moments:
    """What a side found."""

    mean: dict[str, float]
    """By the name of the number, such as `weight[2]`."""
    sd: dict[str, float]
    seconds: float
    """From the model and the rows to draws, compiling and judging included."""
    note: str
    """The verdict, or what chains say of themselves."""
    is_trusted: bool


def by_lehr(port: Port, table: Columns, draws: int | None = None) -> Moments:
    """Fit by whatever method lehr chooses."""
    began = time.perf_counter()
    fit = port.ours.fit(table, seed=port.seed, draws=draws, progress=False)
    seconds = time.perf_counter() - began
    found = fit.summary(groups=True)
    kept = [name for name in found.index if str(name).split("[")[0] in port.compared]
    level = fit.verdict.level.replace("-", " ")
    return Moments(
        mean={name: float(found.loc[name, "mean"]) for name in kept},
        sd={name: float(found.loc[name, "sd"]) for name in kept},
        seconds=seconds,
        note=f"{level}, {fit.method}",
        is_trusted=fit.verdict.is_trusted,
    )


def by_numpyro(port: Port, table: Columns, blocks: int) -> Moments:
    """Run four chains; the first block of draws is timed, the others only sharpen the moments."""
    began = time.perf_counter()
    kernel = NUTS(port.theirs, target_accept_prob=port.acceptance)
    chains = MCMC(
        kernel, num_warmup=WARM_UP, num_samples=DRAWS, num_chains=CHAINS, progress_bar=False
    )
    chains.run(jax.random.PRNGKey(port.seed), table)
    seconds = time.perf_counter() - began
    draws = [_kept(chains, port)]
    divergences = _divergences(chains)
    for _ in range(1, blocks):
        chains.post_warmup_state = chains.last_state
        chains.run(chains.post_warmup_state.rng_key, table)
        draws.append(_kept(chains, port))
        divergences += _divergences(chains)
    joined = {name: np.concatenate([d[name] for d in draws], axis=1) for name in draws[0]}
    rhat = max(float(split_gelman_rubin(values)) for values in joined.values())
    size = min(float(effective_sample_size(values)) for values in joined.values())
    return Moments(
        mean={name: float(values.mean()) for name, values in joined.items()},
        sd={name: float(values.std(ddof=1)) for name, values in joined.items()},
        seconds=seconds,
        note=f"R̂ {rhat:.3f}, {size:,.0f} effective, {divergences} divergent",
        is_trusted=rhat < 1.01 and size > 400,
    )


def _divergences(chains: MCMC) -> int:
    return int(chains.get_extra_fields()["diverging"].sum())


def _kept(chains: MCMC, port: Port) -> dict[str, NDArray[Any]]:
    """Chains × draws of every compared number."""
    found: dict[str, NDArray[Any]] = {}
    draws = chains.get_samples(group_by_chain=True)
    for site in port.compared:
        values = np.asarray(draws[site])
        for place in np.ndindex(values.shape[2:]):
            index = ",".join(str(i) for i in place)
            found[f"{site}[{index}]" if index else site] = values[(..., *place)]
    return found
