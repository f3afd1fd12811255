"""Tables in Markdown, to the terminal and to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class Report:
    """Prints as it goes, and keeps everything in one file."""

    def __init__(self, path: Path) -> None:
        """Begins the file anew."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._out = path.open("w", encoding="utf-8")

    def say(self, text: str = "") -> None:
        """One line."""
        print(text, flush=True)
        self._out.write(text + "\n")
        self._out.flush()

    def title(self, text: str) -> None:
        """A heading."""
        self.say()
        self.say(f"## {text}")
        self.say()

    def header(self, names: Sequence[str]) -> None:
        """The first two lines of a table; its rows follow as they are measured."""
        self.row(names)
        self.say("|" + "---|" * len(names))

    def row(self, cells: Sequence[str]) -> None:
        """One row of a table."""
        self.say("| " + " | ".join(cells) + " |")


def short(value: float) -> str:
    """Three figures that matter, without an exponent."""
    digits = sum(abs(value) < bound for bound in (0.01, 0.1, 1.0, 10.0, 100.0))
    return f"{value:.{digits}f}"


def times(value: float) -> str:
    """A ratio."""
    return f"{short(value)}×"
