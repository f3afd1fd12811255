"""Predictions of rows where they are: batches of a partition in, predictions out.

Spark, Dask and Ray Data say which rows come together and where; a fit goes along with the task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lehr._lehr import LehrError

if TYPE_CHECKING:
    from lehr._fit import Fit


class Predictor:
    """Predicts Arrow batches with one fit, and keeps some of their columns beside."""

    def __init__(self, fit: Fit, keep: Sequence[str], options: Mapping[str, Any]) -> None:
        self.fit = fit
        self.keep = list(keep)
        self.options = dict(options)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Predict the record batches of a partition, one by one."""
        for batch in batches:
            if batch.num_rows > 0:
                yield self.batch(batch)

    def batch(self, batch: Any) -> Any:
        """Predict one record batch."""
        import pyarrow as pa

        found = self.fit.predict(pa.Table.from_batches([batch]), **self.options)
        predicted = pa.RecordBatch.from_pandas(found, preserve_index=False)
        kept = [batch.column(batch.schema.get_field_index(name)) for name in self._kept(batch)]
        return pa.RecordBatch.from_arrays(
            [*kept, *predicted.columns], names=[*self.keep, *predicted.schema.names]
        )

    def table(self, table: Any) -> Any:
        """Predict an Arrow table, as Ray Data hands it over."""
        import pyarrow as pa

        joined = table.combine_chunks().to_batches()
        return pa.Table.from_batches([self.batch(one) for one in joined])

    def frame(self, frame: Any) -> Any:
        """Predict a data frame of pandas, as Dask hands it over; the index stays."""
        found = self.fit.predict(frame, **self.options)
        found.index = frame.index
        for place, name in enumerate(self._kept(frame)):
            found.insert(place, name, frame[name])
        return found

    def _kept(self, rows: Any) -> list[str]:
        names = list(rows.schema.names) if hasattr(rows, "schema") else list(rows.columns)
        for name in self.keep:
            if name not in names:
                raise LehrError(
                    f"keep: expected a column of the rows, found {name!r}\n"
                    f"  hint: they have {', '.join(map(repr, names))}"
                )
        return self.keep


def is_divided(data: Any) -> bool:
    """Return whether these are the rows of a Ray or Dask data set."""
    home = type(data).__module__.split(".")
    return home[0] == "dask" or home[0] == "dask_expr" or home[:2] == ["ray", "data"]


def predict(fit: Fit, data: Any, keep: Sequence[str], options: Mapping[str, Any]) -> Any:
    """Predict a Ray or Dask data set by its own means, when it is asked for its rows."""
    predictor = Predictor(fit, keep, options)
    if hasattr(data, "map_batches"):
        return data.map_batches(predictor.table, batch_format="pyarrow")
    first = data.head(1)
    if len(first) == 0:
        raise LehrError("table: expected rows to predict in the first partition, found none")
    return data.map_partitions(predictor.frame, meta=predictor.frame(first).iloc[:0])
