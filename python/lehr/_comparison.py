"""Fits of one table side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lehr import _lehr
from lehr._table import Data
from lehr._verdict import digits

if TYPE_CHECKING:
    import pandas as pd

    from lehr._fit import Fit


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

    @property
    def best(self) -> Fit:
        """The fit with the best verdict and, among those, the largest bound."""
        return self.fits[_lehr.best([one._native for one in self.fits])]

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML page about the best fit, with all others beside it.

        Args:
            path: The page.
        """
        natives = [one._native for one in self.fits]
        _lehr.compared_report(natives, self.test, os.fspath(path))

    def __getitem__(self, method: str) -> Fit:
        for one in self.fits:
            if one.method == method:
                return one
        raise KeyError(method)

    def __iter__(self) -> Iterator[Fit]:
        return iter(self.fits)

    def __repr__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return str(self.table.to_html(float_format=digits, index_names=False, na_rep="–"))


def _score(fit: Fit, test: Data) -> float:
    return float(fit.evaluate(test)["log_likelihood_per_row"])
