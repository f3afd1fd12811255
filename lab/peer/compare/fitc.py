"""NumPyro's side of the Gaussian processes: FITC by hand, one line of JSON in, one line out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import numpyro  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
from jax import Array, lax, random  # noqa: E402
from jax.scipy.linalg import solve_triangular  # noqa: E402
from jax.scipy.special import gammaln, logsumexp  # noqa: E402
from numpyro import handlers  # noqa: E402
from numpyro.infer import SVI, Trace_ELBO  # noqa: E402
from numpyro.infer.autoguide import AutoMultivariateNormal  # noqa: E402
from numpyro.optim import Adam  # noqa: E402

from compare.data import read  # noqa: E402

JITTER = 1e-6
DRAWS = 200
BLOCK = 100
POSITIVE = dist.constraints.positive

Request = dict[str, Any]


def kernel(x: Array, z: Array, scale: Array, lengths: Array) -> Array:
    """The RBF covariance of each row of one with each row of the other."""
    x, z = x / lengths, z / lengths
    apart = (x**2).sum(1)[:, None] + (z**2).sum(1) - 2 * x @ z.T
    return scale**2 * jnp.exp(-0.5 * jnp.maximum(apart, 0.0))


def marginal(x: Array, e: Array, theta: dict[str, Array]) -> tuple[Array, Array]:
    """Mean and variance of the function in each row given its latents."""
    scale, z = theta["scale"], theta["points"]
    own = kernel(z, z, scale, theta["lengths"]) + JITTER * scale**2 * jnp.eye(len(z))
    across = kernel(z, x, scale, theta["lengths"])
    a = solve_triangular(jnp.linalg.cholesky(own), across, lower=True)
    return e @ a, jnp.maximum(scale**2 - (a**2).sum(0), 1e-12 * scale**2)


def student(y: Array, mean: Array, variance: Array, df: Array, sigma: Array) -> Array:
    """The log density of a t around a function known up to noise, by its mixing variable."""
    stretch = lax.stop_gradient(jnp.minimum(1.0, 2.0 / jnp.sqrt(df)))
    w = stretch * (-16.0 + 0.625 * jnp.arange(33))
    half = 0.5 * df
    mixing = half * jnp.log(half) - gammaln(half) + half * (w - jnp.exp(w))
    spread = variance[:, None] + sigma**2 * jnp.exp(-w)
    normal = dist.Normal(mean[:, None], jnp.sqrt(spread)).log_prob(y[:, None])
    return logsumexp(normal + mixing + jnp.log(0.625 * stretch), axis=1)


def log_density(y: Array, mean: Array, variance: Array, theta: dict[str, Array]) -> Array:
    """Of each row."""
    if "excess" in theta:
        return student(y, mean, variance, 2.0 + theta["excess"], theta["sigma"])
    return dist.Normal(mean, jnp.sqrt(variance + theta["sigma"] ** 2)).log_prob(y)


class Session:
    """What is kept between questions."""

    def data(self, path: str, rows: int, columns: int, test: int) -> Request:
        """Takes a table whose last rows are tests."""
        x, y = (jnp.asarray(one) for one in read(Path(path), rows, columns))
        self.x, self.y = x[: rows - test], y[: rows - test]
        self.test = (x[rows - test :], y[rows - test :])
        return {}

    def build(self, points: str, count: int, batch: int, noise: str, rates: list[float]) -> Request:
        """Compiles a block of steps of a process that starts at these points."""
        columns, total = self.x.shape[1], len(self.y)
        places = jnp.asarray(np.fromfile(points, dtype="<f8").reshape(count, columns))

        def model(x: Array, y: Array) -> None:
            theta = {
                "scale": numpyro.param("scale", 1.0, constraint=POSITIVE),
                "lengths": numpyro.param(
                    "lengths", jnp.full(columns, columns**0.5), constraint=POSITIVE
                ),
                "points": numpyro.param("points", places),
                "sigma": numpyro.param("sigma", 0.5, constraint=POSITIVE),
            }
            if noise == "student":
                theta["excess"] = numpyro.param("excess", 2.0, constraint=POSITIVE)
            e = numpyro.sample("e", dist.Normal(0.0, 1.0).expand([count]).to_event(1))
            with numpyro.plate("rows", batch), handlers.scale(scale=total / batch):
                numpyro.factor("y", log_density(y, *marginal(x, e, theta), theta))

        # The rate of each block, so that none need be compiled anew.
        table = jnp.asarray(rates)
        rate = lambda step: table[jnp.minimum(step // BLOCK, len(rates) - 1)]  # noqa: E731
        self.svi = SVI(model, AutoMultivariateNormal(model), Adam(rate), Trace_ELBO())
        self.state = self.svi.init(random.PRNGKey(1), self.x[:batch], self.y[:batch])

        def run(state: Any, key: Array, x: Array, y: Array) -> Any:
            rows = random.randint(key, (BLOCK, batch), 0, total)
            step = lambda state, rows: self.svi.update(state, x[rows], y[rows])  # noqa: E731
            return lax.scan(step, state, rows)

        self.key = random.PRNGKey(2)
        self.run = jax.jit(run).lower(self.state, self.key, self.x, self.y).compile()
        return {}

    def block(self) -> Request:
        """Trains a block further."""
        self.key, key = random.split(self.key)
        self.state, losses = self.run(self.state, key, self.x, self.y)
        return {"loss": float(losses[-1])}

    def score(self) -> Request:
        """The log likelihood of a test row, over draws of the Gaussian."""
        values = self.svi.get_params(self.state)
        theta = {name: value for name, value in values.items() if not name.startswith("auto")}
        noise = random.normal(random.PRNGKey(3), (DRAWS, len(values["auto_loc"])))
        draws = values["auto_loc"] + noise @ values["auto_scale_tril"].T
        x, y = self.test

        @jax.jit
        def scored(x: Array, y: Array) -> Array:
            one = lambda e: log_density(y, *marginal(x, e, theta), theta)  # noqa: E731
            return logsumexp(lax.map(one, draws), axis=0) - jnp.log(DRAWS)

        parts = [scored(x[k : k + 1024], y[k : k + 1024]) for k in range(0, len(y), 1024)]
        return {"log_likelihood": float(jnp.concatenate(parts).mean())}

    def answer(self, request: Request) -> Request:
        """Answers one question."""
        ask = request.pop("ask")
        answers = {
            "data": self.data,
            "build": self.build,
            "block": self.block,
            "score": self.score,
        }
        return answers[ask](**request)


def main() -> None:
    """Answers until the questions end."""
    session = Session()
    for line in sys.stdin:
        print(json.dumps(session.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
