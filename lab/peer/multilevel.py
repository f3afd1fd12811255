"""Two multilevel regressions by NumPyro: ``multilevel.py DIR PROBLEM METHOD [SIZE]``.

DIR holds insteval.parquet and radon_all.parquet. PROBLEM is ``insteval`` (four crossed factors,
4,144 effects, 73,421 rows) or ``radon`` (varying intercepts and slopes of 386 counties). METHOD is
``nuts``, with SIZE draws after as many of warm-up, or ``svi``: a diagonal Gaussian by SIZE steps of
Adam on all rows, whose rate decays from 0.02 to 2·10⁻⁵. Effects are standard normals times their
spread; 64 bits, everything compiled. Prints processor seconds, and the posterior of spreads and
coefficients.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.optim import Adam

jax.config.update("jax_enable_x64", True)
Model = Callable[[], None]
Draws = dict[str, np.ndarray]


def insteval(folder: Path) -> Model:
    """``y ~ service + (1 | s) + (1 | d) + (1 | dept) + (1 | dept:service)``."""
    table = pd.read_parquet(folder / "insteval.parquet")
    pair = table["dept"].astype(str) + ":" + table["service"].astype(str)
    factors = {"s": table["s"], "d": table["d"], "dept": table["dept"], "dept:service": pair}
    codes = {name: pd.factorize(values)[0] for name, values in factors.items()}
    y, service = (
        jnp.asarray(table["y"].to_numpy(float)),
        jnp.asarray(table["service"].to_numpy(float)),
    )

    def model() -> None:
        centre = numpyro.sample("Intercept", dist.Normal(3.2, 2.5)) + service * numpyro.sample(
            "service", dist.Normal(0.0, 2.5)
        )
        for name, code in codes.items():
            spread = numpyro.sample(f"sd({name})", dist.HalfNormal(1.3))
            unit = dist.Normal(0.0, 1.0).expand([code.max() + 1]).to_event(1)
            centre = centre + spread * numpyro.sample(f"unit({name})", unit)[code]
        sigma = numpyro.sample("sigma", dist.HalfNormal(1.3))
        numpyro.sample("y", dist.Normal(centre, sigma), obs=y)

    return model


def radon(folder: Path) -> Model:
    """``y ~ floor + (1 + floor | county)``."""
    table = pd.read_parquet(folder / "radon_all.parquet")
    code = pd.factorize(table["county_idx"])[0]
    y, floor = (jnp.asarray(table[name].to_numpy(float)) for name in ("y", "floor_measure"))

    def model() -> None:
        level = numpyro.sample("Intercept", dist.Normal(1.3, 2.5))
        slope = numpyro.sample("floor_measure", dist.Normal(0.0, 2.5))
        spread = numpyro.sample("sd", dist.HalfNormal(1.0).expand([2]).to_event(1))
        factor = numpyro.sample("factor", dist.LKJCholesky(2, 2.0))
        unit = numpyro.sample("unit", dist.Normal(0.0, 1.0).expand([code.max() + 1, 2]).to_event(2))
        effect = (unit @ (spread[:, None] * factor).T)[code]
        numpyro.deterministic("cor", factor[1, 0])
        sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
        centre = level + effect[:, 0] + (slope + effect[:, 1]) * floor
        numpyro.sample("y", dist.Normal(centre, sigma), obs=y)

    return model


def by_nuts(model: Model, draws: int) -> tuple[Draws, float]:
    """Return the draws of one chain, and the processor seconds that compiling took."""
    sampler = MCMC(NUTS(model), num_warmup=draws, num_samples=draws, progress_bar=False)
    clock = time.process_time()
    sampler.warmup(jax.random.key(0), collect_warmup=False)
    compiled = time.process_time() - clock
    sampler.run(jax.random.key(1), extra_fields=("num_steps", "diverging"))
    fields = sampler.get_extra_fields()
    steps, lost = fields["num_steps"].mean(), fields["diverging"].sum()
    print(f"  {steps:.0f} gradients a draw, {lost} divergences")
    found = {name: np.asarray(values) for name, values in sampler.get_samples().items()}
    small = [values[None] for values in found.values() if values.size < 20 * draws]
    print(f"  least effective draws {min(effective_sample_size(v).min() for v in small):.0f}")
    print(f"  largest R-hat of halves {max(np.nanmax(split_gelman_rubin(v)) for v in small):.3f}")
    return found, compiled


def by_svi(model: Model, steps: int) -> tuple[Draws, float]:
    """Return draws of the guide, and the processor seconds that compiling took."""
    guide = AutoNormal(model, init_scale=0.1)
    svi = SVI(model, guide, Adam(lambda step: 0.02 * jnp.power(1e-3, step / steps)), Trace_ELBO())
    state = svi.init(jax.random.key(0))
    some = jax.jit(
        lambda state: jax.lax.scan(lambda s, _: svi.update(s), state, None, length=steps)
    )
    clock = time.process_time()
    some = some.lower(state).compile()
    compiled = time.process_time() - clock
    state, losses = some(state)
    print(f"  bound {-losses[-steps // 20 :].mean():.1f}, a mean over the last twentieth")
    draws = guide.sample_posterior(jax.random.key(1), svi.get_params(state), sample_shape=(2000,))
    return {name: np.asarray(values) for name, values in draws.items()}, compiled


def main(folder: Path, problem: str, method: str, size: int) -> None:
    """Fit one problem by one method and print what it took and found."""
    model = {"insteval": insteval, "radon": radon}[problem](folder)
    clock, wall = time.process_time(), time.perf_counter()
    draws, compiled = {"nuts": by_nuts, "svi": by_svi}[method](model, size)
    spent = time.process_time() - clock
    passed = time.perf_counter() - wall
    print(f"{problem} by {method} {size}: {spent:.1f} s ({passed:.1f} s passed),", end=" ")
    print(f"{compiled:.1f} s of them before the first draw or step that counts")
    for name, values in draws.items():
        if not name.startswith(("unit", "factor")):
            print(f"  {name} {values.mean(0).round(4)} ± {values.std(0).round(4)}")


if __name__ == "__main__":
    main(
        Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    )
