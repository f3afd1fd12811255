"""What is compared: methods with their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BATCH = 256
SURROGATE_ROWS = 256


@dataclass(frozen=True)
class Case:
    """One method with its sizes."""

    method: str
    base: str = "MeanField"
    chain_steps: int = 0
    lanes: int = 1
    batch: int = BATCH
    surrogate: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """How tables call it."""
        short = {
            "MeanField": "MF",
            "FullRank": "MVN",
            "Dais": "DAIS",
            "SlDais": "SL-DAIS",
            "Iaf": "IAF",
            "Bnaf": "BNAF",
        }
        name = short[self.method]
        if self.method == "SlDais":
            name += f"-{short[self.base]}"
        return f"{name} K={self.chain_steps}" if self.chain_steps else name

    @property
    def reads_all_rows(self) -> bool:
        """DAIS has no mini-batch, so it has one form only."""
        return self.method == "Dais"

    def request(self) -> dict[str, Any]:
        """The case as both sides read it."""
        return {
            "method": self.method,
            "base": self.base,
            "chain_steps": self.chain_steps,
            "batch": self.batch,
            "surrogate": list(self.surrogate),
            "lanes": self.lanes,
        }


def every_case(rows: int, lanes: int) -> list[Case]:
    """All methods of the comparison on a table of so many rows."""
    # Spread evenly: which rows they are has no influence on speed.
    surrogate = tuple(k * rows // SURROGATE_ROWS for k in range(SURROGATE_ROWS))
    chains = [
        Case("SlDais", base, steps, lanes, surrogate=surrogate)
        for base in ("MeanField", "FullRank")
        for steps in (4, 8, 16)
    ]
    return [
        Case("MeanField", "MeanField", lanes=lanes),
        Case("FullRank", "FullRank", lanes=lanes),
        Case("Iaf", "MeanField", lanes=lanes),
        Case("Bnaf", "MeanField", lanes=lanes),
        *(Case("Dais", "MeanField", steps, lanes) for steps in (2, 4, 8)),
        *chains,
    ]
