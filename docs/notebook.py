"""Runs the notebook of the gallery as Jupyter does, and looks at what it shows.

    python docs/notebook.py [PAGE.html]     # with a name: the executed notebook as a page

It fails unless a fit is shown as a table with its verdict, and a bar moved while it ran.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

NOTEBOOK = Path(__file__).parent / "gallery" / "notebook.ipynb"


class Watching(NotebookClient):
    """Runs a notebook and keeps what is shown for a while only."""

    def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        """Keep the HTML of everything that is displayed."""
        shown = msg["content"].get("data", {}).get("text/html")
        if shown:
            self.seen.append(shown)
        return super().process_message(msg, cell, cell_index)

    def run(self) -> list[str]:
        """Run all cells; return the HTML that was seen, in order."""
        self.seen: list[str] = []
        self.execute()
        return self.seen


def claims(seen: list[str], left: list[str]) -> dict[str, bool]:
    """What must be true of a notebook: while it ran, and of what is left in it."""
    bars = [one for one in seen if "<progress" in one]
    fits = [one for one in left if "<strong" in one and "<table" in one]
    return {
        "a bar shows how far the fit is": len(bars) > 1,
        "the bar moves": len(set(bars)) > 1,
        "the bar is gone when the fit is done": not any("<progress" in one for one in left),
        "a fit is shown with its verdict": bool(fits),
        "a comparison is shown as a table": any("bound_error" in one for one in left),
    }


def main() -> int:
    """Run it; say what is not true of it."""
    book = nbformat.read(NOTEBOOK, as_version=4)
    seen = Watching(book, timeout=300, resources={"metadata": {"path": NOTEBOOK.parent}}).run()
    outputs = [one for cell in book.cells for one in cell.get("outputs", [])]
    left = [one["data"]["text/html"] for one in outputs if "text/html" in one.get("data", {})]
    found = claims(seen, left)
    for claim, is_true in found.items():
        print(f"{'yes' if is_true else 'NO ':3} {claim}")
    if len(sys.argv) > 1:
        page, _ = HTMLExporter().from_notebook_node(book)
        Path(sys.argv[1]).write_text(page)
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
