"""A fit: its verdict, its numbers, and what can be asked of it."""

from __future__ import annotations

import html
import json
import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lehr import _arviz, _lehr, _mapped, _option, _ray, _table
from lehr._ray import Cluster
from lehr._table import Data

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("lehr")

COLUMNS = ["mean", "sd", "q5", "q50", "q95"]


@dataclass(frozen=True)
class Verdict:
    """Whether to rely on a fit."""

    level: str
    """`reliable`, `corrected`, `look-again` or `do-not-trust`, as in the command's JSON."""
    sentence: str
    """Why."""
    advice: Sequence[str] = field(default=())
    """What could be done."""
    is_trusted: bool = True
    """Whether no diagnostic warns."""

    def __str__(self) -> str:
        hints = "".join(f"\n  hint: {hint}" for hint in self.advice)
        return f"{self.level.replace('-', ' ')}: {self.sentence}{hints}"


@dataclass(frozen=True)
class Estimate:
    """A number with its Monte Carlo standard error."""

    mean: float
    error: float

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.error:.2f}"


class Fit:
    """What a fit leaves: :func:`lehr.fit` and :func:`lehr.load` make it."""

    def __init__(self, native: _lehr.Fit, data: Data | None, reading: Mapping[str, Any]) -> None:
        self._native = native
        self._data = data
        self._reading = dict(reading)
        self._facts = native.facts

    @property
    def verdict(self) -> Verdict:
        """Whether to rely on these numbers, why, and what could be done."""
        level, sentence, advice = self._native.verdict
        return Verdict(level, sentence, tuple(advice), self._native.is_trusted)

    @property
    def elbo(self) -> Estimate | None:
        """The bound on the log evidence; None for Markov chains."""
        return _estimate(self._native.elbo)

    @property
    def evidence(self) -> Estimate | None:
        """The log evidence, estimated by importance weights; None for Markov chains."""
        return _estimate(self._native.evidence)

    @property
    def khat(self) -> float | None:
        """The shape k of the weights' tail; None of equal weights and for Markov chains."""
        return self._native.khat

    @property
    def coefficients(self) -> pd.DataFrame:
        """Mean, standard deviation and quantiles of each coefficient, on its original scale."""
        return self.summary()

    @property
    def method(self) -> str:
        """The method."""
        return str(self._facts["method"])

    @property
    def formula(self) -> str | None:
        """The formula; None for a model function."""
        found = self._facts["formula"]
        return None if found is None else str(found)

    @property
    def family(self) -> str | None:
        """The family; None for a model function."""
        found = self._facts["family"]
        return None if found is None else str(found)

    @property
    def notes(self) -> list[str]:
        """What should be known of the data: classes, columns left out, outliers."""
        return list(self._facts["notes"])

    @property
    def facts(self) -> dict[str, Any]:
        """Everything else that is known of the fit, by name."""
        return dict(self._facts)

    def summary(self, groups: bool = False) -> pd.DataFrame:
        """List the coefficients.

        Args:
            groups: Whether to list the effects of single groups, too.
        """
        return _listing(self._native.coefficients(groups), "coefficient")

    def draws(self, groups: bool = False, raw: bool = False) -> pd.DataFrame:
        """Return posterior draws, a row to a draw.

        Args:
            groups: Whether the effects of single groups are among them.
            raw: As they were drawn, with their log weights; by default all count the same.
        """
        import pandas as pd

        return pd.DataFrame(dict(self._native.draws(groups, "raw" if raw else "even")))

    def predict(
        self,
        data: Data,
        *,
        new_levels: str = "refuse",
        draws: int = 200,
        seed: int = 0,
        keep: Sequence[str] = (),
        cluster: str | Cluster | None = None,
        output: str | os.PathLike[str] | None = None,
        **reading: Any,
    ) -> Any:
        """Predict the rows of a table, which need not have the response.

        For a number `y` the columns are `y_mean`, `y_mean_sd`, `y_mean_q5`, `y_mean_q95` (the
        posterior of the mean), `y_sd`, `y_q5`, `y_q95` (the predictive distribution); for classes
        `y_class`, the likeliest, and `y[class]`, the probability of each.

        Args:
            data: The rows, as in :func:`lehr.fit`, or a data set of Ray or Dask.
            new_levels: Whether groups that were not fitted are refused, or drawn ("sample").
            draws: Draws to predict with.
            seed: Where the predictive draws come from.
            keep: Columns of a Ray or Dask data set that stand before the predictions.
            cluster: Predict the rows of Parquet files on Ray, as in :func:`lehr.fit`.
            output: On a cluster, the folder that predictions are written to.
            **reading: How the table is read, as in :func:`lehr.fit`.

        Returns:
            A data frame, of polars if the rows came in one; a data set of Ray or Dask, which
            predicts when it is asked for its rows; on a cluster the files that were written, one
            for each partition and in the order of the rows.
        """
        by = {"new_levels": new_levels, "draws": draws, "seed": seed}
        if _mapped.is_divided(data):
            return _mapped.predict(self, data, keep, {**by, **reading})
        if keep:
            raise _lehr.LehrError(
                "keep: expected a data set of Ray or Dask, found another table\n"
                "  hint: predictions come in the order of the rows; join them to their columns"
            )
        if cluster is not None:
            if output is None:
                raise _lehr.LehrError(
                    "output: expected a folder for predictions made on a cluster, found none\n"
                    '  hint: output="predictions"'
                )
            asked = (dict(_option.reading(reading)), by)
            return _ray.predict(self, data, Path(output), _ray.Cluster.of(cluster), asked)
        source, options = self._source(data, self._facts["predictor_columns"], reading)
        return _frame(dict(self._native.predict(source, options, by)), data)

    def predictive_draws(
        self,
        data: Data,
        *,
        new_levels: str = "refuse",
        draws: int = 200,
        seed: int = 0,
        **reading: Any,
    ) -> npt.NDArray[np.float64]:
        """Return responses of each row, drawn anew: draws × rows.

        Args:
            data: The rows, as in :func:`lehr.fit`.
            new_levels: Whether groups that were not fitted are refused, or drawn ("sample").
            draws: How many draws.
            seed: Where they come from.
            **reading: How the table is read.
        """
        by = {"new_levels": new_levels, "draws": draws, "seed": seed}
        source, options = self._source(data, self._facts["predictor_columns"], reading)
        return np.stack(self._native.predictive_draws(source, options, by))

    def evaluate(
        self,
        data: Data,
        *,
        new_levels: str = "refuse",
        draws: int = 256,
        seed: int = 0,
        cluster: str | Cluster | None = None,
        **reading: Any,
    ) -> dict[str, Any]:
        """Judge the fit on rows it has not seen.

        Args:
            data: The rows with the response, as in :func:`lehr.fit`.
            new_levels: Whether groups that were not fitted are refused, or drawn ("sample").
            draws: Draws to judge by.
            seed: Where random numbers come from.
            cluster: Judge by the rows of Parquet files on Ray, as in :func:`lehr.fit`.
            **reading: How the table is read.

        Returns:
            The mean log likelihood, accuracy or rmse, and the calibration of probabilities.
        """
        import pandas as pd

        by = {"new_levels": new_levels, "draws": draws, "seed": seed}
        if cluster is None:
            source, options = self._source(data, self._facts["columns"], reading)
            scores = self._native.evaluate(source, options, by)
        else:
            asked = (dict(_option.reading(reading)), by)
            scores = _ray.evaluate(self, data, _ray.Cluster.of(cluster), asked)
        columns = ["predicted", "observed", "low", "high", "count"]
        scores["calibration"] = pd.DataFrame(scores["calibration"], columns=columns)
        return scores

    @property
    def explained(self) -> pd.DataFrame:
        """Shares of variance: R² with and without effects of groups, intraclass correlations."""
        return _listing(self._native.explained(), "share")

    def effects(
        self,
        variable: str,
        data: Data | None = None,
        *,
        at: Mapping[str, object] | None = None,
        by: str | None = None,
        contrast: str | Sequence[str] = (),
        scale: str = "response",
        points: int = 5,
        level: str | None = None,
        new_levels: str = "refuse",
        draws: int = 400,
        **reading: Any,
    ) -> pd.DataFrame:
        """Return what a column does to the response: predictions, contrasts, slopes.

        With a table, every row is predicted with the column set to a value, and the predictions
        are averaged, as R's marginaleffects defines them. Without one they are conditional on the
        reference: numbers at their mean, levels at their commonest, effects of groups at 0.

        Args:
            variable: The column whose effect is asked for.
            data: The rows to average over, as in :func:`lehr.fit`.
            at: Columns that are held at a value.
            by: A column by whose values rows are averaged apart.
            contrast: Values to compare, such as ``"night - day"``.
            scale: ``"response"``, ``"link"`` or ``"odds"``.
            points: At how many values a number is predicted.
            level: ``"groups"`` or ``"population"``; by default groups with a table.
            new_levels: Whether groups that were not fitted are refused, or drawn ("sample").
            draws: Draws to use.
            **reading: How the table is read.

        Returns:
            A row for each effect: its kind, name, mean, sd and quantiles.
        """
        import pandas as pd

        asked = {
            "variable": variable,
            "at": [(name, str(value)) for name, value in (at or {}).items()],
            "by": by,
            "contrasts": [contrast] if isinstance(contrast, str) else list(contrast),
            "scale": scale,
            "points": points,
            "level": level,
            "new_levels": new_levels,
            "draws": draws,
        }
        source, options = None, dict(_option.reading(reading))
        if data is not None:
            wanted = [*self._facts["predictor_columns"], *([by] if by else [])]
            source, options = self._source(data, wanted, reading)
        answer = json.loads(_lehr.effects(self._native, source, options, asked))
        frame = pd.DataFrame(answer.pop("effects")).drop(columns="quartiles", errors="ignore")
        frame.attrs.update(answer)
        return frame

    def loo(
        self,
        data: Data | None = None,
        *,
        subsample: int | None = None,
        seed: int = 0,
        cluster: str | Cluster | None = None,
        **reading: Any,
    ) -> Loo:
        """Estimate how well the fit predicts rows it has not seen, by PSIS-LOO.

        Args:
            data: The table that was fitted; by default the one that was given to the fit.
            subsample: How many rows are left out; by default all of up to 100,000, else 5,000.
            seed: Where random numbers come from.
            cluster: Leave rows of Parquet files out on Ray, as in :func:`lehr.fit`.
            **reading: How the table is read.
        """
        sampling = {"subsample": subsample, "seed": seed}
        if cluster is None:
            source, options = self._fitted(data, reading)
            summary, rows = _lehr.loo(self._native, source, options, sampling)
        else:
            table, own = self._fitted_data(data, reading)
            found = _ray.leave_out({"": self}, table, _ray.Cluster.of(cluster), (own, sampling))
            summary, rows = _lehr.loo_parts([("", self._native)], *found)
        return Loo(json.loads(summary), rows)

    def _fitted(
        self, data: Data | None, reading: Mapping[str, Any]
    ) -> tuple[_lehr.Source, dict[str, Any]]:
        """Return the table that was fitted as the engine takes it, and how it is read."""
        rows, options = self._fitted_data(data, reading)
        wanted = self._facts["columns"]
        return _table.source(rows, lambda names: [n for n in names if n in wanted]), options

    def _fitted_data(
        self, data: Data | None, reading: Mapping[str, Any]
    ) -> tuple[Data, dict[str, Any]]:
        """Return the table that was fitted, and how it is read."""
        if data is not None:
            return data, _option.reading(reading)
        if self._data is None:
            raise _lehr.LehrError(
                "data: expected the table that was fitted, found none\n"
                "  hint: a fit that was loaded does not have it; give it as data"
            )
        return self._data, dict(self._reading)

    def compare(self, *others: Fit, test: Data | None = None) -> Comparison:
        """Compare this fit with others.

        Args:
            *others: Fits of the same table.
            test: Held-out rows to judge each by.
        """
        return Comparison([self, *others], test)

    def response(self, name: str) -> Fit:
        """Return the fit of one response of several.

        Its draws are those of the whole fit. It predicts, scores, reports and tells effects as
        any fit of one response does.

        Args:
            name: The response, such as ``"y1"`` of ``mvbind(y1, y2) ~ x``.
        """
        return Fit(self._native.response(name), self._data, self._reading)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML page about the fit.

        Args:
            path: The page.
        """
        self._native.report(os.fspath(path))

    def to_arviz(self, data: Data | None = None, *, groups: bool = True) -> Any:
        """Return the draws for ArviZ: `InferenceData`, or a `DataTree` in ArviZ 1.

        The groups are posterior and sample_stats and, where the table is at hand, observed_data,
        posterior_predictive, log_likelihood and constant_data.

        Args:
            data: The table that was fitted; by default the one that was given to the fit.
            groups: Whether the effects of single groups are among the draws.
        """
        rows = self._data if data is None else data
        source, reading = None, self._reading
        if rows is not None:
            source, reading = self._source(rows, self._facts["columns"], self._reading)
        found, attributes, left_out = self._native.arviz(source, reading, groups)
        for sentence in left_out:
            logger.info(sentence)
        constant = _constant(rows, self._facts["predictor_columns"], found)
        return _arviz.inference_data(found, dict(attributes), constant)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fit; the command and :func:`lehr.load` read it.

        Args:
            path: The file, such as ``fit.lehr``.
        """
        self._native.save(os.fspath(path))

    def __getstate__(self) -> dict[str, Any]:
        """Return the saved file and how tables are read, without the table."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fit.lehr"
            self.save(path)
            return {"file": path.read_bytes(), "reading": self._reading}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Read the saved file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fit.lehr"
            path.write_bytes(state["file"])
            native = _lehr.Fit.load(str(path))
        Fit.__init__(self, native, None, state["reading"])

    def _source(
        self, data: Data, wanted: Sequence[str], reading: Mapping[str, Any]
    ) -> tuple[_lehr.Source, dict[str, Any]]:
        source = _table.source(data, lambda names: [n for n in names if n in wanted])
        options = reading if reading is self._reading else _option.reading(reading)
        return source, dict(options)

    def __repr__(self) -> str:
        return f"{self._head()}\n{self._native.text()}"

    def _head(self) -> str:
        title = self.formula or "a model of " + str(self._facts["response"])
        return f"{title}, {self.method}, {self._facts['n_rows']} rows"

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        verdict = self.verdict
        color = "#1a7f37" if verdict.is_trusted else "#9a6700"
        if verdict.level == "do-not-trust":
            color = "#cf222e"
        hints = "".join(f"<li>{html.escape(hint)}</li>" for hint in verdict.advice)
        table = self.coefficients.to_html(float_format=_digits)
        words = html.escape(verdict.level.replace("-", " "))
        return (
            f"<p><code>{html.escape(self._head())}</code></p>"
            f'<p><strong style="color: {color}">{words}</strong>: '
            f"{html.escape(verdict.sentence)}</p>{f'<ul>{hints}</ul>' if hints else ''}{table}"
        )


class Loo:
    """How well a fit predicts rows it has not seen: :meth:`Fit.loo` makes it."""

    def __init__(
        self, summary: Mapping[str, Any], rows: tuple[list[int], list[float], list[float]]
    ) -> None:
        self.facts = dict(summary)
        """Everything that is known of it, by the names of the command's JSON."""
        self._rows = rows

    @property
    def elpd(self) -> Estimate:
        """Σ log p(yₙ | the other rows), with its error as a statement about further rows."""
        found = self.facts["elpd_loo"]
        return Estimate(found["estimate"], found["se"])

    @property
    def p_loo(self) -> float:
        """The effective number of parameters."""
        return float(self.facts["p_loo"])

    @property
    def rows(self) -> pd.DataFrame:
        """The elpd and the tail shape k of each row that was left out."""
        import pandas as pd

        places, elpd, shapes = self._rows
        return pd.DataFrame({"elpd": elpd, "k": shapes}, index=pd.Index(places, name="row"))

    def __repr__(self) -> str:
        facts = self.facts
        return (
            f"elpd_loo {self.elpd}, p_loo {self.p_loo:.2f}, "
            f"{facts['n_high_k']} of {facts['n_left_out']} rows with k above "
            f"{facts['k_threshold']:.2f}"
        )


