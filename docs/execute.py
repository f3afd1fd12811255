"""Runs the code of Markdown pages and writes what it prints below it.

    python docs/execute.py docs/gallery/*.md            # run, and write output and pictures
    python docs/execute.py --check docs/tutorial/*.md   # run, and compare the verdicts

Blocks marked `python` share one namespace, blocks marked `sh` one folder with it. What a block
prints replaces the `text` block that follows, folded at 120 characters, and pictures that it saves
go beside the page. A block that fails ends the run. Output depends on the processor in its last
digits and on the clock where it names seconds, so a check compares no more than verdicts and exit
codes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PICTURES = (".png", ".svg")
WIDTH = 120
VERDICT = re.compile(r"^(?:\W )?(reliable|corrected|look again|do not trust): |^(exit code \d+)$")
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """Code of a page, and where it stands."""

    kind: str
    code: str
    line: int


class Runner:
    """Runs the blocks of one page."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, block: Block) -> str:
        """Return what a block prints."""
        if block.kind == "sh":
            return self._shell(block.code)
        return self._python(block)

    def _shell(self, code: str) -> str:
        # Fits say on stderr how far they are and what they choose, so it is left out.
        done = subprocess.run(["bash", "-ec", code], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"{self.page}: exit code {done.returncode} from\n{code}")
        return done.stdout

    def _python(self, block: Block) -> str:
        tree = ast.parse(block.code, self.page.name)
        # A mistake is then told with its line in the page.
        ast.increment_lineno(tree, block.line)
        shown = None
        if tree.body and isinstance(last := tree.body[-1], ast.Expr):
            shown = ast.Expression(last.value)
            tree.body.pop()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, self.page.name, "exec"), self.names)
            if shown is not None:
                value = eval(compile(shown, self.page.name, "eval"), self.names)
                if value is not None:
                    print(repr(value))
        return printed.getvalue()


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Enter a folder that goes when the page is done."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def tidy(printed: str) -> str:
    """Return the text without blanks at the ends of lines and the page."""
    lines = [part for line in printed.strip("\n").splitlines() for part in folded(line.rstrip())]
    return "".join(f"{line}\n" for line in lines)


def folded(line: str) -> list[str]:
    """Return the line, or its parts at blanks if it is wider than the pages are."""
    if len(line) <= WIDTH:
        return [line]
    indent = line[: len(line) - len(line.lstrip())] + "  "
    return textwrap.wrap(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def executed(page: Path) -> tuple[str, list[tuple[str, str]]]:
    """Run a page; return its new text, and what each block printed before and now."""
    text = page.read_text()
    runner = Runner(page)
    changes: list[tuple[str, str]] = []

    def replaced(found: re.Match[str]) -> str:
        kind, code, before = found.groups()
        line = text.count("\n", 0, found.start()) + 1
        now = tidy(runner.run(Block(kind, code, line)))
        changes.append((before or "", now))
        output = f"\n```text\n{now}```\n" if now else ""
        return f"```{kind}\n{code}```\n{output}"

    return BLOCK.sub(replaced, text), changes


def verdicts(printed: str) -> list[str]:
    """Return the verdicts and exit codes that stand in a text."""
    found = (VERDICT.match(line.strip()) for line in printed.splitlines())
    return [one.group(1) or one.group(2) for one in found if one]


def differences(page: Path, changes: list[tuple[str, str]]) -> list[str]:
    """Return the blocks whose verdict is not that of the page."""
    pairs = [(verdicts(before), verdicts(now)) for before, now in changes]
    return [f"{page}: the page says {a}, the run {b}" for a, b in pairs if a != b]


def keep_pictures(made: Path, beside: Path) -> None:
    """Move pictures from where they were made to their page."""
    for picture in sorted(made.iterdir()):
        if picture.suffix in PICTURES:
            shutil.copyfile(picture, beside / picture.name)


def set_up() -> None:
    """Draw without a screen and as the gallery does, without progress on stderr."""
    here = Path(__file__).resolve().parent
    os.environ.setdefault("MPLBACKEND", "agg")
    os.environ.setdefault("MATPLOTLIBRC", str(here / "gallery" / "matplotlibrc"))
    os.environ.setdefault("COLUMNS", "120")


def main() -> int:
    """Run the pages that are named."""
    parser = argparse.ArgumentParser(description="Run the code of Markdown pages.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true", help="compare the verdicts, write nothing")
    asked = parser.parse_args()
    set_up()
    wrong: list[str] = []
    for page in (one.resolve() for one in asked.pages):
        began = time.monotonic()
        with scratch() as folder:
            text, changes = executed(page)
            if asked.check:
                wrong += differences(page, changes)
            else:
                page.write_text(text)
                keep_pictures(folder, page.parent)
        print(f"{page.name}: {len(changes)} blocks in {time.monotonic() - began:.0f} s")
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
