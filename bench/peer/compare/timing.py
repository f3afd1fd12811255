"""Time per step, block by block in turns, with compile time and memory."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from compare.case import Case, every_case
from compare.data import Data, generated
from compare.side import Side, lehr, numpyro
from compare.table import Report, short, times

COLUMNS = (18, 28, 54)
LANES = (1, 16)
ROUNDS = 15


@dataclass(frozen=True)
class Measured:
    """One side of one case."""

    milliseconds: float
    least: float
    compile_seconds: float
    megabytes: float


def block_steps(case: Case, form: str) -> int:
    """Steps of a block, for blocks of some tens of milliseconds."""
    if case.reads_all_rows:
        return max(1, 8 // (case.lanes * case.chain_steps))
    if form == "documented":
        return max(10, 100 // case.lanes)
    return max(20, 400 // case.lanes)


def in_turns(
    case: Case, form: str, sides: tuple[Side, Side], rounds: int
) -> tuple[Measured, Measured]:
    """NumPyro and lehr in turns: whatever else the machine does hits both alike."""
    theirs, ours = sides
    steps = block_steps(case, form)
    built = theirs.ask("build", case=case.request(), form=form, steps=steps)
    compiled = [ours.ask("build", case=case.request())["compile_seconds"]]
    seconds: tuple[list[float], list[float]] = ([], [])
    for k in range(rounds + 1):
        their_block = theirs.ask("block")
        our_block = ours.ask("block", steps=steps)
        compiled.append(our_block["compile_seconds"])
        if k > 0:  # the first is warming up
            seconds[0].append(their_block["seconds"])
            seconds[1].append(our_block["seconds"])
    compile_seconds = (built["compile_seconds"], statistics.median(compiled))
    peaks = (theirs.peak_megabytes(), ours.peak_megabytes())
    their_result, our_result = (
        Measured(1e3 * statistics.median(s) / steps, 1e3 * min(s) / steps, c, m)
        for s, c, m in zip(seconds, compile_seconds, peaks, strict=True)
    )
    return their_result, our_result


def run(report: Report, scratch: Path, quick: bool) -> None:
    """All cases, first on one thread, then on two."""
    columns = (28,) if quick else COLUMNS
    ours_alone: dict[tuple[int, Case], float] = {}
    for threads in (1,) if quick else (1, 2):
        for size in columns:
            data = generated(size)
            path = data.write(scratch)
            _table(report, (data, path), threads, quick, ours_alone)


NAMES = (
    "method",
    "NumPyro documented, ms",
    "NumPyro best, ms",
    "lehr, ms",
    "documented / lehr",
    "best / lehr",
    "compile, s: NumPyro, lehr",
    "ratio",
    "peak MB: NumPyro, lehr",
)


def _table(
    report: Report,
    table: tuple[Data, Path],
    threads: int,
    quick: bool,
    ours_alone: dict[tuple[int, Case], float],
) -> None:
    size = table[0].columns
    for lanes in LANES:
        chosen = _chosen(table[0].rows, lanes, threads, quick)
        if not chosen:
            continue
        words = (
            f"D = {size}, {lanes} lane{'s' * (lanes > 1)}, {threads} thread{'s' * (threads > 1)}"
        )
        report.title(words)
        report.header([*NAMES, "second core, lehr"] if threads > 1 else NAMES)
        for case in chosen:
            cells, ours = _case(case, table, threads, 5 if quick else ROUNDS)
            if threads == 1:
                ours_alone[size, case] = ours
            else:
                cells.append(times(ours_alone.get((size, case), float("nan")) / ours))
            report.row(cells)


def _chosen(rows: int, lanes: int, threads: int, quick: bool) -> list[Case]:
    """A second thread can help where there is enough to share: all rows, or many lanes."""
    chosen = every_case(rows, lanes)
    if threads > 1 and lanes == 1:
        chosen = [case for case in chosen if case.reads_all_rows]
    if quick:
        chosen = [case for case in chosen if case.chain_steps in (0, 4)]
        chosen = [case for case in chosen if lanes == 1 or case.method == "SlDais"]
    return chosen


def _case(
    case: Case, table: tuple[Data, Path], threads: int, rounds: int
) -> tuple[list[str], float]:
    """One row of the table, from processes of its own so that memory is the case's own."""
    with numpyro(threads) as theirs, lehr(threads) as ours:
        sides = (theirs, ours)
        for side in sides:
            side.take(*table)
        best, own = in_turns(case, "best", sides, rounds)
        documented, ratio = float("nan"), float("nan")
        if not case.reads_all_rows:
            plain, beside = in_turns(case, "documented", sides, max(3, rounds // 3))
            documented, ratio = plain.milliseconds, plain.milliseconds / beside.milliseconds
    cells = [
        case.name,
        short(documented),
        short(best.milliseconds),
        short(own.milliseconds),
        times(ratio),
        times(best.milliseconds / own.milliseconds),
        f"{short(best.compile_seconds)}, {short(own.compile_seconds)}",
        times(best.compile_seconds / own.compile_seconds),
        f"{best.megabytes:.0f}, {own.megabytes:.0f}",
    ]
    return cells, own.milliseconds
