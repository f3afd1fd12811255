"""Write a long table to Parquet files: ``table.py ROWS FOLDER [COLUMNS]``.

The column `y` is 0 or 1 with log odds −1 + 0.5 x1 − 0.5 x2; `x1` to `x9`, or so many of them that
there are COLUMNS in all, are standard normal, in 32 bits. There is a file for every ten million
rows, with row groups of 250,000; memory does not grow with the rows. The same arguments write the
same rows.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP = 250_000
FILE = 10_000_000


def layout(columns: int) -> pa.Schema:
    """Return the names and types of so many columns."""
    numbers = ((f"x{k}", pa.float32()) for k in range(1, columns))
    return pa.schema([("y", pa.uint8()), *numbers])


def group(number: int, rows: int, schema: pa.Schema) -> pa.Table:
    """Return some rows, which depend on their number alone."""
    random = np.random.default_rng([number, 22])
    x = random.standard_normal((len(schema) - 1, rows), dtype=np.float32)
    odds = -1.0 + 0.5 * x[0] - 0.5 * x[1]
    y = (random.random(rows) < 1.0 / (1.0 + np.exp(-odds))).astype(np.uint8)
    return pa.table([y, *x], schema=schema)


def write(rows: int, folder: Path, columns: int) -> None:
    """Write all files."""
    folder.mkdir(parents=True)
    schema = layout(columns)
    settings = {"use_dictionary": False, "compression": "none", "write_statistics": False}
    for place, first in enumerate(range(0, rows, FILE)):
        path = folder / f"part-{place:03}.parquet"
        last = min(first + FILE, rows)
        with pq.ParquetWriter(path, schema, **settings) as to:
            for start in range(first, last, GROUP):
                to.write_table(group(start // GROUP, min(GROUP, last - start), schema), GROUP)


if __name__ == "__main__":
    width = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    write(int(float(sys.argv[1])), Path(sys.argv[2]), width)
