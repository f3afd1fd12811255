"""Write a long table to Parquet files: ``table.py ROWS FOLDER``.

The column `y` is 0 or 1 with log odds −1 + 0.5 x1 − 0.5 x2; `x1` to `x9` are standard normal, in
32 bits. There is a file for every ten million rows, with row groups of 250,000; memory does not grow
with the rows. The same arguments write the same rows.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP = 250_000
FILE = 10_000_000
COLUMNS = [f"x{k}" for k in range(1, 10)]
SCHEMA = pa.schema([("y", pa.uint8()), *((name, pa.float32()) for name in COLUMNS)])


def group(number: int, rows: int) -> pa.Table:
    """Return some rows, which depend on their number alone."""
    random = np.random.default_rng([number, 22])
    x = random.standard_normal((len(COLUMNS), rows), dtype=np.float32)
    odds = -1.0 + 0.5 * x[0] - 0.5 * x[1]
    y = (random.random(rows) < 1.0 / (1.0 + np.exp(-odds))).astype(np.uint8)
    return pa.table([y, *x], schema=SCHEMA)


def write(rows: int, folder: Path) -> None:
    """Write all files."""
    folder.mkdir(parents=True)
    settings = {"use_dictionary": False, "compression": "none", "write_statistics": False}
    for place, first in enumerate(range(0, rows, FILE)):
        path = folder / f"part-{place:03}.parquet"
        last = min(first + FILE, rows)
        with pq.ParquetWriter(path, SCHEMA, **settings) as to:
            for start in range(first, last, GROUP):
                to.write_table(group(start // GROUP, min(GROUP, last - start)), GROUP)


if __name__ == "__main__":
    write(int(float(sys.argv[1])), Path(sys.argv[2]))
