"""Rows left out of a fit, and models compared by them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lehr import _lehr, _ray, _table
from lehr._ray import Cluster
from lehr._table import Data
from lehr._verdict import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from lehr._fit import Fit

logger = logging.getLogger("lehr")


class Loo:
    """How well a fit predicts rows it has not seen: :meth:`Fit.loo` makes it."""

    def __init__(
        self,
        summary: Mapping[str, Any],
        rows: tuple[list[int], list[float], list[float]],
        folds: int | None = None,
    ) -> None:
        self.facts = dict(summary)
        """Everything that is known of it, by the names of the command's JSON."""
        self.folds = folds
        """In how many parts the rows were left out, unless each was left out by itself."""
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
        if self.folds is not None:
            return f"elpd {self.elpd} by {self.folds} folds of {facts['n_rows']} rows"
        return (
            f"elpd_loo {self.elpd}, p_loo {self.p_loo:.2f}, "
            f"{facts['n_high_k']} of {facts['n_left_out']} rows with k above "
            f"{facts['k_threshold']:.2f}"
        )


def fitting(
    sampling: Mapping[str, Any], refit: int, folds: int | None, folds_by: str | None
) -> dict[str, Any]:
    """Return which rows are left out by further fits, as the engine takes it."""
    if folds is not None and (refit or sampling["subsample"] is not None):
        raise _lehr.LehrError("folds: expected neither refit nor subsample beside it, found one")
    if folds is None and folds_by is not None:
        raise _lehr.LehrError("folds_by: expected folds beside it, found none")
    return {"refit": refit, "folds": folds, "folds_by": folds_by}


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
