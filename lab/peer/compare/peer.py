"""NumPyro's side: answers one line of JSON with another, as lehr's program does.

The loop over steps is one `lax.scan` in 64 bits, compiled ahead of time; nothing is
dispatched from Python within a block. Two forms of the model are told apart:

- ``documented``: the mini-batch comes from a plate with ``subsample_size`` within the model;
- ``best``: row numbers are drawn for the whole block at once, with replacement, and handed in.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import numpyro  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
from jax import Array, lax, random  # noqa: E402
from numpyro import handlers  # noqa: E402
from numpyro.infer import SVI, Trace_ELBO  # noqa: E402
from numpyro.infer import autoguide as guides  # noqa: E402
from numpyro.optim import Adam  # noqa: E402

from compare import nuts, semi  # noqa: E402
from compare.data import read  # noqa: E402

ETA_MAX = 0.25  # lehr's
RATE = 1e-3
BOUND_LANES = 16

Request = dict[str, Any]


def weights(columns: int) -> Array:
    """The prior, which the model and its surrogate share."""
    return numpyro.sample("w", dist.Normal(0.0, 1.0).expand([columns]).to_event(1))


def observe(x: Array, y: Array, w: Array) -> None:
    """The likelihood of these rows."""
    numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)


def documented(x: Array, y: Array, batch: int) -> None:
    """Rows drawn by a plate within the model."""
    w = weights(x.shape[1])
    with numpyro.plate("rows", x.shape[0], subsample_size=batch) as chosen:
        observe(x[chosen], y[chosen], w)


def given(x: Array, y: Array, total: int) -> None:
    """Rows drawn by somebody else, who says of how many they are."""
    w = weights(x.shape[1])
    with numpyro.plate("rows", x.shape[0]), handlers.scale(scale=total / x.shape[0]):
        observe(x, y, w)


def surrogate(x: Array, y: Array, total: int) -> Callable[[], None]:
    """The model on a few rows with learned weights."""
    count = x.shape[0]

    def model() -> None:
        w = weights(x.shape[1])
        start = jnp.full(count, total / count)
        omega = numpyro.param("omega", start, constraint=dist.constraints.positive)
        with numpyro.plate("rows", count), handlers.scale(scale=omega):
            observe(x, y, w)

    return model


def guide_of(case: Request, model: Callable[..., None], x: Array, y: Array) -> Any:
    """The counterpart of a case."""
    base = {"MeanField": "diagonal", "FullRank": "cholesky"}[case["base"]]
    match case["method"]:
        case "MeanField":
            return guides.AutoNormal(model)
        case "FullRank":
            return guides.AutoMultivariateNormal(model)
        case "Iaf":
            return guides.AutoIAFNormal(model, num_flows=2, hidden_dims=[64, 64])
        case "Bnaf":
            return guides.AutoBNAFNormal(model, num_flows=1, hidden_factors=[8, 8])
        case "Dais":
            return guides.AutoDAIS(model, K=case["chain_steps"], base_dist=base, eta_max=ETA_MAX)
        case "SlDais":
            rows = np.array(case["surrogate"])
            return guides.AutoSurrogateLikelihoodDAIS(
                model,
                surrogate(x[rows], y[rows], x.shape[0]),
                K=case["chain_steps"],
                base_dist=base,
                eta_max=ETA_MAX,
            )
    raise ValueError(f"no method {case['method']}")


@dataclass
class Session:
    """What is kept between questions."""

    x: Array = field(default_factory=lambda: jnp.zeros((0, 0)))
    y: Array = field(default_factory=lambda: jnp.zeros(0))
    svi: Any = None
    state: Any = None
    block: Any = None
    weigh: Any = None
    key: Array = field(default_factory=lambda: random.PRNGKey(0))

    def data(self, path: str, rows: int, columns: int) -> Request:
        """Takes a table."""
        x, y = read(Path(path), rows, columns)
        self.x, self.y = jnp.asarray(x), jnp.asarray(y)
        return {}

    def build(
        self, case: Request, form: str, steps: int, rates: list[float] | None = None
    ) -> Request:
        """Compiles a block of training steps."""
        total, batch = self.x.shape[0], case["batch"]
        if case["method"] == "Dais":
            form, batch = "whole", total
        model = documented if form == "documented" else given
        rows = {"documented": (self.x, self.y, batch), "whole": (self.x, self.y, total)}
        arguments = rows.get(form, (self.x[:batch], self.y[:batch], total))
        schedule = jnp.asarray(rates) if rates else None
        clock = time.perf_counter()
        guide = guide_of(case, model, self.x, self.y)
        elbo = Trace_ELBO(num_particles=case["lanes"])
        self.svi = SVI(model, guide, Adam(rate_of(schedule)), elbo)
        self.state = self.svi.init(random.PRNGKey(1), *arguments)
        jax.block_until_ready(self.state)
        init = time.perf_counter() - clock
        clock = time.perf_counter()
        run = block_of(self.svi, form, steps, batch)
        self.block = jax.jit(run).lower(self.state, self.key, self.x, self.y).compile()
        return {"compile_seconds": time.perf_counter() - clock, "init_seconds": init}

    def local(
        self,
        chain_steps: int,
        batch: int,
        steps: int,
        shares: bool,
        rates: list[float] | None = None,
    ) -> Request:
        """Compiles a block of training steps with a chain for each row."""
        model = semi.model_of(self.x, self.y, batch)
        guide = semi.guide_of(model, chain_steps, shares)
        schedule = jnp.asarray(rates) if rates else None
        self.svi = SVI(model[0], guide, Adam(rate_of(schedule)), Trace_ELBO())
        self.state = self.svi.init(random.PRNGKey(1))
        jax.block_until_ready(self.state)

        def run(state: Any, key: Array, x: Array, y: Array) -> Any:
            del key, x, y
            return lax.scan(lambda state, _: self.svi.update(state), state, None, length=steps)

        clock = time.perf_counter()
        self.block = jax.jit(run).lower(self.state, self.key, self.x, self.y).compile()
        return {"compile_seconds": time.perf_counter() - clock}

    def local_bound(self, chain_steps: int, shares: bool, draws: int, seed: int) -> Request:
        """The bound on all rows with what has been learned so far."""
        case = (chain_steps, shares, draws)
        if self.weigh is None or self.weigh[0] != case:
            self.weigh = case, semi.weigher(self.x, self.y, chain_steps, shares)
        keys = random.split(random.PRNGKey(seed), draws)
        values = self.svi.get_params(self.state)
        log_weights = np.asarray(self.weigh[1](values, keys))
        error = log_weights.std(ddof=1) / np.sqrt(log_weights.size)
        return {"mean": float(log_weights.mean()), "error": float(error)}

    def steps(self) -> Request:
        """Runs a block."""
        self.key, key = random.split(self.key)
        jax.block_until_ready((self.state, key))
        clock = time.perf_counter()
        self.state, losses = self.block(self.state, key, self.x, self.y)
        jax.block_until_ready((self.state, losses))
        return {"seconds": time.perf_counter() - clock, "loss": float(losses.mean())}

    def gaussian(self) -> Request:
        """The Gaussian that has been learned so far."""
        values = self.svi.get_params(self.state)
        if "auto_scale_tril" in values:
            mean, factor = values["auto_loc"], values["auto_scale_tril"]
        else:
            mean, factor = values["w_auto_loc"], jnp.diag(values["w_auto_scale"])
        return {"mean": mean.tolist(), "factor": factor.ravel().tolist()}

    def bound(self, case: Request, at: Request, draws: int, seed: int) -> Request:
        """The bound on all rows at given quantities, from the loss itself."""
        total = self.x.shape[0]
        guide = guide_of(case, given, self.x, self.y)
        arguments = (self.x, self.y, total)
        svi = SVI(given, guide, Adam(RATE), Trace_ELBO())
        svi.init(random.PRNGKey(1), *arguments)
        values = peer_values(case, at)

        @jax.jit
        def weigh(keys: Array, x: Array, y: Array) -> Array:
            one = lambda key: -Trace_ELBO().loss(key, values, given, guide, x, y, total)  # noqa: E731
            return lax.map(jax.vmap(one), keys)

        keys = random.split(random.PRNGKey(seed), draws).reshape(-1, BOUND_LANES, 2)
        log_weights = np.asarray(weigh(keys, self.x, self.y)).ravel()
        error = log_weights.std(ddof=1) / np.sqrt(log_weights.size)
        return {"mean": float(log_weights.mean()), "error": float(error)}

    def answer(self, request: Request) -> Request:
        """Answers one question."""
        ask = request.pop("ask")
        match ask:
            case "data":
                return self.data(**request)
            case "build":
                return self.build(**request)
            case "local":
                return self.local(**request)
            case "local_bound":
                return self.local_bound(**request)
            case "block":
                return self.steps()
            case "gaussian":
                return self.gaussian()
            case "bound":
                return self.bound(**request)
            case "nuts":
                return nuts.run(self.x, self.y, **request)
        raise ValueError(f"no question {ask}")


def rate_of(schedule: Array | None) -> Any:
    """A constant rate, or the given one of each thousand steps."""
    if schedule is None:
        return RATE
    last = schedule.shape[0] - 1
    return lambda step: schedule[jnp.minimum(step // 1000, last)]


def block_of(svi: SVI, form: str, steps: int, batch: int) -> Callable[..., Any]:
    """So many updates as one scan."""

    def chosen(key: Array, total: int) -> Array | None:
        if form != "best":
            return None
        return random.randint(key, (steps, batch), 0, total)

    def run(state: Any, key: Array, x: Array, y: Array) -> Any:
        total = x.shape[0]

        def step(state: Any, rows: Array | None) -> Any:
            match form:
                case "documented":
                    return svi.update(state, x, y, batch)
                case "whole":
                    return svi.update(state, x, y, total)
            return svi.update(state, x[rows], y[rows], total)

        return lax.scan(step, state, chosen(key, total), length=steps)

    return run


def peer_values(case: Request, at: Request) -> dict[str, Array]:
    """Quantities by the names that NumPyro gives them; the mass stays one."""
    mean = jnp.asarray(at["mean"])
    size = mean.shape[0]
    factor = jnp.asarray(at["factor"]).reshape(size, size)
    diagonal = jnp.diagonal(factor)
    if case["method"] == "MeanField":
        return {"w_auto_loc": mean, "w_auto_scale": diagonal}
    if case["method"] == "FullRank":
        return {"auto_loc": mean, "auto_scale_tril": factor}
    tril = "auto_scale_tril" if case["method"] == "SlDais" else "auto_z_0_scale_tril"
    base = {"auto_z_0_scale": diagonal} if case["base"] == "MeanField" else {tril: factor}
    values = {
        "auto_z_0_loc": mean,
        "auto_eta0": jnp.asarray(at["step_size"]),
        "auto_eta_coeff": jnp.asarray(at["step_growth"]),
        "auto_gamma": jnp.asarray(at["refreshment"]),
        "auto_beta_increments": jnp.asarray(at["increments"]),
        "auto_mass_matrix": jnp.ones(size),
        **base,
    }
    if case["method"] == "SlDais":
        values["omega"] = jnp.asarray(at["weights"])
    return values


def main() -> None:
    """Answers until the questions end."""
    session = Session()
    for line in sys.stdin:
        print(json.dumps(session.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
