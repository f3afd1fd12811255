"""Do both sides maximise the same number? Bounds at the same quantities."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from compare.case import Case, every_case
from compare.data import Data, generated
from compare.gaussian import Gaussian, best
from compare.side import Side, lehr, numpyro
from compare.table import Report

ROWS = 5_000
COLUMNS = 18
LIMIT = 4.0


def cases(quick: bool) -> list[Case]:
    """Each kind of method whose quantities can be given, chains from both bases: the networks of
    flows begin at random numbers of each side's own."""
    chosen = [case for case in every_case(ROWS, lanes=1) if case.method not in ("Iaf", "Bnaf")]
    dais = [case for case in chosen if case.method == "Dais"]
    chosen += [replace(case, base="FullRank") for case in dais]
    return [case for case in chosen if case.chain_steps in (0, 4)] if quick else chosen


def quantities(case: Case, around: Gaussian) -> dict[str, Any]:
    """Numbers unlike any start: a wrong sign, power or order would show."""
    random = np.random.default_rng(case.chain_steps)
    steps = case.chain_steps
    share = ROWS / max(len(case.surrogate), 1)
    return {
        "mean": (around.mean + 0.01 * random.standard_normal(around.mean.size)).tolist(),
        "factor": (1.3 * around.factor).ravel().tolist(),
        "step_size": 0.011,
        "step_growth": 0.006,
        "increments": np.exp(0.5 * random.standard_normal(steps)).tolist(),
        "refreshment": 0.8,
        "weights": (share * np.exp(0.3 * random.standard_normal(len(case.surrogate)))).tolist(),
    }


def run(report: Report, scratch: Path, quick: bool) -> None:
    """The table of bounds; ends the program where two disagree."""
    data = generated(COLUMNS, ROWS)
    path = data.write(scratch)
    draws = 1024 if quick else 8192
    report.title(f"The same bound? N = {ROWS}, D = {COLUMNS}, {draws} draws each, mass one")
    report.header(["method", "base", "NumPyro", "lehr", "difference in standard errors"])
    around = {base: best(data, base) for base in ("MeanField", "FullRank")}
    worst = 0.0
    with lehr(1) as ours, numpyro(1) as theirs:
        for side in (ours, theirs):
            side.take(data, path)
        for case in cases(quick):
            at = quantities(case, around[case.base])
            worst = max(worst, _compare(report, (ours, theirs), case, at, draws))
    _exact(report, data, around)
    if worst > LIMIT:
        raise SystemExit(f"the bounds differ by {worst:.1f} standard errors")


def _compare(
    report: Report, sides: tuple[Side, Side], case: Case, at: dict[str, Any], draws: int
) -> float:
    details = {"case": case.request(), "at": at, "draws": draws, "seed": 3}
    a, b = (side.ask("bound", **details) for side in sides)
    z = (a["mean"] - b["mean"]) / float(np.hypot(a["error"], b["error"]))
    cells = [f"{one['mean']:.3f} ± {one['error']:.3f}" for one in (b, a)]
    report.row([case.name, case.base, *cells, f"{z:+.1f}"])
    return abs(z)


def _exact(report: Report, data: Data, around: dict[str, Gaussian]) -> None:
    """The quadrature that later judges cold starts, beside what the sides sample."""
    for base in ("MeanField", "FullRank"):
        at = quantities(Case(base, base), around[base])
        value = Gaussian.of(at).bound(data)
        report.say()
        report.say(f"By quadrature, {base}: {value:.3f}")
