"""Predictions of Spark data frames, by ``mapInArrow``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lehr._lehr import LehrError
from lehr._mapped import Predictor

if TYPE_CHECKING:
    from lehr._fit import Fit


class PredictUdf:
    """What ``mapInArrow`` calls with the batches of every partition."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Predict the batches of a partition."""
        return self._predictor(batches)

    def schema(self, frame: Any) -> Any:
        """Return the columns of the predictions of a Spark data frame, by its first row."""
        from pyspark.sql.pandas.types import from_arrow_schema

        first = frame.limit(1).toArrow().to_batches()
        if not first:
            raise LehrError("table: expected rows to predict, found none")
        return from_arrow_schema(self._predictor.batch(first[0]).schema)


def predict_udf(fit: Fit, keep: Sequence[str] = (), **options: Any) -> PredictUdf:
    """Return a function for ``mapInArrow`` that predicts rows.

    ``udf = lehr.spark.predict_udf(fit, keep=["id"])`` and then
    ``frame.mapInArrow(udf, udf.schema(frame))``. Every executor needs lehr, of the same version.

    Args:
        fit: The fit.
        keep: Columns of the rows that stand before the predictions.
        **options: As in :meth:`lehr.Fit.predict`.
    """
    return PredictUdf(Predictor(fit, keep, options))
