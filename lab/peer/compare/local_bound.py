"""The bound against processor seconds with a chain over a latent of each row, on real tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compare.cold import Schedule
from compare.data import Data
from compare.local import BATCH, LENGTHS, robust
from compare.side import Side, lehr, numpyro
from compare.table import Report, short
from compare.timing import on_processor

TABLES = (("Pol", "pol.parquet"), ("Elevators", "elevators.parquet"))
LOOKS = 5
# Thousands of steps in which NumPyro's rate falls to 1e-5: from 1e-2 with shared quantities of the
# chain, and from 1e-3 with those of every row, which 1e-2 makes no numbers.
THOUSANDS = (10, 30)
STARTS = {True: 1e-2, False: 1e-3}
# Steps at the most of ours; none are the defaults.
CAPS = (250, 1_000, 4_000, 16_000, None)
DRAWS = 32
OUR_DRAWS = 256
MOMENTS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True)
class Look:
    """A bound, and when it was reached."""

    seconds: float
    mean: float
    error: float
    steps: int


def tables(folder: Path | None) -> list[Data]:
    """Pol and Elevators, standardised, after a column of ones; generated rows without a folder."""
    if folder is None:
        return [robust(6_000)]
    return [_standardised(name, folder / file) for name, file in TABLES]


def _standardised(name: str, path: Path) -> Data:
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    columns = table.drop_columns(["y"]).columns
    x = np.stack([column.to_numpy().astype(float) for column in columns], axis=1)
    y = table.column("y").to_numpy().astype(float)
    deviation = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    x = np.concatenate([np.ones((x.shape[0], 1)), x], axis=1)
    return Data(name, x, (y - y.mean()) / y.std())


def falling(start: float, thousands: int) -> Schedule:
    """From a rate to 1e-5 by equal factors."""
    rates = tuple(float(rate) for rate in np.geomspace(start, 1e-5, thousands))
    return Schedule(f"{start:g} falling to 1e-5 in {1000 * thousands:,}", rates)


def our_look(side: Side, case: dict[str, Any] | None, cap: int | None) -> Look:
    """A whole fit of so many steps at the most; the time of judging it is not counted."""
    before = side.processor_seconds()
    extent = {"steps": cap, "draws": OUR_DRAWS, "seed": 0}
    answer = side.ask("fit_local", case=case, extent=extent)
    parts = answer["seconds"]
    # The clock of each part is a wall clock; what of it was on the processor is alike in all.
    share = (side.processor_seconds() - before) / sum(parts.values())
    spent = share * (parts["start"] + parts["compile"] + parts["train"])
    return Look(spent, answer["bound"]["mean"], answer["bound"]["error"], answer["steps"])


def their_looks(side: Side, length: int, shares: bool, schedule: Schedule) -> Iterator[Look]:
    """Bounds along a schedule, each with the seconds of training up to it, compiling left out."""
    steps = len(schedule.rates) * 1000 // LOOKS
    case = {"chain_steps": length, "shares": shares}
    side.ask("local", **case, batch=BATCH, steps=steps, rates=schedule.rates)
    seconds = 0.0
    for look in range(1, LOOKS + 1):
        seconds += on_processor(side)
        bound = side.ask("local_bound", **case, draws=DRAWS, seed=look)
        yield Look(seconds, bound["mean"], bound["error"], look * steps)


def best_until(looks: list[Look], moment: float) -> Look | None:
    """The highest bound that was reached by then."""
    reached = [look for look in looks if look.seconds <= moment and np.isfinite(look.mean)]
    return max(reached, key=lambda look: look.mean, default=None)


def told(look: Look | None) -> str:
    """A bound with its error and its steps."""
    return "–" if look is None else f"{look.mean:.0f} ± {look.error:.0f} ({look.steps:,})"


def run(report: Report, scratch: Path, folder: Path | None, quick: bool) -> None:
    """Every table and length."""
    report.title("A latent of each row: the bound reached by so many processor seconds, one thread")
    lengths = " or ".join(f"{1000 * one:,}" for one in thousands(quick))
    report.say(
        f"Robust regression as above on all rows, independent Gaussians for what rows share, "
        f"B = {BATCH}. NumPyro: rates from {STARTS[True]:g} (by row {STARTS[False]:g}) falling to "
        f"1e-5 in {lengths} steps, the better of these, one draw per step, seconds of training "
        f"alone; bounds from {DRAWS} draws on all rows. lehr: the defaults, stopped at several "
        "numbers of steps, start and compiling included. In brackets steps."
    )
    for data in tables(None if quick else folder):
        path = data.write(scratch)
        for length in LENGTHS[:1] if quick else LENGTHS:
            _table(report, data, path, length, quick)


def thousands(quick: bool) -> tuple[int, ...]:
    """Lengths of NumPyro's schedules."""
    return THOUSANDS[:1] if quick else THOUSANDS


def _table(report: Report, data: Data, path: Path, length: int, quick: bool) -> None:
    with lehr(1) as ours, numpyro(1) as theirs:
        ours.ask("robust", path=str(path), rows=data.rows, columns=data.columns)
        theirs.take(data, path)
        whole = our_look(ours, None, None)
        names = ["lehr, newton", "NumPyro, shared", "NumPyro, by row"]
        case = {"chain_steps": length, "batch": BATCH, "base": "newton"}
        found = [[our_look(ours, case, cap) for cap in (CAPS[:3] if quick else CAPS)]]
        for shares in (True, False):
            schedules = [falling(STARTS[shares], one) for one in thousands(quick)]
            looks = [look for one in schedules for look in their_looks(theirs, length, shares, one)]
            found.append(looks)
    report.say()
    report.say(
        f"{data.name}, {data.rows:,} × {data.columns}, K = {length}. Rows integrated: "
        f"{told(whole)} after {short(whole.seconds)} s."
    )
    report.say()
    report.header(["seconds", *names])
    for moment in MOMENTS:
        report.row([f"{moment:g}", *(told(best_until(looks, moment)) for looks in found)])
    report.row(["each when", *(_last(looks) for looks in found)])


def _last(looks: list[Look]) -> str:
    """The highest bound of all, and when it was reached."""
    look = best_until(looks, np.inf)
    return told(look) if look is None else f"{told(look)} at {short(look.seconds)} s"
