"""Write a long table of which few rows differ: ``coarse.py ROWS FOLDER``.

`y` is 0 or 1, `a`, `b` and `c` are whole numbers below 12, and `d` is one of three texts: 10,368
different rows at the most. Files and row groups are those of table.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP = 250_000
FILE = 10_000_000
SCHEMA = pa.schema(
    [("y", pa.uint8()), ("a", pa.int8()), ("b", pa.int8()), ("c", pa.int8()), ("d", pa.string())]
)


def group(number: int, rows: int) -> pa.Table:
    """Return some rows, which depend on their number alone."""
    random = np.random.default_rng([number, 23])
    a, b, c = random.integers(0, 12, size=(3, rows), dtype=np.int8)
    d = np.array(["red", "green", "blue"])[random.integers(0, 3, size=rows)]
    odds = -1.0 + 0.2 * a - 0.1 * b + 0.5 * (d == "red")
    y = (random.random(rows) < 1.0 / (1.0 + np.exp(-odds))).astype(np.uint8)
    return pa.table([y, a, b, c, d], schema=SCHEMA)


def write(rows: int, folder: Path) -> None:
    """Write all files."""
    folder.mkdir(parents=True)
    for place, first in enumerate(range(0, rows, FILE)):
        last = min(first + FILE, rows)
        with pq.ParquetWriter(folder / f"part-{place:03}.parquet", SCHEMA) as to:
            for start in range(first, last, GROUP):
                to.write_table(group(start // GROUP, min(GROUP, last - start)), GROUP)


if __name__ == "__main__":
    write(int(float(sys.argv[1])), Path(sys.argv[2]))
