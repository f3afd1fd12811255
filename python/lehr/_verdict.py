"""What a fit says of itself: a verdict, and numbers with their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


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


def digits(number: float) -> str:
    """Three digits, but never fewer than two decimals of a large number.

    >>> digits(-11903.1234), digits(0.0012345)
    ('-11903.12', '0.00123')
    """
    return f"{number:.2f}" if abs(number) >= 100 else f"{number:.3g}"


def decimals(spread: float) -> int:
    """Return the decimals that show two digits of a standard deviation.

    >>> decimals(0.0166), decimals(0.97), decimals(123.0), decimals(0.0)
    (3, 2, 0, 3)
    """
    if not math.isfinite(spread) or spread <= 0:
        return 3
    return max(0, 1 - math.floor(math.log10(spread)))


def rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of coefficients as text, each row to two digits of its standard deviation."""
    import pandas as pd

    rows = [
        [f"{value:.{decimals(sd)}f}" for value in row]
        for row, sd in zip(table.to_numpy().tolist(), table["sd"], strict=True)
    ]
    return pd.DataFrame(rows, index=table.index, columns=table.columns)
