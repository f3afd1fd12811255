"""A fit: its verdict, its numbers, and what can be asked of it."""

from __future__ import annotations

import html
import json
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lehr import _arviz, _lehr, _loo, _mapped, _option, _progress, _ray, _table
from lehr._check import Check
from lehr._comparison import Comparison
from lehr._kept import Kept
from lehr._loo import Loo
from lehr._progress import Listener
from lehr._ray import Cluster
from lehr._table import Data
from lehr._verdict import Estimate, Verdict, rounded

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("lehr")

COLUMNS = ["mean", "sd", "q5", "q50", "q95"]


class Fit(Kept):
    """What a fit leaves: :func:`lehr.fit` and :func:`lehr.load` make it."""

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
    def program(self) -> str:
        """The recorded model, as :func:`print` shows that of a model function."""
        return str(self._facts["program"])

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

    def draws(
        self,
        groups: bool = False,
        raw: bool = False,
        *,
        locals: Sequence[int] = (),
        data: Data | None = None,
        **reading: Any,
    ) -> pd.DataFrame:
        """Return posterior draws, a row to a draw.

        Args:
            groups: Whether the effects of single groups are among them.
            raw: As they were drawn, with their log weights; by default all count the same.
            locals: Rows of the table, counted from 1, whose own latents are among them.
            data: The table that was fitted; by default the one that was given to the fit.
            **reading: How the table is read.
        """
        import pandas as pd

        drawn = self._native.draws(groups, "raw" if raw else "even")
        if locals:
            if raw:
                raise _lehr.LehrError("locals: expected draws that count the same, found raw=True")
            source, options = self._fitted(data, reading)
            drawn += self._native.local_draws(source, options, list(locals))
        return pd.DataFrame(dict(drawn))

    def predict(
        self,
        data: Data,
        *,
        new_levels: str = "refuse",
        quantiles: Sequence[float] = (5, 95),
        responses: int = 0,
        parameter: str | Sequence[str] = (),
        level: str = "groups",
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
            new_levels: Whether groups that were not fitted are refused, or drawn ("sample");
                "reference" also takes a new level of a factor for its first one.
            quantiles: The quantiles of the mean and of an observation, in percent.
            responses: So many draws of each row's response, as `y_draw1`, `y_draw2`, …
            parameter: Parameters of the family, such as ``"sigma"``, or ``"predictor"``.
            level: ``"groups"``, or ``"population"``, which leaves the effects of groups out.
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
        by = _option.forecast(
            new_levels=new_levels,
            quantiles=quantiles,
            responses=responses,
            parameter=parameter,
            level=level,
            draws=draws,
            seed=seed,
        )
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
        return _table.frame(dict(self._native.predict(source, options, by)), data)

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
        by = _option.forecast(new_levels=new_levels, draws=draws, seed=seed)
        source, options = self._source(data, self._facts["predictor_columns"], reading)
        return np.stack(self._native.predictive_draws(source, options, by))

    def evaluate(
        self,
        data: Data,
        *,
        new_levels: str = "refuse",
        level: str = "groups",
        draws: int = 256,
        seed: int = 0,
        cluster: str | Cluster | None = None,
        **reading: Any,
    ) -> dict[str, Any]:
        """Judge the fit on rows it has not seen.

        Args:
            data: The rows with the response, as in :func:`lehr.fit`.
            new_levels: Whether groups that were not fitted are refused, or drawn ("sample").
            level: ``"groups"``, or ``"population"``, which leaves the effects of groups out.
            draws: Draws to judge by.
            seed: Where random numbers come from.
            cluster: Judge by the rows of Parquet files on Ray, as in :func:`lehr.fit`.
            **reading: How the table is read.

        Returns:
            The mean log likelihood, accuracy or rmse, and the calibration of probabilities.
        """
        import pandas as pd

        by = _option.forecast(new_levels=new_levels, level=level, draws=draws, seed=seed)
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
        refit: int = 0,
        folds: int | None = None,
        folds_by: str | None = None,
        cluster: str | Cluster | None = None,
        **reading: Any,
    ) -> Loo:
        """Estimate how well the fit predicts rows it has not seen, by PSIS-LOO.

        Args:
            data: The table that was fitted; by default the one that was given to the fit.
            subsample: How many rows are left out; by default all of up to 100,000, else 5,000.
            seed: Where random numbers come from.
            refit: Fit again without each row whose k is too high, at most so many.
            folds: Fit again without each of so many parts of the table, in the place of PSIS.
            folds_by: Rows that share a value of this column are in one part.
            cluster: Leave rows of Parquet files out on Ray, as in :func:`lehr.fit`.
            **reading: How the table is read.
        """
        sampling = {"subsample": subsample, "seed": seed}
        again = _loo.fitting(sampling, refit, folds, folds_by)
        if cluster is None:
            source, options = self._fitted(data, reading, [folds_by] if folds_by else [])
            summary, rows = _lehr.loo(self._native, source, options, sampling, again)
        elif refit or folds:
            raise _lehr.LehrError("refit, folds: expected no cluster for further fits, found one")
        else:
            table, own = self._fitted_data(data, reading)
            found = _ray.leave_out({"": self}, table, _ray.Cluster.of(cluster), (own, sampling))
            summary, rows = _lehr.loo_parts([("", self._native)], *found)
        return Loo(json.loads(summary), rows, folds)

    def check(
        self,
        data: Data | None = None,
        *,
        against: str | None = None,
        simulate: bool = False,
        simulations: int = 20,
        simulation_rows: int = 1000,
        simulation_iterations: int | None = None,
        progress: bool | Listener | None = None,
        **reading: Any,
    ) -> Check:
        """Return the diagnostics at length.

        Args:
            data: The table that was fitted; by default the one that was given to the fit.
            against: Compare with chains on all rows: ``"nuts"``, ``"hmc"`` or
                ``"surrogate-hmc"``.
            simulate: Fit data sets drawn from the prior on the covariates of the table: ranks of
                what made them are uniform if the method is calibrated.
            simulations: How many data sets.
            simulation_rows: Rows of each at the most.
            simulation_iterations: Training steps of each fit; by default until the bound is level.
            progress: Whether to show how far it is.
            **reading: How the table is read.
        """
        found = Check.of(self._native)
        if against is None and not simulate:
            return found
        source, options = self._fitted(data, reading)
        with _progress.told("check", progress) as told:
            if against is not None:
                found.add_chains(self._native, (source, options), against, told)
            if simulate:
                sizes = (simulations, simulation_rows, simulation_iterations)
                found.add_ranks(self._native, (source, options), sizes, told)
        return found

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
        constant = _arviz.constant(rows, self._facts["predictor_columns"], found)
        return _arviz.inference_data(found, dict(attributes), constant)

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
        table = rounded(self.coefficients).to_html(index_names=False)
        words = html.escape(verdict.level.replace("-", " "))
        return (
            f"<p><code>{html.escape(self._head())}</code></p>"
            f'<p><strong style="color: {color}">{words}</strong>: '
            f"{html.escape(verdict.sentence)}</p>{f'<ul>{hints}</ul>' if hints else ''}{table}"
        )


def _listing(rows: Sequence[tuple[str, Sequence[float]]], what: str) -> pd.DataFrame:
    import pandas as pd

    index = pd.Index([name for name, _ in rows], name=what)
    return pd.DataFrame([numbers for _, numbers in rows], index=index, columns=COLUMNS)


def _estimate(found: tuple[float, float] | None) -> Estimate | None:
    return None if found is None else Estimate(*found)
