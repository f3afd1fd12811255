"""Runs the twelve and prints their table: `python -m classics --lehr PATH [--only NAME]`."""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

from classics.analysis import ANALYSES, Analysis
from classics.model import Rows, by_nuts

SCRIPT = Path(__file__).with_name("classics.R")
# Means that are further apart, in standard deviations, differ.
APART = 0.1
HEAD = (
    "| analysis | lehr | R | verdict | lehr, s | R, s | NUTS, s | from NUTS, sd | sd ratio | from R, se |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass
class Estimates:
    """What one program says, and how long it took."""

    mean: dict[str, float]
    sd: dict[str, float]
    seconds: float
    note: str = ""


def by_r(of: Analysis, folder: Path) -> Estimates:
    """Writes the data and fits them by R."""
    run(["Rscript", str(SCRIPT), of.name, str(folder)])
    with (folder / f"{of.name}.reference.csv").open() as file:
        rows = list(csv.DictReader(file))
    number = lambda cell: math.nan if cell == "NA" else float(cell)  # noqa: E731
    mean = {row["name"]: number(row["estimate"]) for row in rows}
    sd = {row["name"]: number(row["se"]) for row in rows}
    return Estimates(mean, sd, float(rows[0]["seconds"]))


def by_lehr(of: Analysis, folder: Path, program: str) -> tuple[Estimates, dict[str, str]]:
    """Fits by the command; the priors that it prints besides."""
    data, fit = folder / f"{of.name}.csv", folder / f"{of.name}.lehr"
    formulas = [word for text in of.parameters for word in ("--formula", text)]
    words = [program, "fit", of.formula, str(data), "--family", of.family, *formulas]
    words += ["--method", of.method]
    began = time.perf_counter()
    found = json.loads(run([*words, "-o", str(fit), "--force", "--json", "--quiet"], (0, 1)))
    seconds = time.perf_counter() - began
    mean = {one["name"]: one["mean"] for one in found["coefficients"]}
    sd = {one["name"]: one["sd"] for one in found["coefficients"]}
    if of.name == "motorcycle":
        scored = folder / "scored.csv"
        run([program, "predict", str(fit), str(data), "-o", str(scored), "--force"], (0, 1))
        with scored.open() as file:
            for place, row in enumerate(csv.DictReader(file), 1):
                mean[f"curve {place}"] = float(row["accel_mean"])
                sd[f"curve {place}"] = float(row["accel_mean_sd"])
    priors = {one["name"]: one["distribution"] for one in found["priors"]}
    note = f"{found['verdict'].replace('-', ' ')}, {found['method']}"
    return Estimates(mean, sd, seconds, note), priors


def by_numpyro(of: Analysis, folder: Path, names: list[str], priors: dict[str, str]) -> Estimates:
    """Fits by NUTS, which compiles first."""
    began = time.perf_counter()
    draws = by_nuts(of, Rows(folder / f"{of.name}.csv"), names, priors)
    seconds = time.perf_counter() - began
    missing = [name for name in names if name not in draws]
    assert not missing, f"NUTS does not know {missing}"
    worst = max(float(split_gelman_rubin(values)) for values in draws.values())
    fewest = min(float(effective_sample_size(values)) for values in draws.values())
    mean = {name: float(values.mean()) for name, values in draws.items()}
    sd = {name: float(values.std()) for name, values in draws.items()}
    return Estimates(mean, sd, seconds, f"R-hat {worst:.3f}, {fewest:.0f} effective draws")


def run(words: list[str], codes: tuple[int, ...] = (0,)) -> str:
    """Runs a program that must end with one of these codes."""
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode not in codes:
        sys.exit(f"{words[:2]}: exit code {ended.returncode}\n{ended.stderr}")
    return ended.stdout


def largest(ours: Estimates, theirs: Estimates) -> str:
    """The largest difference of means in their standard errors, and of what."""
    shared = [n for n in theirs.mean if n in ours.mean and theirs.sd[n] > 0]
    apart = [(abs(ours.mean[n] - theirs.mean[n]) / theirs.sd[n], n) for n in shared]
    return f"{max(apart)[0]:.2f} (`{max(apart)[1]}`)" if apart else "–"


def row(of: Analysis, folder: Path, program: str) -> tuple[str, str, bool]:
    """A line of the table, a remark, and whether lehr and NUTS agree."""
    reference = by_r(of, folder)
    ours, priors = by_lehr(of, folder, program)
    names = [name for name in ours.mean if not name.startswith("curve")]
    cells = [f"{of.name}: {of.title}", f"`{escaped(of.formula)}`", f"`{escaped(of.theirs)}`"]
    for text in of.parameters:
        cells[1] += f", `{text}`"
    cells += [ours.note, f"{ours.seconds:.1f}", f"{reference.seconds:.1f}"]
    if of.no_chains:
        remark, fine = of.no_chains, True
        cells += ["–", "–", "–"]
    else:
        exact = by_numpyro(of, folder, names, priors)
        ratio = [(abs(math.log(ours.sd[n] / exact.sd[n])), n) for n in names]
        worst = max(ratio)[1]
        cells += [f"{exact.seconds:.0f}", largest(ours, exact)]
        cells += [f"{ours.sd[worst] / exact.sd[worst]:.2f} (`{worst}`)"]
        apart = max(abs(ours.mean[n] - exact.mean[n]) / exact.sd[n] for n in names)
        remark, fine = exact.note, apart <= APART
    cells.append(largest(ours, reference))
    return "| " + " | ".join(cells) + " |", f"{of.name}: {remark}", fine


def escaped(text: str) -> str:
    """Bars would end a cell."""
    return text.replace("|", "\\|")


def main() -> None:
    """The table on stdout, remarks on stderr; the exit code is 1 where lehr and NUTS disagree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lehr", default="lehr", help="the command")
    parser.add_argument("--only", action="append", help="one analysis (may be repeated)")
    asked = parser.parse_args()
    chosen = [of for of in ANALYSES if not asked.only or of.name in asked.only]
    print(HEAD, flush=True)
    all_fine = True
    with tempfile.TemporaryDirectory() as folder:
        for of in chosen:
            line, remark, fine = row(of, Path(folder), asked.lehr)
            print(line, flush=True)
            print(remark, file=sys.stderr, flush=True)
            all_fine &= fine
    sys.exit(0 if all_fine else 1)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
