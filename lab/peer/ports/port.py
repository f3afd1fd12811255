"""A model in two languages, the rows it is fitted to, and what is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import lehr
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Columns: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Port:
    """The same model twice."""

    name: str
    """What it is called in the table."""
    seed: int
    """Where the rows come from."""
    rows: Callable[[Generator], Columns]
    """Makes them."""
    theirs: Callable[[Columns], None]
    """The model in NumPyro's language."""
    ours: lehr.Model
    """The model in lehr's language."""
    compared: tuple[str, ...]
    """The sites, of the same name in both, whose means and standard deviations are compared."""
    acceptance: float = 0.9
    """What the reference aims at; more is needed where its chains diverge."""

    def table(self) -> Columns:
        """The rows."""
        return self.rows(np.random.default_rng(self.seed))


def logistic(x: NDArray[Any]) -> NDArray[Any]:
    """The probability whose logit is x."""
    return 1.0 / (1.0 + np.exp(-x))
