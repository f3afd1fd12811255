"""Scikit-learn's own checks of the estimators."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from lehr.sklearn import LehrClassifier, LehrRegressor

ESTIMATORS = [LehrRegressor(method="full-rank"), LehrClassifier(method="full-rank")]


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS)
def test_the_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_predictions_have_a_spread():
    x = np.linspace(-1, 1, 80).reshape(-1, 1)
    noise = np.sin(23 * np.arange(80))
    model = LehrRegressor(method="full-rank").fit(x, 2 * x.ravel() + noise)
    assert np.allclose(model.predict_std(x), noise.std(), rtol=0.3)
    classes = np.where(x.ravel() + noise > 0, "up", "down")
    found = LehrClassifier(method="full-rank").fit(x, classes)
    assert set(found.predict(x)) == {"up", "down"}
    assert np.allclose(found.predict_proba(x).sum(axis=1), 1.0)