def loo_compare(
    fits: Mapping[str, Fit] | Sequence[Fit],
    data: Data | None = None,
    *,
    subsample: int | None = None,
    seed: int = 0,
    cluster: str | Cluster | None = None,
    **reading: Any,
) -> pd.DataFrame:
    """Compare models of one table by the same rows left out of each.

    Args:
        fits: The models, by name or in a list.
        data: The table that was fitted; by default the one that was given to the first fit.
        subsample: How many rows are left out, as in :meth:`Fit.loo`.
        seed: Where random numbers come from.
        cluster: Leave rows of Parquet files out on Ray, as in :func:`lehr.fit`.
        **reading: How the table is read.

    Returns:
        The best model first: elpd, the difference to the best with its paired error, the stacking
        weight, and the log evidence where it can be compared.
    """
    import pandas as pd

    if isinstance(fits, Mapping):
        named = dict(fits)
    else:
        named = {f"{place + 1}: {one.formula or one.method}": one for place, one in enumerate(fits)}
    if len(named) < 2:
        raise _lehr.LehrError(f"fits: expected two models or more, found {len(named)}")
    rows, own = next(iter(named.values()))._fitted_data(data, reading)
    sampling = {"subsample": subsample, "seed": seed}
    pairs = _ray.native(list(named.items()))
    if cluster is None:
        wanted = {name for one in named.values() for name in one._facts["columns"]}
        source = _table.source(rows, lambda names: [n for n in names if n in wanted])
        answer = json.loads(_lehr.compare_left_out(pairs, source, own, sampling))
    else:
        found = _ray.leave_out(named, rows, _ray.Cluster.of(cluster), (own, sampling))
        answer = json.loads(_lehr.compare_parts(pairs, *found))
    for note in answer["notes"]:
        logger.info(note)
    columns = {
        "model": [one["model"] for one in answer["models"]],
        "elpd": [one["elpd_loo"]["estimate"] for one in answer["models"]],
        "elpd_se": [one["elpd_loo"]["se"] for one in answer["models"]],
        "difference": [one["difference"]["estimate"] for one in answer["models"]],
        "difference_se": [one["difference"]["se"] for one in answer["models"]],
        "p_loo": [one["p_loo"] for one in answer["models"]],
        "weight": [one["stacking_weight"] for one in answer["models"]],
        "log_evidence": [one.get("log_evidence") for one in answer["models"]],
        "n_high_k": [one["n_high_k"] for one in answer["models"]],
    }
    index = pd.Index([one["name"] for one in answer["models"]], name="name")
    return pd.DataFrame(columns, index=index).dropna(axis=1, how="all")


