"""Models as functions that name their sites."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lehr import _lehr, _option, _progress, _table
from lehr._fit import Fit
from lehr._lehr import Recorder
from lehr._progress import Listener
from lehr._table import Data
from lehr._value import Column, Value, asked, operand, refusal
from lehr.dist import Distribution, Normal

_running = threading.local()


def _recorder(what: str) -> Recorder:
    found: Recorder | None = getattr(_running, "recorder", None)
    if found is None:
        raise refusal(
            f"lehr.{what}: expected inside a function under @lehr.model, found outside\n"
            "  hint: call the function's fit, which runs it"
        )
    return found


class Table:
    """The table as a model function sees it: columns without rows."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def levels(self, column: str) -> int:
        """Return how many levels a column has.

        Args:
            column: A category, or whole numbers from 0 on.
        """
        return asked(self._recorder.levels, column)


class Rows:
    """The rows of the table, all at once: a column is an array with one entry per row."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __getitem__(self, column: str) -> Column:
        return Column(self._recorder, column)

    def number(self, column: str) -> Column:
        """Return a column of one number per row."""
        return Column(self._recorder, column, "number")

    def matrix(self, column: str) -> Column:
        """Return a column of several numbers per row."""
        return Column(self._recorder, column, "matrix")

    def index(self, column: str) -> Column:
        """Return a column that indexes arrays."""
        return Column(self._recorder, column)

    def offset(self, column: str) -> Column:
        """Return a column that is added to a predictor as it is."""
        return Column(self._recorder, column, "offset")

    def weight(self, column: str) -> None:
        """Multiply the log likelihood of each row by a column."""
        asked(self._recorder.weight, column)


def sample(name: str, distribution: Distribution) -> Value:
    """Return a latent with this prior.

    Args:
        name: Its name.
        distribution: Its prior, from :mod:`lehr.dist`.
    """
    recorder = _recorder("sample")
    return Value(recorder, asked(recorder.sample, name, distribution._law()))


def local(name: str, distribution: Distribution) -> Value:
    """Return a latent of each row's own with this prior, inside :func:`lehr.rows`.

    Args:
        name: Its name.
        distribution: Its prior.
    """
    recorder = _recorder("local")
    return Value(recorder, asked(recorder.local, name, distribution._law()))


def param(name: str, start: Any, support: str = "real", *bounds: float) -> Value:
    """Return a parameter: not random, learned from a start on.

    Args:
        name: Its name.
        start: A number or an array, which gives the parameter its shape.
        support: Where it lies: real, positive, unit_interval, lower, upper, interval, simplex,
            ordered, cholesky_correlation or cholesky_covariance.
        *bounds: The numbers of the support, such as the two ends of an interval.
    """
    recorder = _recorder("param")
    given = (support, [float(bound) for bound in bounds])
    return Value(recorder, asked(recorder.param, name, operand(start), given))


def deterministic(name: str, value: Any) -> Value:
    """Give a quantity a name, under which draws of the posterior come with it.

    Args:
        name: Its name.
        value: A value of the model.
    """
    recorder = _recorder("deterministic")
    return Value(recorder, asked(recorder.deterministic, name, operand(value)))


def factor(name: str, value: Any) -> None:
    """Add a term to the log prior.

    Args:
        name: Its name.
        value: One number, such as ``dist.Normal(0, 1).log_prob(x)``.
    """
    recorder = _recorder("factor")
    asked(recorder.factor, name, operand(value))


def group_effect(name: str, groups: int, scale: Any) -> Value:
    """Return effects of groups, N(0, scale²) each, as the scale times standard normals.

    Args:
        name: The name of the effects; the standard normals are called `<name>_raw`.
        groups: How many groups.
        scale: Their standard deviation.
    """
    raw = sample(f"{name}_raw", Normal(0.0, 1.0).expand([groups]))
    return deterministic(name, raw * scale)


@contextmanager
def rows(data: Table) -> Iterator[Rows]:
    """Enter what each row contributes.

    Args:
        data: What the model function was given.
    """
    recorder = data._recorder
    asked(recorder.enter_rows)
    yield Rows(recorder)
    asked(recorder.leave_rows)


def observe(name: str, distribution: Distribution, column: Column | None = None) -> None:
    """State that a column is drawn from a distribution, one draw per row.

    Args:
        name: The column, unless it is given.
        distribution: Its law, from :mod:`lehr.dist`.
        column: The column, such as ``row["y"]``.
    """
    recorder = _recorder("observe")
    if column is not None and not isinstance(column, Column):
        raise refusal(
            f"observe {name!r}: expected a column such as row[{name!r}], "
            f"found {type(column).__name__}"
        )
    asked(recorder.observe, name if column is None else column.name, distribution._law())


class Model:
    """A model function; :func:`lehr.model` makes it."""

    def __init__(self, function: Callable[[Table], object]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", "model")
        self._bound: _lehr.BoundModel | None = None

    def __call__(self, data: Table) -> object:
        """Run the function inside another model function."""
        return self.function(data)

    def bind(self, data: Data, **reading: Any) -> _lehr.BoundModel:
        """Record the function for a table; its string is the program.

        Args:
            data: The table, as in :func:`lehr.fit`.
            **reading: How it is read.
        """
        source = _table.source(data, None)
        self._bound = _lehr.record(self._recorded, source, _option.reading(reading))
        return self._bound

    def _recorded(self, recorder: Recorder) -> None:
        before = getattr(_running, "recorder", None)
        _running.recorder = recorder
        try:
            self.function(Table(recorder))
        finally:
            _running.recorder = before

    def fit(
        self,
        data: Data,
        *,
        method: str = "auto",
        seed: int = 0,
        draws: int | None = None,
        threads: int | None = None,
        output: str | os.PathLike[str] | None = None,
        resume: bool | str | os.PathLike[str] = False,
        restart: bool = False,
        checkpoint_every: float = 10.0,
        progress: bool | Listener | None = None,
        **options: Any,
    ) -> Fit:
        """Fit the model to a table.

        Args:
            data: The table, as in :func:`lehr.fit`, like all other arguments.
            method: The method.
            seed: Where all randomness comes from.
            draws: Draws that the result is judged and summarised by.
            threads: How many threads.
            output: Where the fit is saved.
            resume: Continue an unfinished fit.
            restart: Start anew although there is an unfinished fit.
            checkpoint_every: Seconds between checkpoints.
            progress: Whether to show how far it is.
            **options: Settings of the method, and how the table is read.
        """
        read = {name: value for name, value in options.items() if name in _option.READING}
        reading, settings = _option.split(options)
        keeping = _option.Keeping.of(output, resume, restart, checkpoint_every)
        bound = self.bind(data, **read)
        how = _option.how([method], settings, draws, seed, threads) | keeping.how()
        told = _progress.listener("fit", progress)
        with keeping.kept(told):
            made = Fit(bound.fit(_option.watched(how, told))[0], data, reading)
        return keeping.done(made)

    def __repr__(self) -> str:
        return f"<model {self.__name__}>"

    def __str__(self) -> str:
        if self._bound is None:
            return f"<model {self.__name__}, not yet recorded: bind or fit it>"
        return str(self._bound)


def model(function: Callable[[Table], object]) -> Model:
    """Make a model of a function that names its sites.

    The function runs once, when the model is bound to a table.

    >>> import lehr, numpy as np
    >>> from lehr import dist
    >>> @lehr.model
    ... def line(data):
    ...     slope = lehr.sample("slope", dist.Normal(0.0, 1.0))
    ...     with lehr.rows(data) as row:
    ...         lehr.observe("y", dist.Normal(slope * row["x"], 1.0), row["y"])
    >>> x = np.linspace(-1, 1, 50)
    >>> print(line.bind({"x": x, "y": 2 * x}))
    slope ~ Normal(loc = 0, scale = 1)
    y ~ Normal(loc = slope * x, scale = 1) in each row

    Args:
        function: It takes the table and names sites with :func:`lehr.sample` and its like.
    """
    return Model(function)
