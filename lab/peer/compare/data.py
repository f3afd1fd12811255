"""Tables: generated ones, and the real ones where they are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAX_ROWS = 50_000
GENERATED_ROWS = 50_000


@dataclass(frozen=True)
class Data:
    """Covariates and binary labels."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]

    @property
    def rows(self) -> int:
        """N."""
        return self.x.shape[0]

    @property
    def columns(self) -> int:
        """D."""
        return self.x.shape[1]

    def write(self, folder: Path) -> Path:
        """Writes x, then y, as little-endian doubles, for both sides to read."""
        path = folder / f"{self.name}-{self.rows}x{self.columns}.bin"
        with path.open("wb") as out:
            out.write(np.ascontiguousarray(self.x, dtype="<f8").tobytes())
            out.write(np.ascontiguousarray(self.y, dtype="<f8").tobytes())
        return path


def read(path: Path, rows: int, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reads what `Data.write` has written."""
    flat = np.fromfile(path, dtype="<f8")
    return flat[: rows * columns].reshape(rows, columns), flat[rows * columns :]


def generated(columns: int, rows: int = GENERATED_ROWS, name: str = "generated") -> Data:
    """Correlated covariates and labels from a known logistic model."""
    random = np.random.default_rng(columns)
    x = random.standard_normal((rows, columns))
    for j in range(1, columns):
        x[:, j] = 0.6 * x[:, j - 1] + 0.8 * x[:, j]
    weights = 0.3 * random.standard_normal(columns)
    share = 1.0 / (1.0 + np.exp(-x @ weights))
    return Data(name, x, (random.random(rows) < share).astype(float))


# Name, file, labels that count as one (all others as zero), and columns with the intercept.
REAL = (
    ("Higgs", "higgs.parquet", (1,), 29),
    ("SUSY", "susy.parquet", (1,), 19),
    ("MiniBooNE", "miniboone.parquet", (1,), 51),
    ("CovType-Fir", "covtype.parquet", (1, 6), 55),
    ("CovType-Pine", "covtype.parquet", (2, 3), 55),
)


def real(folder: Path | None, names: list[str] | None) -> list[Data]:
    """The real tables of a folder; generated ones of the same width for those it lacks.

    Only those whose names begin like one of these, if any are given.
    """
    tables = []
    for name, file, positive, columns in REAL:
        if names and not name.startswith(tuple(names)):
            continue
        path = folder / file if folder else None
        if path and path.exists():
            tables.append(_standardised(name, path, positive))
        else:
            print(f"{name}: no {file} in {folder or '--data DIR'}; generated data instead")
            tables.append(generated(columns, name=f"{name}-generated"))
    return tables


def _standardised(name: str, path: Path, positive: tuple[int, ...]) -> Data:
    """The first rows, each feature with mean 0 and deviation 1, after a column of ones."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(path).slice(0, MAX_ROWS)
    label = table.column("y").to_numpy()
    columns = table.drop_columns(["y"]).columns
    x = np.stack([column.to_numpy().astype(float) for column in columns], axis=1)
    deviation = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    x = np.concatenate([np.ones((x.shape[0], 1)), x], axis=1)
    return Data(name, x, np.isin(label, positive).astype(float))
