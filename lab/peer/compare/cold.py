"""Processor seconds from a cold start to a bound within a tenth of a nat of the best.

The bound of a Gaussian is computed without sampling (`compare.gaussian`), outside of every
clock, so that the distance to the best is exact for both sides.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compare.case import Case
from compare.data import Data
from compare.gaussian import Gaussian, best
from compare.side import Side, lehr, numpyro
from compare.table import Report, short, times
from compare.timing import on_processor

CLOSE = 0.1
LOOKS = 30
FITS = 5


@dataclass(frozen=True)
class Schedule:
    """Learning rates, one for each thousand steps."""

    name: str
    rates: tuple[float, ...]

    @property
    def block(self) -> int:
        """Steps between two looks at the bound."""
        return len(self.rates) * 1000 // LOOKS

    @staticmethod
    def constant(rate: float, thousands: int) -> Schedule:
        """The same rate throughout."""
        return Schedule(f"{rate:g}", (rate,) * thousands)

    @staticmethod
    def falling(thousands: int) -> Schedule:
        """From 1e-2 to 1e-5 by equal factors."""
        rates = tuple(float(rate) for rate in np.geomspace(1e-2, 1e-5, thousands))
        return Schedule(f"1e-2 falling to 1e-5 in {1000 * thousands:,}", rates)


def schedules(quick: bool) -> list[Schedule]:
    """What NumPyro may try, shortest first; the first that comes close ends the search."""
    if quick:
        return [Schedule.falling(10), Schedule.falling(30)]
    return [
        *map(Schedule.falling, (10, 30, 100)),
        Schedule.constant(1e-3, 100),
        *map(Schedule.falling, (300, 1000)),
    ]


@dataclass(frozen=True)
class Fit:
    """One fit of lehr: after its start, and when it stopped by itself."""

    start_seconds: float
    start_bound: float
    seconds: float
    bound: float


@dataclass(frozen=True)
class Ours:
    """lehr with its defaults: medians over seeds, and the worst of their distances."""

    start_seconds: float
    start_gap: float
    seconds: float
    gap: float


@dataclass(frozen=True)
class Theirs:
    """NumPyro at one schedule: until it came close, or to the schedule's end."""

    schedule: str
    prepare_seconds: float
    seconds: float
    gap: float
    steps: int

    @property
    def reached(self) -> bool:
        """Whether it came close."""
        return self.gap <= CLOSE


def our_fit(side: Side, data: Data, base: str, goal: float) -> Ours:
    """Whole fits from several seeds."""
    fits = [_one_fit(side, data, base, seed) for seed in range(FITS)]
    return Ours(
        start_seconds=statistics.median(fit.start_seconds for fit in fits),
        start_gap=goal - fits[0].start_bound,
        seconds=statistics.median(fit.seconds for fit in fits),
        gap=goal - min(fit.bound for fit in fits),
    )


def _one_fit(side: Side, data: Data, base: str, seed: int) -> Fit:
    before = side.processor_seconds()
    answer = side.ask("fit", method=base, seed=seed)
    parts = answer["seconds"]
    # The clock of each part is a wall clock; what of it was on the processor is alike in all.
    share = (side.processor_seconds() - before) / sum(parts.values())
    return Fit(
        start_seconds=share * parts["start"],
        start_bound=Gaussian.of(answer["start"]).bound(data),
        seconds=share * (parts["start"] + parts["compile"] + parts["train"]),
        bound=Gaussian.of(answer["end"]).bound(data),
    )


def their_fit(side: Side, data: Data, base: str, goal: float, schedule: Schedule) -> Theirs:
    """Blocks of steps until the bound is close or the schedule has ended."""
    case = Case(base, base).request()
    block = schedule.block
    before = side.processor_seconds()
    side.ask("build", case=case, form="best", steps=block, rates=schedule.rates)
    prepare_seconds = side.processor_seconds() - before
    seconds: list[float] = []
    gap, least = np.inf, np.inf
    while gap > CLOSE and len(seconds) < LOOKS:
        seconds.append(on_processor(side))
        gap = goal - Gaussian.of(side.ask("gaussian")).bound(data)
        least = min(least, gap)
    return Theirs(
        schedule=schedule.name,
        prepare_seconds=prepare_seconds,
        seconds=sum(seconds),
        gap=least,
        steps=len(seconds) * block,
    )


NAMES = (
    "table",
    "N × D",
    "guide",
    "best bound",
    "lehr at its start, s (short by, nats)",
    "lehr stopped by itself, s (short by)",
    "NumPyro trained, s (short by)",
    "init and compile, s",
    "trained / lehr there",
    "all / lehr there",
    "all / lehr stopped",
)


def run(report: Report, scratch: Path, tables: list[Data], quick: bool) -> None:
    """Every table and both Gaussians, on one thread."""
    report.title(f"Cold start to within {CLOSE} nats of the best bound, one thread")
    report.header(NAMES)
    notes: list[str] = []
    for data in tables:
        path = data.write(scratch)
        for base in ("FullRank", "MeanField"):
            with lehr(1) as ours, numpyro(1) as theirs:
                for side in (ours, theirs):
                    side.take(data, path)
                notes += _row(report, (ours, theirs), data, base, quick)
    report.say()
    for note in notes:
        report.say(note)


def _row(report: Report, sides: tuple[Side, Side], data: Data, base: str, quick: bool) -> list[str]:
    goal = best(data, base).bound(data)
    own = our_fit(sides[0], data, base, goal)
    tried: list[Theirs] = []
    for schedule in schedules(quick):
        tried.append(their_fit(sides[1], data, base, goal, schedule))
        if tried[-1].reached:
            break
    first = min(tried, key=lambda one: one.gap)
    total = first.seconds + first.prepare_seconds
    stopped = own.seconds if own.gap <= CLOSE else np.nan
    there = own.start_seconds if own.start_gap <= CLOSE else stopped
    trained = f"{short(first.seconds)} ({first.gap:.2f} after {first.steps:,} steps)"
    # Where it did not come close, what it spent is less than what it needs.
    more = "" if first.reached else "> "
    ratios = (first.seconds / there, total / there, total / stopped)
    report.row(
        [
            data.name,
            f"{data.rows:,} × {data.columns}",
            Case(base, base).name,
            f"{goal:.2f}",
            f"{short(own.start_seconds)} ({own.start_gap:.3f})",
            f"{short(own.seconds)} ({own.gap:.3f})",
            trained,
            short(first.prepare_seconds),
            *(more + _ratio(one) for one in ratios),
        ]
    )
    name = f"{data.name}, {Case(base, base).name}"
    return [
        f"- {name}, rate {one.schedule}: {one.gap:.2f} nats short after {one.steps:,} steps"
        for one in tried
    ]


def _ratio(value: float) -> str:
    return times(value) if np.isfinite(value) else "–"
