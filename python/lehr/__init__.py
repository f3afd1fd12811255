"""Bayesian inference for tables too large for MCMC.

A formula and a table in; posterior draws, a bound on the log evidence and a verdict out.

>>> import lehr
>>> import numpy as np
>>> x = np.linspace(-1, 1, 200)
>>> y = 2 * x + np.sin(37 * np.arange(200))
>>> fit = lehr.fit("y ~ x", {"x": x, "y": y}, method="full-rank", progress=False)
>>> bool(abs(fit.coefficients.loc["x", "mean"] - 2) < 0.3)
True
"""

from lehr import dist
from lehr._fit import Comparison, Estimate, Fit, Loo, Verdict, loo_compare
from lehr._fitting import compare, fit, load, methods
from lehr._lehr import Interrupted, LehrError, __version__
from lehr._model import (
    Model,
    Table,
    deterministic,
    factor,
    group_effect,
    local,
    model,
    observe,
    param,
    rows,
    sample,
)
from lehr._ray import Cluster
from lehr._value import ModelError, where

__all__ = [
    "Cluster",
    "Comparison",
    "Estimate",
    "Fit",
    "Interrupted",
    "LehrError",
    "Loo",
    "Model",
    "ModelError",
    "Table",
    "Verdict",
    "__version__",
    "compare",
    "deterministic",
    "dist",
    "factor",
    "fit",
    "group_effect",
    "load",
    "local",
    "loo_compare",
    "methods",
    "model",
    "observe",
    "param",
    "rows",
    "sample",
    "where",
]
