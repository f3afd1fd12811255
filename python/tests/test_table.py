"""Every way to hand over a table is the same table."""

import datetime

import numpy as np
import pandas as pd
import pytest

import lehr


def fitted(data, formula="y ~ dose + C(site)", **options):
    return lehr.fit(formula, data, method="full-rank", seed=5, progress=False, **options)


def test_every_kind_of_table_gives_the_same_bits(frame, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    frame.to_csv(tmp_path / "a.csv", index=False, float_format="%.17g")
    arrow = pa.Table.from_pandas(frame)
    tables = {
        "dict": {name: frame[name].to_numpy() for name in frame},
        "lists": {name: frame[name].tolist() for name in frame},
        "arrow": arrow,
        "batches": arrow.to_reader(max_chunksize=50),
        "polars": pl.from_pandas(frame),
        "csv": str(tmp_path / "a.csv"),
        "path": tmp_path / "a.csv",
        "pattern": [str(tmp_path / "*.csv")],
        "categorical": frame.assign(site=frame["site"].astype("category")),
    }
    expected = fitted(frame).draws()
    for kind, table in tables.items():
        pd.testing.assert_frame_equal(fitted(table).draws(), expected, check_exact=True, obj=kind)


def test_columns_that_the_formula_does_not_read_are_not_converted(frame):
    odd = frame.assign(odd=[object()] * len(frame))
    assert fitted(odd).formula == "y ~ dose + C(site)"


def test_nullable_and_missing_values(frame):
    missing = frame.astype({"failed": "boolean"}).copy()
    missing.loc[3, "failed"] = pd.NA
    missing.loc[5, "dose"] = np.nan
    with pytest.raises(lehr.LehrError, match="missing"):
        fitted(missing, "failed ~ dose")
    assert fitted(missing, "failed ~ dose", missing="drop").facts["dropped_rows"] == 2


def test_matrices_and_dates_are_read(frame):
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(i)) for i in range(len(frame))]
    fit = fitted({"y": frame["y"], "day": days}, "y ~ day")
    assert any("days since 1970-01-01" in note for note in fit.notes)
    moments = pd.Series(pd.to_datetime(days))
    seconds = fitted({"y": frame["y"], "t": moments.to_numpy()}, "y ~ t")
    same = fitted({"y": frame["y"], "t": moments.dt.tz_localize("UTC")}, "y ~ t")
    pd.testing.assert_frame_equal(seconds.draws(), same.draws())


def test_levels_keep_an_order_that_is_given(frame):
    order = ["west", "south", "north"]
    ordered = frame.assign(site=pd.Categorical(frame["site"], categories=order, ordered=True))
    by_type = fitted(ordered, "site ~ dose", family="ordinal")
    by_option = fitted(frame, "site ~ dose", family="ordinal", levels={"site": order})
    assert by_type.facts["classes"] == order
    pd.testing.assert_frame_equal(by_type.draws(), by_option.draws())


def test_tables_beyond_memory_stay_on_disk(frame, tmp_path):
    frame.to_parquet(tmp_path / "a.parquet")
    fit = fitted(tmp_path / "a.parquet", memory="1kB")
    choices = dict(fit.facts["choices"])
    assert choices["rows"].startswith(f"{len(frame)} in the files")
    assert "over all rows" in choices["passes"]
    frame.to_csv(tmp_path / "a.csv", index=False)
    fit = fitted(tmp_path / "a.csv", memory="1kB")
    assert ("rows", "on disk, shuffled") in fit.facts["choices"]
    with pytest.raises(lehr.LehrError, match="nuts: expected rows in memory"):
        few = {"method": "nuts", "memory": "1kB", "progress": False}
        lehr.fit("failed ~ dose", tmp_path / "a.parquet", **few)
    # Gaussian rows are condensed on the way, and chains need no others.
    assert lehr.fit("y ~ dose", tmp_path / "a.parquet", **few).verdict.is_trusted


def test_what_is_no_table_is_refused():
    with pytest.raises(lehr.LehrError, match="expected a data frame.*found int"):
        lehr.fit("y ~ x", 3)
    with pytest.raises(lehr.LehrError, match="column 'x': expected numbers.*found set"):
        lehr.fit("y ~ x", {"y": [1.0], "x": [{1}]})
