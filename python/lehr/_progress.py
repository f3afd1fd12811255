"""A live line that says how far a fit is: in terminals, and in notebooks as HTML."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

# What is done, how much, of which unit, of how many, and the bound.
Listener: TypeAlias = Callable[[str, int, str, int | None, float | None], None]

# Shorter fits show nothing.
PATIENCE = 0.5
WIDTH = 20


def listener(label: str, progress: bool | Listener | None) -> Listener | None:
    """Return who is told how a fit stands: by default a line where somebody sees it."""
    if callable(progress):
        return progress
    if progress is False:
        return None
    if _in_notebook():
        return Notebook(label)
    if progress or sys.stderr.isatty():
        return Terminal(label)
    return None


def close(told: Listener | None) -> None:
    """Remove the live line, if it is one of ours."""
    if isinstance(told, Terminal | Notebook):
        told.close()


@contextmanager
def told(label: str, progress: bool | Listener | None) -> Iterator[Listener | None]:
    """Show how work stands while it runs."""
    found = listener(label, progress)
    try:
        yield found
    finally:
        close(found)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and hasattr(found, "kernel")


def line(doing: str, done: int, unit: str, total: int | None, bound: float | None) -> str:
    """Say how a fit stands in one line.

    >>> line("training", 512, "steps", 1024, -20.5)
    'training [##########..........] 512 of 1024 steps, bound -20.50'
    """
    text = doing
    if total:
        full = WIDTH * min(done, total) // total
        text += f" [{'#' * full}{'.' * (WIDTH - full)}] {done} of {total} {unit}"
    elif done:
        text += f", {done} {unit}"
    if bound is not None:
        text += f", bound {bound:.2f}"
    return text


class Terminal:
    """The line on stderr."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.began = time.monotonic()
        self.is_shown = False

    def __call__(
        self, doing: str, done: int, unit: str, total: int | None, bound: float | None
    ) -> None:
        """Show how the fit stands."""
        seconds = time.monotonic() - self.began
        if seconds < PATIENCE:
            return
        text = f"{self.label}: {line(doing, done, unit, total, bound)}, {seconds:.1f} s"
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
        self.is_shown = True

    def close(self) -> None:
        """Remove the line."""
        if self.is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Notebook:
    """The line in a notebook, as text and as HTML."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.began = time.monotonic()
        self.handle: Any = None
        self.state: tuple[str, int, str, int | None, float | None] = ("", 0, "", None, None)

    def __call__(
        self, doing: str, done: int, unit: str, total: int | None, bound: float | None
    ) -> None:
        """Show how the fit stands."""
        if time.monotonic() - self.began < PATIENCE:
            return
        self.state = (doing, done, unit, total, bound)
        if self.handle is None:
            from IPython.display import display

            self.handle = display(self, display_id=True)
        else:
            self.handle.update(self)

    def __repr__(self) -> str:
        return f"{self.label}: {line(*self.state)}" if self.state[0] else ""

    def _repr_html_(self) -> str:
        doing, done, _, total, _ = self.state
        if not doing:
            return ""
        share = f' value="{done}" max="{total}"' if total else ""
        words = html.escape(repr(self))
        return f"<progress{share}></progress> <code>{words}</code>"

    def close(self) -> None:
        """Empty the line."""
        if self.handle is not None:
            self.state = ("", 0, "", None, None)
            self.handle.update(self)
