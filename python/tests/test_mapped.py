"""Batches of a partition in, predictions out, without Spark, Dask or Ray."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lehr
from lehr import _mapped, spark


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(3)
    x = random.normal(size=120)
    kind = random.choice(["a", "b"], size=120)
    y = 1.0 + 2.0 * x + (kind == "b") + random.normal(size=120)
    return pd.DataFrame({"id": np.arange(120), "x": x, "kind": kind, "y": y})


@pytest.fixture(scope="module")
def fit(rows):
    return lehr.fit("y ~ x + kind", rows, method="full-rank", progress=False)


def test_batches_are_predicted_as_the_whole_table(rows, fit):
    whole = fit.predict(rows)
    udf = spark.predict_udf(fit, keep=["id"])
    batches = pa.Table.from_pandas(rows, preserve_index=False).to_batches(max_chunksize=50)
    found = pa.Table.from_batches(list(udf(iter(batches)))).to_pandas()
    assert list(found.columns) == ["id", *whole.columns]
    assert (found["id"] == rows["id"]).all()
    # The posterior of the mean does not depend on the batch; predictive draws do.
    assert np.allclose(found["y_mean"], whole["y_mean"])
    assert np.allclose(found["y_sd"], whole["y_sd"], rtol=0.3)


def test_an_empty_batch_is_passed_over(rows, fit):
    empty = pa.Table.from_pandas(rows.iloc[:0], preserve_index=False).to_batches()
    assert list(spark.predict_udf(fit)(iter(empty))) == []


def test_frames_keep_their_index(rows, fit):
    some = rows.iloc[30:40]
    found = _mapped.Predictor(fit, ["id"], {}).frame(some)
    assert list(found.index) == list(some.index)
    assert list(found["id"]) == list(some["id"])


def test_a_column_that_is_not_there_is_named(rows, fit):
    with pytest.raises(lehr.LehrError, match="keep: expected a column of the rows, found 'key'"):
        _mapped.Predictor(fit, ["key"], {}).frame(rows)
    with pytest.raises(lehr.LehrError, match="keep: expected a data set of Ray or Dask"):
        fit.predict(rows, keep=["id"])
