"""What a fit costs more from Python than from Rust, and what importing the package costs.

    python lab/peer/overhead.py target/release/lehr

Fits the same Parquet file by the command, which is Rust alone, and by `lehr.fit`, in turns, and prints
medians. The command's start (`lehr --version`) is taken off. The bar is 3 % and 50 ms. An import is timed
in processes of its own beside one of NumPy; the bar is 150 ms beyond that.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import lehr

TURNS = 9
CASES = {
    "y ~ x1 + x2 + x3": (2_000, "bernoulli"),
    "y ~ x1 * x2 + x3": (200_000, "bernoulli"),
    "z ~ x1 + (1 + x1 | g)": (50_000, "gaussian"),
}


def table(rows: int) -> pd.DataFrame:
    """Return rows with a binary and a normal response, three covariates and 200 groups."""
    random = np.random.default_rng(rows)
    x = random.normal(size=(rows, 3))
    group = random.integers(0, 200, rows)
    y = random.random(rows) < 1 / (1 + np.exp(-x @ [0.5, -0.4, 0.2]))
    z = x[:, 0] + random.normal(size=200)[group] + random.normal(size=rows)
    columns = {f"x{k + 1}": x[:, k] for k in range(3)}
    return pd.DataFrame({"y": y.astype(int), "z": z, "g": [f"g{k}" for k in group], **columns})


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def run(*arguments: str) -> Callable[[], object]:
    """Return a call of a program whose output is not read."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return lambda: subprocess.run(arguments, check=False, **quiet)


def fits(command: str, folder: Path) -> None:
    """Print a line for each case."""
    print("| fit | rows | command, s | Python, s | beyond 3 %, ms (bar 50) |\n|---|---|---|---|---|")
    for formula, (rows, family) in CASES.items():
        path = folder / f"{rows}.parquet"
        table(rows).to_parquet(path)
        asked = [command, "fit", formula, str(path), "--family", family, "--force"]
        by_command = run(*asked, "-o", str(folder / "fit.lehr"), "--quiet")

        def by_python(formula: str = formula, path: Path = path, family: str = family) -> object:
            return lehr.fit(formula, str(path), family=family, progress=False)

        by_python()
        times = [[seconds(run(command, "--version")), seconds(by_command), seconds(by_python)] for _ in range(TURNS)]
        start, rust, python = (statistics.median(column) for column in zip(*times, strict=True))
        rust -= start
        print(f"| `{formula}` | {rows:,} | {rust:.3f} | {python:.3f} | {1000 * (python - 1.03 * rust):.0f} |")


def imports() -> None:
    """Print what an import takes beyond one of NumPy."""
    each = [[seconds(run(sys.executable, "-c", f"import {name}")) for name in ("numpy", "lehr")] for _ in range(TURNS)]
    numpy, ours = (statistics.median(column) for column in zip(*each, strict=True))
    print(f"\nimport numpy {1000 * numpy:.0f} ms, import lehr {1000 * ours:.0f} ms: {1000 * (ours - numpy):.0f} ms beyond (bar 150)")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        fits(sys.argv[1], Path(scratch))
    imports()
