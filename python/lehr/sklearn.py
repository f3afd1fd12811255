"""Estimators for scikit-learn: a regression of all columns of a design.

>>> import numpy as np
>>> from lehr.sklearn import LehrRegressor
>>> x = np.linspace(-1, 1, 60).reshape(-1, 1)
>>> model = LehrRegressor(method="full-rank").fit(x, 3 * x.ravel() + np.sin(19 * np.arange(60)))
>>> bool(abs(model.predict([[0.5]])[0] - 1.5) < 0.5)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from lehr._fitting import fit as fit_formula

Floats = npt.NDArray[np.float64]

RESPONSE = "y"


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: the columns of X are the columns x0, x1, … of a table."""

    def __init__(
        self,
        *,
        family: str | None = None,
        prior: Mapping[str, str] | None = None,
        method: str = "auto",
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.family = family
        self.prior = prior
        self.method = method
        self.seed = seed
        self.settings = settings

    def _table(self, x: Floats) -> dict[str, Any]:
        return {f"x{place}": np.ascontiguousarray(x[:, place]) for place in range(x.shape[1])}

    def _fit(self, x: Floats, y: Any, family: str) -> None:
        # A column that is the same in all rows is the intercept again.
        self._varying = [place for place in range(x.shape[1]) if np.ptp(x[:, place]) > 0]
        terms = [f"x{place}" for place in self._varying] or ["1"]
        table = self._table(x) | {RESPONSE: y}
        self.fit_ = fit_formula(
            f"{RESPONSE} ~ {' + '.join(terms)}",
            table,
            family=family,
            prior=self.prior,
            method=self.method,
            seed=self.seed,
            progress=False,
            **dict(self.settings or {}),
        )

    def _predicted(self, x: Any) -> Any:
        check_is_fitted(self)
        design = validate_data(self, x, reset=False, dtype=np.float64)
        return self.fit_.predict(self._table(design))


class LehrRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """A Bayesian regression of a number.

    Args:
        family: How the response is distributed: gaussian by default.
        prior: Priors of the columns x0, x1, … by name.
        method: The method; see :func:`lehr.methods`. By default the model and the table decide.
        seed: Where all randomness comes from.
        settings: Settings of the method.
    """

    def fit(self, X: Any, y: Any) -> LehrRegressor:  # noqa: N803 (as scikit-learn calls it)
        """Fit the regression; `fit_` is what :func:`lehr.fit` returns.

        Args:
            X: The design.
            y: The response.
        """
        form = {"dtype": np.float64, "y_numeric": True, "ensure_min_samples": 2}
        design, response = validate_data(self, X, y, **form)
        self._fit(design, np.asarray(response, dtype=np.float64), self.family or "gaussian")
        return self

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """Return the posterior mean of each row.

        Args:
            X: The design.
        """
        return np.asarray(self._predicted(X)[f"{RESPONSE}_mean"], dtype=np.float64)

    def predict_std(self, X: Any) -> Floats:  # noqa: N803
        """Return the predictive standard deviation of each row.

        Args:
            X: The design.
        """
        return np.asarray(self._predicted(X)[f"{RESPONSE}_sd"], dtype=np.float64)


class LehrClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """A Bayesian regression of classes: logistic for two, multinomial for more.

    Args:
        family: bernoulli or categorical; by default as many classes as there are decide.
        prior: Priors of the columns x0, x1, … by name.
        method: The method; see :func:`lehr.methods`. By default the model and the table decide.
        seed: Where all randomness comes from.
        settings: Settings of the method.
    """

    def fit(self, X: Any, y: Any) -> LehrClassifier:  # noqa: N803
        """Fit the regression; `fit_` is what :func:`lehr.fit` returns.

        Args:
            X: The design.
            y: The classes.
        """
        design, response = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(response)
        self.classes_ = unique_labels(response)
        if len(self.classes_) < 2:
            raise ValueError(f"y: expected at least two classes, found {len(self.classes_)} class")
        codes = np.searchsorted(self.classes_, response)
        family = self.family or ("bernoulli" if len(self.classes_) == 2 else "categorical")
        labels = codes.astype(np.float64) if family == "bernoulli" else codes.astype(str)
        self._fit(design, labels, family)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of each class in each row.

        Args:
            X: The design.
        """
        found = self._predicted(X)
        if len(self.classes_) == 2:
            one = np.asarray(found[f"{RESPONSE}_mean"], dtype=np.float64)
            return np.column_stack([1.0 - one, one])
        names = [f"{RESPONSE}[{code}]" for code in range(len(self.classes_))]
        shares: Floats = np.column_stack([np.asarray(found[name]) for name in names])
        return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the likeliest class of each row.

        Args:
            X: The design.
        """
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]
