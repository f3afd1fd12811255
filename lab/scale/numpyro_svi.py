"""Fit a table of table.py by NumPyro's SVI from memory: ``numpyro_svi.py FOLDER SECONDS BATCH``.

A full-rank Gaussian guide, mini-batches drawn outside the model, Adam with a rate that decays from
0.01 to 10⁻⁶ over the steps that the seconds allow, everything in `lax.scan` and 64 bits. Prints
steps, seconds and memory, and how far means and deviations are from those of the Laplace
approximation on all rows, in standard deviations. 60 seconds and 1,024 rows are usual.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pyarrow.parquet as pq
from numpyro import handlers
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoMultivariateNormal
from numpyro.optim import Adam

jax.config.update("jax_enable_x64", True)
CHUNK = 2000


def model(x: jax.Array, y: jax.Array, total: int) -> None:
    """A logistic regression, some of whose rows stand for all."""
    weight = numpyro.sample("weight", dist.Normal(0.0, 2.5).expand([x.shape[1]]).to_event(1))
    with numpyro.plate("rows", x.shape[0]), handlers.scale(scale=total / x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=x @ weight), obs=y)


def exact(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mode and deviations of all rows by Newton's method; so many rows leave no skew."""
    weight = np.zeros(x.shape[1])
    for _ in range(12):
        p = 1.0 / (1.0 + np.exp(-(x @ weight)))
        curvature = (x * (p * (1.0 - p))[:, None]).T @ x + np.eye(len(weight)) / 2.5**2
        weight += np.linalg.solve(curvature, x.T @ (y - p) - weight / 2.5**2)
    return weight, np.sqrt(np.diag(np.linalg.inv(curvature)))


def main(folder: Path, seconds: float, batch: int) -> None:
    """Train until time is up, and print a line now and then."""
    clock = time.perf_counter()
    table = pq.read_table(folder).to_pandas()
    names = [name for name in table.columns if name != "y"]
    x = np.column_stack([np.ones(len(table)), table[names].to_numpy(dtype=np.float64)])
    y = table["y"].to_numpy(dtype=np.float64)
    read = time.perf_counter() - clock
    mean, sd = exact(x, y)
    total, rows, labels = len(y), jnp.asarray(x), jnp.asarray(y)
    guide = AutoMultivariateNormal(model, init_scale=1e-3)
    clock = time.perf_counter()
    # How long a step takes decides how many there will be.
    steps = CHUNK
    rate = lambda step: 1e-2 * jnp.power(1e-4, jnp.minimum(step / steps, 1.0))
    svi = SVI(model, guide, Adam(rate), Trace_ELBO())
    state = svi.init(jax.random.key(0), rows[:batch], labels[:batch], total)

    def scanned(state, key, rows, labels):
        def step(state, key):
            chosen = jax.random.randint(key, (batch,), 0, total)
            state, loss = svi.update(state, rows[chosen], labels[chosen], total)
            return state, loss

        return jax.lax.scan(step, state, jax.random.split(key, CHUNK))

    some = jax.jit(scanned)
    some(state, jax.random.key(1), rows, labels)[1].block_until_ready()
    compiled = time.perf_counter() - clock
    clock = time.perf_counter()
    some(state, jax.random.key(1), rows, labels)[1].block_until_ready()
    steps = max(CHUNK, int(seconds / (time.perf_counter() - clock)) * CHUNK)
    print(f"read {read:.1f} s, compile {compiled:.1f} s, {steps} steps of {batch} rows", flush=True)
    # The rate is compiled in, and changes with the number of steps.
    again = jax.jit(lambda *given: scanned(*given))
    some = again.lower(state, jax.random.key(1), rows, labels).compile()
    clock = time.perf_counter()
    for done in range(0, steps, CHUNK):
        state, _ = some(state, jax.random.key(2 + done), rows, labels)
        if (done // CHUNK) % max(1, steps // CHUNK // 8) == 0 or done + CHUNK >= steps:
            found = guide.get_posterior(svi.get_params(state))
            own = np.sqrt(np.diag(np.asarray(found.covariance_matrix)))
            off, ratio = np.abs(np.asarray(found.mean) - mean) / sd, own / sd
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{done + CHUNK} steps, {time.perf_counter() - clock:.1f} s, {peak:.0f} MB: means up "
                f"to {off.max():.2f} sd off, deviations {ratio.min():.2f} to {ratio.max():.2f} times",
                flush=True,
            )


if __name__ == "__main__":
    given = sys.argv[2:]
    budget = float(given[0]) if given else 60.0
    main(Path(sys.argv[1]), budget, int(given[1]) if len(given) > 1 else 1024)
