"""Processor time per step, block by block in turns, with compile time and memory."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from compare.case import Case, every_case
from compare.data import Data, generated
from compare.side import Side, lehr, numpyro
from compare.table import Report, short, times

COLUMNS = (28, 18, 54)
USUAL = 28
LANES = (1, 16)
ROUNDS = 11


@dataclass(frozen=True)
class Measured:
    """One side of one case."""

    milliseconds: float
    least: float
    compile_seconds: float
    megabytes: float


def block_steps(case: Case, form: str) -> int:
    """Steps of a block, for blocks of some hundred milliseconds.

    Ours starts each block with fresh memory, the first use of which must not show.
    """
    if case.reads_all_rows:
        return max(2, 96 // (case.lanes * case.chain_steps))
    if case.method in ("Iaf", "Bnaf"):
        return max(20, 400 // case.lanes)
    if form == "documented":
        return max(20, 200 // case.lanes)
    return max(50, 32_000 // (case.lanes * max(case.chain_steps, 1)))


def on_processor(side: Side) -> float:
    """Processor seconds of a block of NumPyro."""
    before = side.processor_seconds()
    side.ask("block")
    return side.processor_seconds() - before


def ours_on_processor(side: Side, steps: int, compiling: float) -> float:
    """Processor seconds of a block of ours, without those of compiling it anew."""
    before = side.processor_seconds()
    side.ask("block", steps=steps)
    # Training runs the program once before its first step, for the checkpoint's fingerprint.
    return (side.processor_seconds() - before - compiling) * steps / (steps + 1)


def least_compile_seconds(side: Side, case: Case) -> float:
    """Compiling takes milliseconds: the least of some is what it costs undisturbed."""
    answers = [side.ask("build", case=case.request()) for _ in range(5)]
    return min(float(answer["compile_seconds"]) for answer in answers)


def in_turns(
    case: Case, form: str, sides: tuple[Side, Side], rounds: int
) -> tuple[Measured, Measured]:
    """NumPyro and lehr in turns: whatever else the machine does hits both alike."""
    theirs, ours = sides
    steps = block_steps(case, form)
    built = theirs.ask("build", case=case.request(), form=form, steps=steps)
    compiling = least_compile_seconds(ours, case)
    seconds: tuple[list[float], list[float]] = ([], [])
    for k in range(rounds + 1):
        pair = on_processor(theirs), ours_on_processor(ours, steps, compiling)
        if k > 0:  # the first is warming up
            seconds[0].append(pair[0])
            seconds[1].append(pair[1])
    compile_seconds = (built["compile_seconds"], compiling)
    peaks = (theirs.peak_megabytes(), ours.peak_megabytes())
    their_result, our_result = (
        Measured(1e3 * statistics.median(s) / steps, 1e3 * min(s) / steps, c, m)
        for s, c, m in zip(seconds, compile_seconds, peaks, strict=True)
    )
    return their_result, our_result


@dataclass(frozen=True)
class Extent:
    """How much is measured."""

    columns: tuple[int, ...]
    threads: tuple[int, ...]
    methods: tuple[str, ...]
    rounds: int
    few_methods: bool
    everywhere: bool

    @staticmethod
    def of(*, quick: bool, everywhere: bool) -> Extent:
        """What the flags ask for."""
        if quick:
            return Extent((USUAL,), (1,), (), 5, few_methods=True, everywhere=False)
        return Extent(COLUMNS, (1, 2), (), ROUNDS, few_methods=False, everywhere=everywhere)

    def only(
        self,
        columns: list[int] | None,
        threads: list[int] | None,
        methods: list[str] | None,
    ) -> Extent:
        """The same with these sizes, threads and methods, where any are given."""
        return replace(
            self,
            columns=tuple(columns or self.columns),
            threads=tuple(threads or self.threads),
            methods=tuple(methods or self.methods),
        )

    def documented(self, columns: int, threads: int) -> bool:
        """What a plate costs depends on N alone, so that one D shows it."""
        return self.everywhere or (columns == USUAL and threads == 1)

    def cases(self, rows: int, lanes: int, threads: int) -> list[Case]:
        """A second thread can help where there is enough to share: all rows, or many lanes."""
        chosen = every_case(rows, lanes)
        if threads > 1 and lanes == 1:
            chosen = [case for case in chosen if case.reads_all_rows]
        if self.few_methods:
            chosen = [case for case in chosen if case.chain_steps in (0, 4)]
            chosen = [case for case in chosen if lanes == 1 or case.method == "SlDais"]
        if self.methods:
            chosen = [case for case in chosen if case.name.startswith(self.methods)]
        return chosen


def run(report: Report, scratch: Path, extent: Extent) -> None:
    """All cases, first on one thread, then on two."""
    for threads in extent.threads:
        for size in extent.columns:
            if threads > 1 and size != USUAL and not extent.everywhere:
                continue
            data = generated(size)
            table = (data, data.write(scratch))
            for lanes in LANES:
                _table(report, table, (threads, lanes), extent)


NAMES = (
    "method",
    "NumPyro documented, ms",
    "NumPyro best, ms",
    "lehr, ms",
    "documented / lehr",
    "best / lehr",
    "least blocks",
    "compile, s: NumPyro, lehr",
    "ratio",
    "peak MB: NumPyro, lehr",
)


def _table(report: Report, table: tuple[Data, Path], at: tuple[int, int], extent: Extent) -> None:
    (threads, lanes), size = at, table[0].columns
    report.title(f"Steps: D = {size}, lanes: {lanes}, threads: {threads}")
    report.header([*NAMES, "second core, lehr"] if threads > 1 else NAMES)
    # Elsewhere the processes stay from case to case, which saves minutes but sums up memory.
    fresh = size == USUAL or extent.everywhere
    with ExitStack() as shared:
        sides = None if fresh else shared.enter_context(_both(table, threads))
        for case in extent.cases(table[0].rows, lanes, threads):
            with_plate = extent.documented(size, threads) and not case.reads_all_rows
            forms = ("best", "documented") if with_plate else ("best",)
            with _both(table, threads) if fresh else nullcontext(sides) as pair:
                results = {form: in_turns(case, form, pair, extent.rounds) for form in forms}
            cells = _cells(case, results)
            if not fresh:
                cells[-1] = "–"
            if threads > 1:
                cells.append(times(_second_core(case, table, extent.rounds)))
            report.row(cells)


@contextmanager
def _both(table: tuple[Data, Path], threads: int) -> Iterator[tuple[Side, Side]]:
    """Both sides with a table in hand."""
    with numpyro(threads) as theirs, lehr(threads) as ours:
        for side in (theirs, ours):
            side.take(*table)
        yield theirs, ours


def _second_core(case: Case, table: tuple[Data, Path], rounds: int) -> float:
    """How much faster two threads of ours are than one, least against least."""
    steps = block_steps(case, "best")
    least = [float("inf"), float("inf")]
    with lehr(1) as one, lehr(2) as two:
        for side in (one, two):
            side.take(*table)
            side.ask("build", case=case.request())
        for _ in range(2 * rounds):
            for k, side in enumerate((one, two)):
                least[k] = min(least[k], side.ask("block", steps=steps)["seconds"])
    return least[0] / least[1]


def _cells(case: Case, results: dict[str, tuple[Measured, Measured]]) -> list[str]:
    best, own = results["best"]
    plate, beside = results.get("documented", (None, None))
    return [
        case.name,
        short(plate.milliseconds) if plate else "–",
        short(best.milliseconds),
        short(own.milliseconds),
        times(plate.milliseconds / beside.milliseconds) if plate and beside else "–",
        times(best.milliseconds / own.milliseconds),
        times(best.least / own.least),
        f"{short(best.compile_seconds)}, {short(own.compile_seconds)}",
        times(best.compile_seconds / own.compile_seconds),
        f"{best.megabytes:.0f}, {own.megabytes:.0f}",
    ]
