"""Predictions on a local Spark and on Dask, beside those of the whole table here."""

import os
import sys

import numpy as np
import pandas as pd
import pytest

import lehr
from lehr import spark


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(5)
    x = random.normal(size=600)
    kind = random.choice(["a", "b", "c"], size=600)
    hit = random.random(600) < 1 / (1 + np.exp(-x - (kind == "b")))
    return pd.DataFrame({"id": np.arange(600), "x": x, "kind": kind, "hit": hit})


@pytest.fixture(scope="module")
def fit(rows):
    return lehr.fit("hit ~ x + kind", rows, method="full-rank", progress=False)


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    # Executors are processes of this Python, and find the package where this one does.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("lehr")
    builder = builder.config("spark.ui.enabled", "false")
    made = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield made
    made.stop()


def test_spark_predicts_as_here(rows, fit, session):
    frame = session.createDataFrame(rows.drop(columns="hit")).repartition(3)
    udf = spark.predict_udf(fit, keep=["id"])
    found = frame.mapInArrow(udf, udf.schema(frame)).toPandas()
    found = found.sort_values("id", ignore_index=True)
    whole = fit.predict(rows)
    assert list(found["id"]) == list(range(600))
    assert list(found.columns) == ["id", *whole.columns]
    for name in whole.columns:
        if whole[name].dtype.kind == "f":
            assert np.allclose(found[name], whole[name], atol=1e-12), name
        else:
            assert list(found[name]) == list(whole[name])


def test_dask_predicts_as_here(rows, fit):
    import dask.dataframe as dd

    divided = dd.from_pandas(rows, npartitions=4)
    found = fit.predict(divided, keep=["id"])
    assert next(iter(found.columns)) == "id"
    found = found.compute(scheduler="threads")
    whole = fit.predict(rows)
    assert list(found["id"]) == list(range(600))
    for name in whole.columns:
        if whole[name].dtype.kind == "f":
            assert np.allclose(found[name], whole[name], atol=1e-12), name
