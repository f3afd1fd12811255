"""Tables as the engine reads them, from whatever holds them in Python."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lehr._lehr import LehrError, Source

# Anything with the Arrow PyCapsule interface, a pandas data frame, a mapping of names to arrays,
# or the names of files.
Data: TypeAlias = Any

# Numbers, truth values as -1, 0 and 1, or codes with the names behind them and whether they are
# in order.
Values: TypeAlias = (
    npt.NDArray[np.float64] | npt.NDArray[np.int8] | tuple[npt.NDArray[np.int64], list[str], bool]
)

# Which of the columns that are there are wanted.
Choose: TypeAlias = Callable[[list[str]], Sequence[str]]

DAY = np.timedelta64(1, "D")
SECOND = np.timedelta64(1, "s")


def source(data: Data, choose: Choose | None) -> Source:
    """Return the table behind `data`, of which only the chosen columns are converted.

    Where nothing is chosen, columns that cannot be converted are left out.
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike):
        return Source.files([os.fspath(data)])
    if isinstance(data, list | tuple) and data and isinstance(data[0], str | os.PathLike):
        return Source.files([os.fspath(path) for path in data])
    if isinstance(data, Mapping) or is_pandas(data):
        return _columns(data, choose)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return Source.arrow(data)
    raise LehrError(
        f"table: expected a data frame, a mapping of arrays or names of files, "
        f"found {type(data).__name__}\n"
        "  hint: lehr takes pandas, polars, pyarrow and duckdb tables, and paths of files"
    )


def is_pandas(data: Data) -> bool:
    """Whether `data` is a pandas data frame; pandas is not imported to find out."""
    kind = type(data)
    return kind.__module__.split(".")[0] == "pandas" and hasattr(data, "columns")


def is_polars(data: Data) -> bool:
    """Whether `data` is a polars data frame."""
    return type(data).__module__.split(".")[0] == "polars"


def _columns(data: Data, choose: Choose | None) -> Source:
    by_name = {str(name): name for name in data.keys()}  # noqa: SIM118 (a data frame has keys too)
    wanted = set(by_name) if choose is None else set(choose(list(by_name)))
    columns: list[tuple[str, Values]] = []
    dates: list[str] = []
    for name, key in by_name.items():
        if name not in wanted:
            continue
        try:
            values, is_date = _column(name, data[key])
        except LehrError:
            if choose is None:
                continue
            raise
        columns.append((name, values))
        dates += [name] * is_date
    return Source.columns(columns, dates)


def _column(name: str, values: Any) -> tuple[Values, bool]:
    """Return a column and whether it held dates."""
    dtype = getattr(values, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype):
        return _extension(name, values)
    array = np.asarray(values)
    if array.ndim == 2:
        return np.ascontiguousarray(array, dtype=np.float64), False
    if array.ndim != 1:
        raise LehrError(
            f"column {name!r}: expected one value or one row of numbers per row, "
            f"found an array of {array.ndim} dimensions"
        )
    kind = array.dtype.kind
    if kind == "b":
        return array.astype(np.int8), False
    if kind in "fiu":
        return np.ascontiguousarray(array, dtype=np.float64), False
    if kind in "Mm":
        return _moments(array)
    return _labels(name, array)


def _moments(array: npt.NDArray[Any]) -> tuple[Values, bool]:
    """Seconds since 1970, days for dates; what is no time is missing."""
    is_date = bool(np.datetime_data(array.dtype)[0] == "D" and array.dtype.kind == "M")
    since = array - np.datetime64(0, "D") if array.dtype.kind == "M" else array
    numbers = since / (DAY if is_date else SECOND)
    return np.ascontiguousarray(numbers, dtype=np.float64), is_date


def _extension(name: str, values: Any) -> tuple[Values, bool]:
    """A pandas column of a type that NumPy does not have."""
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = [str(level) for level in dtype.categories]
        codes = np.ascontiguousarray(values.cat.codes, dtype=np.int64)
        return (codes, levels, bool(dtype.ordered)), False
    if pd.api.types.is_bool_dtype(dtype):
        return values.to_numpy(dtype=np.int8, na_value=-1), False
    if pd.api.types.is_numeric_dtype(dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.ascontiguousarray(numbers), False
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _moments(values.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        return _moments(values.to_numpy())
    return _labels(name, values)


def _labels(name: str, values: Any) -> tuple[Values, bool]:
    """Text as codes; objects that are numbers, truth values or dates as such."""
    import pandas as pd

    try:
        codes, found = pd.factorize(values, use_na_sentinel=True)
    except TypeError:  # values that cannot be compared are no labels
        codes, found = np.zeros(0, dtype=np.int64), np.asarray(values, dtype=object)
    kinds = {type(one) for one in found}
    if not kinds or kinds <= {str, np.str_}:
        levels = [str(level) for level in found]
        return (np.ascontiguousarray(codes, dtype=np.int64), levels, False), False
    if kinds <= {bool, np.bool_}:
        truth = np.append(np.asarray(found, dtype=np.int8), np.int8(-1))
        return np.ascontiguousarray(truth[codes]), False
    if kinds <= {int, float, np.int64, np.float64, np.int32, np.float32}:
        numbers = np.append(np.asarray(found, dtype=np.float64), np.nan)
        return np.ascontiguousarray(numbers[codes]), False
    if kinds <= {datetime.date}:
        days = np.append(np.asarray(found, dtype="datetime64[D]"), np.datetime64("NaT"))
        return _moments(days[codes])
    odd = sorted(kind.__name__ for kind in kinds)
    raise LehrError(
        f"column {name!r}: expected numbers, text, truth values or dates, found {', '.join(odd)}\n"
        "  hint: convert the column first, for instance with astype(str)"
    )


def frame(columns: dict[str, Any], like: Data) -> Any:
    """Return columns as a data frame of the kind that the rows came in, with their index."""
    if is_polars(like):
        import polars as pl

        return pl.DataFrame(columns)
    import pandas as pd

    index = like.index if is_pandas(like) else None
    if index is not None and any(len(values) != len(index) for values in columns.values()):
        index = None
    return pd.DataFrame(columns, index=index)
