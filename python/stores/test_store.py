"""Tables in an object store are those on this machine."""

import os
import subprocess

import numpy as np
import pytest
from conftest import COMMAND, SECRET

import lehr

FORMULA = "hit ~ x0 + x1 + color"


def fitted(data, **how):
    return lehr.fit(FORMULA, data, method="full-rank", seed=1, progress=False, **how)


def same(one, other):
    assert (one.draws(raw=True) == other.draws(raw=True)).all().all()


def command(*arguments, **environment):
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["long/*.parquet", "long/part-[0-2].parquet", "long", "long/"])
def test_a_pattern_or_a_folder_stands_for_the_files_in_it(here, there, name):
    same(fitted(f"{there}/{name}"), fitted(str(here / "*.parquet")))


def test_one_object_and_a_list_of_objects_are_read(here, there):
    one = "part-1.parquet"
    same(fitted(f"{there}/long/{one}"), fitted(here / one))
    names = ["part-2.parquet", "part-0.parquet"]
    many = [f"{there}/long/{name}" for name in names]
    same(fitted(many), fitted([str(here / name) for name in names]))


def test_text_is_read(here, there):
    same(fitted(f"{there}/text/text.csv"), fitted(here / "text.csv"))


def test_a_table_that_is_streamed_is_the_same(here, there):
    small = {"memory": "1MB"}
    one = fitted(f"{there}/long/*.parquet", **small)
    assert "rows" in dict(one.facts["choices"]), one.facts["choices"]
    same(one, fitted(str(here / "*.parquet"), **small))


def test_rows_are_predicted_and_judged(here, there):
    fit = fitted(str(here / "*.parquet"))
    one, other = (fit.predict(f"{place}/part-0.parquet") for place in (f"{there}/long", here))
    assert np.array_equal(one["hit[1]"], other["hit[1]"])
    one, other = (fit.evaluate(f"{place}/part-0.parquet") for place in (f"{there}/long", here))
    assert one["log_likelihood_per_row"] == other["log_likelihood_per_row"]


def test_the_command_reads_and_nothing_it_writes_has_the_secret(there, tmp_path):
    saved, page = tmp_path / "fit.lehr", tmp_path / "fit.html"
    table = f"{there}/long/*.parquet"
    made = command("fit", FORMULA, table, "--family", "bernoulli", "-o", saved)
    assert made.returncode == 0, made.stderr
    judged = command("evaluate", saved, table, "--json")
    assert judged.returncode == 0, judged.stderr
    predicted = command("predict", saved, table, "-o", tmp_path / "out.parquet")
    assert predicted.returncode == 0, predicted.stderr
    assert command("report", saved, "-o", page).returncode == 0
    told = [made.stdout, made.stderr, judged.stdout, judged.stderr, page.read_text()]
    assert all(SECRET not in text for text in told)
    assert SECRET.encode() not in saved.read_bytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("long/none.parquet", "no such object, or no such bucket"),
        ("long/none-*.parquet", "no object matches the pattern"),
        ("empty/", "the folder has no table in it"),
        ("damaged/part-0.parquet", "damaged/part-0.parquet: "),
    ],
)
def test_what_is_not_there_is_named(there, name, words):
    with pytest.raises(lehr.LehrError, match=words) as found:
        fitted(f"{there}/{name}")
    assert f"{there}/{name}" in str(found.value)
    assert SECRET not in str(found.value)


def test_another_bucket_is_not_there(there):
    with pytest.raises(lehr.LehrError, match="no such object, or no such bucket"):
        fitted("s3://elsewhere/a.parquet")


def test_a_server_that_is_not_there_is_said_with_where_credentials_come_from(there):
    made = command(
        "fit",
        FORMULA,
        f"{there}/long/part-0.parquet",
        "-o",
        "unwritten.lehr",
        AWS_ENDPOINT_URL="http://127.0.0.1:9",
    )
    assert made.returncode == 2
    assert "part-0.parquet: cannot open" in made.stderr, made.stderr
    assert "credentials come from the environment" in made.stderr
    assert SECRET not in made.stderr


def test_a_result_is_not_written_to_a_store(there, tmp_path):
    made = command("fit", FORMULA, f"{there}/long", "-o", f"{there}/fit.lehr")
    assert made.returncode == 2
    assert "expected a file on this machine" in made.stderr, made.stderr