class Comparison:
    """Fits of one table side by side."""

    def __init__(self, fits: Sequence[Fit], test: Data | None = None) -> None:
        self.fits = list(fits)
        self.test = [None if test is None else _score(one, test) for one in fits]

    @property
    def table(self) -> pd.DataFrame:
        """The bound, its error, seconds, the score on held-out rows and k of each fit."""
        import pandas as pd

        rows = []
        for one, test in zip(self.fits, self.test, strict=True):
            method, numbers, score, shape = one._native.comparison(test)
            rows.append((method, *numbers, score, shape, one.verdict.level))
        names = ["bound", "bound_error", "seconds", "test_log_likelihood", "khat", "verdict"]
        frame = pd.DataFrame(rows, columns=["method", *names]).set_index("method")
        return frame.dropna(axis=1, how="all")

    def __getitem__(self, method: str) -> Fit:
        for one in self.fits:
            if one.method == method:
                return one
        raise KeyError(method)

    def __iter__(self) -> Any:
        return iter(self.fits)

    def __repr__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return str(self.table.to_html(float_format=_digits))


def _digits(number: float) -> str:
    """Three digits, but never fewer than two decimals of a large number.

    >>> _digits(-11903.1234), _digits(0.0012345)
    ('-11903.12', '0.00123')
    """
    return f"{number:.2f}" if abs(number) >= 100 else f"{number:.3g}"


