"""Processor time per step with a chain over a latent of each row, at two lengths of the table."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np

from compare.data import Data
from compare.side import Side, lehr, numpyro
from compare.table import Report, short, times
from compare.timing import on_processor, ours_on_processor

COLUMNS = 26
BATCH = 256
ROWS = (15_000, 150_000)
LENGTHS = (8, 16)
ROUNDS = 7
# Ours begins each block with fresh memory, the first use of which must not show.
STEPS = 100
OUR_STEPS = 1000


def robust(rows: int) -> Data:
    """Rows of a regression with the noise of Student's t."""
    random = np.random.default_rng(rows)
    x = random.standard_normal((rows, COLUMNS))
    weights = 0.3 * random.standard_normal(COLUMNS)
    return Data("robust", x, x @ weights + 0.5 * random.standard_t(4.0, rows))


def compiled(ours: Side, case: dict[str, object]) -> float:
    """Processor seconds of compiling ours, the least of some."""

    def once() -> float:
        before = ours.processor_seconds()
        ours.ask("build_local", case=case)
        return ours.processor_seconds() - before

    return min(once() for _ in range(3))


def run(report: Report, scratch: Path, quick: bool) -> None:
    """The table."""
    report.title("A latent of each row: milliseconds of a processor per step, one thread, in turns")
    report.say(
        f"Robust regression, D = {COLUMNS}, B = {BATCH}, one draw per step. NumPyro: AutoSemiDAIS, its "
        "quantities of the chain by row (the default) or shared; ours: shared, from Newton's normal or "
        "from numbers learned of every row. Medians of blocks in turns, the ratio of the fastest in brackets."
    )
    report.say()
    report.header(["N", "K", "NumPyro", "lehr", "NumPyro, ms", "lehr, ms", "ratio"])
    rounds, lengths = (3, LENGTHS[:1]) if quick else (ROUNDS, LENGTHS)
    for rows in ROWS:
        data = robust(rows)
        path = data.write(scratch)
        for length in lengths:
            for shares, base in ((False, "newton"), (True, "newton"), (True, "own")):
                with numpyro(1) as theirs, lehr(1) as ours:
                    theirs.take(data, path)
                    ours.ask("robust", path=str(path), rows=data.rows, columns=data.columns)
                    theirs.ask(
                        "local", chain_steps=length, batch=BATCH, steps=STEPS, shares=shares
                    )
                    case = {"chain_steps": length, "batch": BATCH, "base": base}
                    compiling = compiled(ours, case)
                    pairs = [
                        (on_processor(theirs), ours_on_processor(ours, OUR_STEPS, compiling))
                        for _ in range(rounds + 1)
                    ][1:]
                seconds = [[pair[side] for pair in pairs] for side in (0, 1)]
                blocks = list(zip(seconds, (STEPS, OUR_STEPS), strict=True))
                medians, least = (
                    [1e3 * of(one) / steps for one, steps in blocks]
                    for of in (statistics.median, min)
                )
                fastest = least[0] / least[1]
                report.row(
                    [
                        f"{rows:,}",
                        str(length),
                        "shared" if shares else "by row",
                        base,
                        *map(short, medians),
                        f"{times(medians[0] / medians[1])} ({times(fastest)})",
                    ]
                )
