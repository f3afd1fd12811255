"""The diagnostics of a fit at length."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lehr import _lehr, _option
from lehr._progress import Listener

if TYPE_CHECKING:
    import pandas as pd

# A table as the engine takes it, and how it is read.
Rows: TypeAlias = tuple[_lehr.Source, dict[str, Any]]

CHAINS = ("nuts", "hmc", "surrogate-hmc")


@dataclass
class Check:
    """What speaks for a fit and against it: :meth:`lehr.Fit.check` makes it."""

    witnesses: pd.DataFrame
    """What each witness of the verdict says."""
    shifts: pd.DataFrame
    """How far importance weights move each coefficient, the farthest first."""
    prior_sensitivity: pd.DataFrame
    """How much each prior moves the posterior; above 0.05 it matters."""
    against: dict[str, Any] | None = None
    """The fit beside Markov chains, where they were asked for."""
    simulation: pd.DataFrame | None = None
    """Ranks in simulated data sets and whether they are uniform, where they were asked for."""

    @staticmethod
    def of(native: _lehr.Fit) -> Check:
        """Return what is known without the table."""
        found = json.loads(_lehr.check(native))
        return Check(
            _frame(found["witnesses"], "witness"),
            _frame(found["shifts"], "name"),
            _frame(found["prior_sensitivity"], "prior"),
        )

    def add_chains(self, native: _lehr.Fit, rows: Rows, method: str, told: Listener | None) -> None:
        """Run Markov chains on all rows and compare."""
        if method not in CHAINS:
            names = ", ".join(map(repr, CHAINS))
            raise _lehr.LehrError(f"against: expected one of {names}, found {method!r}")
        seed = native.facts["seed"]
        how = _option.watched(_option.how([method], [], None, seed, None), told)
        found = json.loads(_lehr.against(native, *rows, how))
        found["differences"] = _frame(found["differences"], "name")
        self.against = found

    def add_ranks(
        self,
        native: _lehr.Fit,
        rows: Rows,
        sizes: tuple[int, int, int | None],
        told: Listener | None,
    ) -> None:
        """Simulate data sets, fit them, and rank what made them."""
        how = _option.watched(_option.how([], [], None, 0, None), told)
        found = json.loads(_lehr.simulate(native, *rows, sizes, how))
        self.simulation = _frame(found, "name")

    def __repr__(self) -> str:
        parts = [("witnesses", self.witnesses), ("what weights move most", self.shifts.head(10))]
        parts.append(("how much priors matter", self.prior_sensitivity.head(10)))
        if self.against is not None:
            parts.append((f"against {self.against['method']}", self.against["differences"]))
        if self.simulation is not None:
            parts.append(("simulated data sets", self.simulation[["p_value"]]))
        return "\n\n".join(f"{title}\n{table.to_string()}" for title, table in parts)


def _frame(rows: list[dict[str, Any]], index: str) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows).set_index(index) if rows else pd.DataFrame()
