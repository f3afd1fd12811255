"""Gaussian processes by inducing points by GPyTorch, NumPyro and lehr: steps and test scores."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from compare.data import Data
from compare.side import Side
from compare.side import lehr as lehr_side
from compare.table import Report, short, times

POINTS = 128
BATCH = 256
ROUNDS = 7
STEPS = 100
CLOSE = 0.01
OUR_LIMIT = 3000  # steps that a fit takes, and twice as many for the others
LIMIT = 6000
RATES = ((0.6, 1e-2), (0.87, 1e-3), (1.0, 1e-4))  # lehr's own, by share of all steps


@dataclass(frozen=True)
class Problem:
    """A table with a part to test, and the noise that suits it."""

    data: Data
    test: int
    noise: str


@dataclass(frozen=True)
class Peer:
    """A way to fit, and how its process begins and is asked."""

    name: str
    start: Callable[[], Side]
    build: dict[str, Any]


def torch_side() -> Side:
    """GPyTorch on one thread."""
    environment = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return Side([sys.executable, "-m", "compare.svgp", "1"], 1, environment)


def jax_side() -> Side:
    """NumPyro on one thread."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    environment = {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}
    return Side([sys.executable, "-m", "compare.fitc"], 1, environment)


PEERS = (
    Peer("GPyTorch, Adam", torch_side, {"way": "adam"}),
    Peer("GPyTorch, natural gradients", torch_side, {"way": "natural"}),
    Peer("NumPyro, FITC by hand", jax_side, {}),
)
OURS = "lehr, natural gradients"


def standardised(x: NDArray[np.float64], train: int) -> NDArray[np.float64]:
    """By the rows that train."""
    return (x - x[:train].mean(0)) / x[:train].std(0)


def problems(folder: Path | None, quick: bool) -> list[Problem]:
    """Precipitation and protein where they are at hand, else a surface."""
    random = np.random.default_rng(0)
    found = []
    for name, file, test, noise in (
        ("precipitation", "precip2010.parquet", 2127, "student"),
        ("protein", "protein.parquet", 5730, "normal"),
    ):
        if folder is None or not (folder / file).exists():
            continue
        table = pd.read_parquet(folder / file).to_numpy(float)
        table = standardised(random.permutation(table), len(table) - test)
        found.append(Problem(Data(name, table[:, :-1], table[:, -1]), test, noise))
    if not found:
        x = random.uniform(-3, 3, (6000, 2))
        y = np.sin(1.7 * x[:, 0]) * np.cos(x[:, 1]) + 0.3 * random.standard_t(4, 6000)
        table = standardised(np.column_stack([x, y]), 5000)
        found.append(Problem(Data("generated", table[:, :2], table[:, 2]), 1000, "student"))
    return found[:1] if quick else found


def centres(problem: Problem, folder: Path) -> Path:
    """Points to start from: some rounds of k-means from random rows."""
    random = np.random.default_rng(1)
    x = problem.data.x[: problem.data.rows - problem.test][:20_000]
    points = x[random.choice(len(x), POINTS, replace=False)].copy()
    for _ in range(20):
        apart = (x**2).sum(1)[:, None] - 2 * x @ points.T + (points**2).sum(1)
        nearest = apart.argmin(1)
        for k in range(POINTS):
            own = x[nearest == k]
            if len(own):
                points[k] = own.mean(0)
    path = folder / f"{problem.data.name}-points.bin"
    path.write_bytes(np.ascontiguousarray(points, dtype="<f8").tobytes())
    return path


def ready(side: Side, peer: Peer | None, problem: Problem, files: tuple[Path, Path]) -> None:
    """Hands over the table and builds a step."""
    data = problem.data
    table = {"path": str(files[0]), "rows": data.rows, "columns": data.columns}
    table["test"] = problem.test
    process = {"points": str(files[1]), "count": POINTS, "batch": BATCH, "noise": problem.noise}
    if peer is None:
        side.ask("process", case={**table, **process})
        return
    side.ask("data", **table)
    shares = [step / LIMIT for step in range(0, LIMIT, STEPS)]
    rates = [next(rate for end, rate in RATES if share < end) for share in shares]
    side.ask("build", **process, rates=rates, **peer.build)