def _listing(rows: Sequence[tuple[str, Sequence[float]]], what: str) -> pd.DataFrame:
    import pandas as pd

    index = pd.Index([name for name, _ in rows], name=what)
    return pd.DataFrame([numbers for _, numbers in rows], index=index, columns=COLUMNS)


def _score(fit: Fit, test: Data) -> float:
    return float(fit.evaluate(test)["log_likelihood_per_row"])


def _estimate(found: tuple[float, float] | None) -> Estimate | None:
    return None if found is None else Estimate(*found)


def _frame(columns: dict[str, Any], like: Data) -> Any:
    if _table.is_polars(like):
        import polars as pl

        return pl.DataFrame(columns)
    import pandas as pd

    index = like.index if _table.is_pandas(like) else None
    if index is not None and any(len(values) != len(index) for values in columns.values()):
        index = None
    return pd.DataFrame(columns, index=index)


def _constant(
    data: Data | None, names: Sequence[str], found: Sequence[tuple[str, Any]]
) -> dict[str, Any]:
    """The predictors of each row, where the rows are at hand and as many as were observed."""
    rows = [v[2].size for group, values in found if group == "observed_data" for v in values]
    if not rows or data is None or not hasattr(data, "__getitem__") or isinstance(data, str):
        return {}
    held = {name: np.asarray(data[name]) for name in names if name in _keys(data)}
    return {name: values for name, values in held.items() if values.shape == (rows[0],)}


def _keys(data: Data) -> Sequence[str]:
    keys = data.keys() if hasattr(data, "keys") else getattr(data, "columns", ())
    return [str(key) for key in keys] if not callable(keys) else ()
