"""Model functions are recorded as the closures of Rust are."""

import numpy as np
import pandas as pd
import pytest
import scipy.special

import lehr
from lehr import dist


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(11)
    x = random.normal(size=(150, 2))
    site = random.integers(0, 4, 150)
    logit = x @ [1.0, -0.5] + 0.3 * (site - 1.5)
    y = (random.random(150) < 1 / (1 + np.exp(-logit))).astype(float)
    return {"x": x, "site": site, "y": y, "z": x[:, 0]}


@lehr.model
def churn(data):
    weight = lehr.sample("weight", dist.Normal(0.0, 1.0).expand([2]))
    scale = lehr.sample("scale", dist.HalfNormal(1.0))
    effect = lehr.sample("effect", dist.Normal(0.0, scale).expand([data.levels("site")]))
    with lehr.rows(data) as row:
        logit = row["x"] @ weight + effect[row["site"]]
        lehr.observe("y", dist.Bernoulli(logits=logit), row["y"])


def recorded(write, table):
    return str(lehr.model(write).bind(table))


def test_a_function_prints_the_program_that_was_recorded(table):
    assert "not yet recorded" in str(lehr.model(churn.function))
    churn.bind(table)
    lines = str(churn).splitlines()
    assert [line.split(" ~ ")[0] for line in lines] == ["weight", "scale", "effect", "y"]
    assert "HalfNormal(scale = 1)" in lines[1]


def test_a_model_function_is_fitted_and_read_back(table, tmp_path):
    fit = churn.fit(table, method="full-rank", seed=4, progress=False)
    assert fit.formula is None and fit.evidence is not None
    weight = fit.coefficients.loc["weight[0]"]
    assert abs(weight["mean"] - 1.0) < 4 * weight["sd"]
    fit.save(tmp_path / "fit.lehr")
    again = lehr.load(tmp_path / "fit.lehr").predict(table)
    pd.testing.assert_frame_equal(again, fit.predict(table))
    assert again["y_mean"].between(0, 1).all()


def both(table, first, second):
    """Whether two ways to write a row's mean are one program."""

    def write(mean):
        def function(data):
            a = lehr.sample("a", dist.Normal(0.0, 1.0).expand([2]))
            with lehr.rows(data) as row:
                lehr.observe("y", dist.Normal(mean(a, row), 1.0), row["y"])

        return lehr.model(function).bind(table).program()

    return write(first) == write(second)


@pytest.mark.parametrize(
    ("numpy", "plain"),
    [
        (lambda a, row: np.exp(a[0]) * row["z"], lambda a, row: a[0].exp() * row["z"]),
        (lambda a, row: np.add(a[0], row["z"]), lambda a, row: a[0] + row["z"]),
        (lambda a, row: np.sum(a) * row["z"], lambda a, row: a.sum() * row["z"]),
        (lambda a, row: np.dot(row["x"], a), lambda a, row: row["x"] @ a),
        (lambda a, row: row["x"][:, 1] * a[-1], lambda a, row: row["x"][:, 1] * a[1]),
        (lambda a, row: scipy.special.expit(row["z"]), lambda a, row: row["z"].sigmoid()),
        (
            lambda a, row: np.where(row["z"] < 0, a[0], 1.0),
            lambda a, row: lehr.where(row["z"] < 0, a[0], 1.0),
        ),
        (lambda a, row: a[0] ** 2 + row["z"], lambda a, row: np.square(a[0]) + row["z"]),
        (lambda a, row: np.array(2.0) * row["z"], lambda a, row: 2.0 * row["z"]),
        (
            lambda a, row: np.clip(row["z"], 1.0, 9.0),
            lambda a, row: np.minimum(np.maximum(row["z"], 1.0), 9.0),
        ),
    ],
)
def test_numpy_functions_are_those_of_the_model(table, numpy, plain):
    assert both(table, numpy, plain)
    assert not both(table, numpy, lambda a, row: plain(a, row) + 1.0)


def test_parameters_factors_and_named_quantities(table):
    @lehr.model
    def write(data):
        shift = lehr.param("shift", 0.5, "positive")
        a = lehr.sample("a", dist.Normal(0.0, 1.0))
        lehr.factor("soft", dist.Normal(0.0, 2.0).log_prob(a))
        lehr.deterministic("twice", 2.0 * a)
        effect = lehr.group_effect("effect", data.levels("site"), 0.5)
        with lehr.rows(data) as row:
            row.weight("y")
            mean = a * row["z"] + row.offset("z") + effect[row.index("site")]
            lehr.observe("y", dist.Normal(mean, shift))

    text = str(write.bind(table))
    assert "shift: a parameter" in text and "soft: a factor" in text and "twice = " in text
    assert "effect_raw ~ Normal" in text and "y: the weight of each row" in text


def mistake(write, table):
    with pytest.raises(lehr.ModelError) as found:
        lehr.model(write).bind(table)
    line = write.__code__.co_firstlineno
    place = str(found.value).split(": ")[0]
    assert place.startswith("test_model.py:")
    assert line < int(place.split(":")[1]) < line + 12
    return str(found.value)


def test_control_flow_on_random_values_is_refused(table):
    def write(data):
        a = lehr.sample("a", dist.Normal(0.0, 1.0))
        if a > 0:
            a = -a

    assert "lehr.where" in mistake(write, table)


def test_mistakes_name_the_line_and_both_shapes(table):
    def wrong_shape(data):
        a = lehr.sample("a", dist.Normal(0.0, 1.0).expand([3]))
        with lehr.rows(data) as row:
            lehr.observe("y", dist.Normal(row["x"] @ a, 1.0), row["y"])

    words = mistake(wrong_shape, table)
    assert "[rows, 2]" in words and "[3]" in words

    def wrong_column(data):
        with lehr.rows(data) as row:
            lehr.observe("y", dist.Normal(row["zz"] * 2.0, 1.0), row["y"])

    assert 'did you mean "z"?' in mistake(wrong_column, table)

    def twice(data):
        lehr.sample("a", dist.Normal(0.0, 1.0))
        lehr.sample("a", dist.Normal(0.0, 1.0))

    assert "found it twice" in mistake(twice, table)

    def discrete(data):
        lehr.sample("a", dist.Poisson(1.0))

    assert "expected a continuous distribution" in mistake(discrete, table)

    def bad_scale(data):
        lehr.sample("a", dist.Normal(0.0, -1.0))

    assert "scale must be positive, found -1" in mistake(bad_scale, table)

    def no_number(data):
        float(lehr.sample("a", dist.Normal(0.0, 1.0)))

    assert "which has none while it is written" in mistake(no_number, table)

    def unknown_function(data):
        np.fft.fft(lehr.sample("a", dist.Normal(0.0, 1.0).expand([2])))

    assert "np.fft" in mistake(unknown_function, table)


def test_exceptions_of_the_function_are_its_own(table):
    def write(data):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        lehr.model(write).bind(table)


def test_sites_outside_a_model_are_refused(table):
    with pytest.raises(lehr.ModelError, match="inside a function under @lehr.model"):
        lehr.sample("a", dist.Normal(0.0, 1.0))
    with pytest.raises(lehr.LehrError, match="expected an observed column"):
        recorded(lambda data: lehr.sample("a", dist.Normal(0.0, 1.0)), table)