def block(side: Side, peer: Peer | None) -> float:
    """Processor seconds of a block."""
    before = side.processor_seconds()
    if peer is None:
        side.ask("process_block", steps=STEPS)
    else:
        side.ask("block")
    return side.processor_seconds() - before


def course(
    side: Side, peer: Peer | None, problem: Problem, files: tuple[Path, Path]
) -> list[tuple[float, float]]:
    """Processor seconds so far and the score, after each few blocks; scoring is not timed."""
    ready(side, peer, problem, files)
    spent, found = 0.0, []
    for _ in range(0, LIMIT if peer else OUR_LIMIT, STEPS):
        spent += block(side, peer)
        ask = "score" if peer else "process_score"
        found.append((spent, side.ask(ask)["log_likelihood"]))
    return found


def per_step(report: Report, problem: Problem, files: tuple[Path, Path]) -> None:
    """Each peer in turns with lehr."""
    for peer in PEERS:
        with peer.start() as theirs, lehr_side(1) as ours:
            ready(theirs, peer, problem, files)
            ready(ours, None, problem, files)
            pairs = [(block(theirs, peer), block(ours, None)) for _ in range(ROUNDS + 1)][1:]
            megabytes = [side.peak_megabytes() for side in (theirs, ours)]
        seconds = [[pair[side] for pair in pairs] for side in (0, 1)]
        medians = [1e3 * statistics.median(one) / STEPS for one in seconds]
        fastest = min(seconds[0]) / min(seconds[1])
        ratio = f"{times(medians[0] / medians[1])} ({times(fastest)})"
        memory = [f"{one:.0f}" for one in megabytes]
        report.row([problem.data.name, peer.name, *map(short, medians), ratio, *memory])


def to_score(report: Report, problem: Problem, files: tuple[Path, Path]) -> None:
    """How long each takes to come close to the best score of all."""
    courses = {}
    for peer in (None, *PEERS):
        with peer.start() if peer else lehr_side(1) as side:
            courses[peer.name if peer else OURS] = course(side, peer, problem, files)
    best = max(score for own in courses.values() for _, score in own)
    for name, own in courses.items():
        highest = max(score for _, score in own)
        close = [spent for spent, score in own if score > best - CLOSE]
        near = [spent for spent, score in own if score > highest - CLOSE]
        report.row(
            [
                problem.data.name,
                name,
                f"{highest:.4f}",
                f"{close[0]:.1f}" if close else "never",
                f"{near[0]:.1f}",
                f"{own[-1][0]:.1f}",
            ]
        )


def run(report: Report, scratch: Path, folder: Path | None, quick: bool) -> None:
    """Both tables."""
    report.title("Gaussian processes by inducing points: one thread, 64 bits")
    report.say(
        f"M = {POINTS}, B = {BATCH}, RBF kernel with a lengthscale for each column, the same "
        "points to start from, all of it learned. GPyTorch: the bound of Hensman et al.; NumPyro "
        "and lehr: FITC. Medians of blocks in turns, the ratio of the fastest in brackets."
    )
    chosen = [
        (one, (one.data.write(scratch), centres(one, scratch))) for one in problems(folder, quick)
    ]
    report.say()
    report.header(["table", "peer", "ms/step", "lehr, ms/step", "ratio", "MB", "lehr, MB"])
    for problem, files in chosen:
        per_step(report, problem, files)
    report.say()
    report.say(
        f"Processor seconds until the mean log likelihood of a test row is within {CLOSE} of the "
        f"best that any of them reached, and of its own best, in {LIMIT:,} steps (lehr: the "
        f"{OUR_LIMIT:,} of a fit) at rates of 10⁻², 10⁻³ and 10⁻⁴; scoring and compiling are "
        "not counted."
    )
    report.say()
    head = ["table", "fit", "best score", "s to the best of all", "s to its own best", "s in all"]
    report.header(head)
    for problem, files in chosen:
        to_score(report, problem, files)
