"""Runs the comparison: `python -m compare [--quick] [--data DIR] [--only PART]`."""

from __future__ import annotations

import argparse
import platform
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

from compare import agreement, chains, cold, local, local_bound, process, timing
from compare.case import SURROGATE_ROWS, every_case
from compare.data import REAL, generated, real
from compare.table import Report


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="compare", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few cases, a few rounds")
    parser.add_argument("--data", type=Path, help="folder of the real tables (Parquet)")
    parser.add_argument("--report", type=Path, default=Path("peer.md"), help="where to write")
    parser.add_argument("--only", choices=("bounds", "steps", "cold", "chains", "local", "local-bound", "gp"), help="one part alone")
    parser.add_argument("--all", action="store_true", help="both forms and two threads at every D")
    parser.add_argument("--columns", type=int, nargs="+", metavar="D", help="only these sizes")
    parser.add_argument("--threads", type=int, nargs="+", metavar="T", help="only so many threads")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="only names that begin so")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="only names that begin so")
    parser.add_argument("--seconds", type=float, help="NumPyro's time for the draws of `chains`")
    chosen = parser.parse_args()
    tables = [table[0] for table in REAL]
    methods = [case.name for case in every_case(SURROGATE_ROWS, lanes=1)]
    for flag, asked, names in (
        ("--tables", chosen.tables, tables),
        ("--methods", chosen.methods, methods),
    ):
        for begin in asked or ():
            if not any(name.startswith(begin) for name in names):
                parser.error(f"{flag}: expected the beginning of {', '.join(names)}; found {begin}")
    return chosen


def machine() -> str:
    """What the tables were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("numpyro", "jax", "jaxlib", "numpy")
    )
    python = platform.python_version()
    return f"{date.today()}: {len(models)} × {models[0]}; Python {python}, {versions}; 64 bits"


def main() -> None:
    """All parts, or one."""
    chosen = arguments()
    report = Report(chosen.report)
    report.say("# NumPyro and lehr in turns")
    report.say()
    report.say(machine())
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        if chosen.only in (None, "bounds"):
            agreement.run(report, scratch, chosen.quick)
        if chosen.only in (None, "cold"):
            quick = chosen.quick
            tables = [generated(28, 10_000)] if quick else real(chosen.data, chosen.tables)
            cold.run(report, scratch, tables, quick)
        if chosen.only in (None, "chains"):
            quick = chosen.quick
            tables = [generated(28, 10_000)] if quick else real(chosen.data, chosen.tables)
            limit = chosen.seconds or (5.0 if quick else chains.LIMIT)
            chains.run(report, scratch, tables, limit)
        if chosen.only in (None, "steps"):
            extent = timing.Extent.of(quick=chosen.quick, everywhere=chosen.all)
            extent = extent.only(chosen.columns, chosen.threads, chosen.methods)
            timing.run(report, scratch, extent)
        if chosen.only in (None, "local"):
            local.run(report, scratch, chosen.quick)
        if chosen.only in (None, "local-bound"):
            local_bound.run(report, scratch, chosen.data, chosen.quick)
        # Not among all parts: it needs requirements of its own.
        if chosen.only == "gp":
            process.run(report, scratch, chosen.data, chosen.quick)


if __name__ == "__main__":
    main()
