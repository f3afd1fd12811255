"""Effective draws per second of Markov chains: NumPyro, lehr and Stan on the same posteriors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compare import stan
from compare.data import Data
from compare.side import Side, lehr, numpyro
from compare.table import Report, short, times

LIMIT = 60.0
GROUPS, ROWS_OF_A_GROUP = 50, 20
FUNNEL = 9


@dataclass(frozen=True)
class Problem:
    """A posterior, as both sides know it."""

    name: str
    about: dict[str, Any]
    methods: tuple[str, ...]
    data: Data | None = None


def problems(tables: list[Data], scratch: Path) -> Iterator[Problem]:
    """A hierarchy, a funnel and the real tables."""
    random = np.random.default_rng(1)
    effects = 0.3 + 0.5 * random.standard_normal(GROUPS)
    y = np.tile(effects, ROWS_OF_A_GROUP) + random.standard_normal(GROUPS * ROWS_OF_A_GROUP)
    path = scratch / "hierarchy.bin"
    path.write_bytes(y.astype("<f8").tobytes())
    about = {"name": "hierarchy", "path": str(path), "groups": GROUPS}
    yield Problem(f"hierarchy of {GROUPS} groups", about, ("nuts",))
    yield Problem(f"funnel of {FUNNEL + 1}", {"name": "funnel", "size": FUNNEL}, ("nuts",))
    for data in tables:
        methods = ("surrogate-hmc", "hmc")
        yield Problem(data.name, {"name": "logistic"}, methods, data)


NAMES = (
    "posterior",
    "method",
    "effective draws",
    "processor s",
    "effective draws per s",
    "÷ NumPyro, its warm-up counted",
    "÷ NumPyro, after its warm-up",
    "largest difference of a mean, sd",
    "of an sd",
    "verdict",
)


def run(report: Report, scratch: Path, tables: list[Data], limit: float) -> None:
    """All posteriors, one after another, on one thread."""
    report.title("Markov chains: effective draws per second of processor time, one thread")
    report.header(NAMES)
    has_stan = stan.is_there()
    for problem in problems(tables, scratch):
        with numpyro(1) as theirs, lehr(1) as ours:
            path = None
            if problem.data is not None:
                path = problem.data.write(scratch)
                for side in (theirs, ours):
                    side.take(problem.data, path)
            else:
                about = dict(problem.about)
                ours.ask(about.pop("name"), **about)
            rates = _rows(report, problem, (theirs, ours), (scratch, limit))
            if has_stan:
                table = (problem.data, path) if problem.data and path else None
                _stan(report, stan.run(problem.about, table, scratch), ours, rates)


def _stan(report: Report, peer: dict[str, Any], ours: Side, rates: tuple[float, float]) -> None:
    worth = ours.ask("worth", path=peer["path"], chains=1, size=peer["size"])
    whole = peer["warm_up_seconds"] + peer["seconds"]
    own = worth["effective"] / whole, worth["effective"] / peer["seconds"]
    said = f"R̂ {worth['r_hat']:.3f}, {peer['gradients'] / peer['draws']:.0f} gradients per draw"
    cells = [f"{worth['effective']:.0f}", short(whole), short(own[0])]
    cells += [times(own[0] / rates[0]), times(own[1] / rates[1]), "–", "–", said]
    report.row(["", "Stan", *cells])


def _rows(
    report: Report, problem: Problem, sides: tuple[Side, Side], at: tuple[Path, float]
) -> tuple[float, float]:
    """NumPyro and lehr; NumPyro's effective draws per second, its warm-up counted and not."""
    theirs, ours = sides
    path = str(at[0] / "draws.bin")
    peer = theirs.ask("nuts", problem=problem.about, limit=at[1], path=path)
    worth = ours.ask("worth", path=path, chains=1, size=peer["size"])
    whole = peer["warm_up_seconds"] + peer["seconds"]
    rates = worth["effective"] / whole, worth["effective"] / peer["seconds"]
    said = f"R̂ {worth['r_hat']:.3f}, {peer['gradients'] / peer['draws']:.0f} gradients per draw"
    name = f"{problem.name}, N = {problem.data.rows}" if problem.data else problem.name
    cells = [f"{worth['effective']:.0f}", short(whole), short(rates[0]), "1", "1", "–", "–", said]
    report.row([name, "NumPyro NUTS", *cells])
    for method in problem.methods:
        own = ours.ask("chains", method=method, seed=1)
        rate = own["effective"] / own["processor_seconds"]
        mean, sd = np.array(own["mean"]), np.array(own["sd"])
        other, spread = np.array(peer["mean"]), np.array(peer["sd"])
        same = len(mean) == len(other)
        cells = [
            f"{own['effective']:.0f}",
            short(own["processor_seconds"]),
            short(rate),
            times(rate / rates[0]),
            times(rate / rates[1]),
            short(float(np.max(np.abs(mean - other) / spread))) if same else "–",
            f"{100 * float(np.max(np.abs(sd / spread - 1))):.0f} %" if same else "–",
            own["verdict"],
        ]
        report.row(["", f"lehr {method}", *cells])
    return rates
