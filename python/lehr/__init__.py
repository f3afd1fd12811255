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
from lehr._check import Check
from lehr._comparison import Comparison
from lehr._fit import Fit
from lehr._fitting import Priors, compare, families, fit, load, methods, priors
from lehr._lehr import Interrupted, LehrError, __version__
from lehr._loo import Loo, loo_compare
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
from lehr._verdict import Estimate, Verdict

__all__ = [
    "Check",
    "Cluster",
    "Comparison",
    "Estimate",
    "Fit",
    "Interrupted",
    "LehrError",
    "Loo",
    "Model",
    "ModelError",
    "Priors",
    "Table",
    "Verdict",
    "__version__",
    "compare",
    "deterministic",
    "dist",
    "factor",
    "families",
    "fit",
    "group_effect",
    "load",
    "local",
    "loo_compare",
    "methods",
    "model",
    "observe",
    "param",
    "priors",
    "rows",
    "sample",
    "where",
]
