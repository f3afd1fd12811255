"""Fits eleven models by NumPyro's NUTS and by lehr: `python -m ports [--only NAME]`."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

import jax
import lehr
import numpyro

from ports import hierarchies, induced, regressions
from ports.port import Port
from ports.side import CHAINS, DRAWS, Moments, by_lehr, by_numpyro

# Means that are further apart, in standard deviations, differ; so do sds by a larger share.
MEAN, SHARE = 0.1, 0.05
MORE_DRAWS = 16_000
DIFFERS, FLAGGED = "differs although trusted", "differs, and the verdict says so"
PORTS = [*regressions.PORTS, *hierarchies.PORTS, *induced.PORTS]
HEAD = (
    "| model | numbers | largest difference of means, sd | largest difference of sds | NUTS, s "
    "| lehr, s | verdict | |\n|---|---|---|---|---|---|---|---|"
)


def worst(theirs: Moments, ours: Moments) -> tuple[tuple[float, str], tuple[float, str]]:
    """The largest difference of means in sds, that of sds as a share, and of what."""
    names = theirs.mean.keys()
    means = [(abs(ours.mean[n] - theirs.mean[n]) / theirs.sd[n], n) for n in names]
    sds = [(abs(ours.sd[n] / theirs.sd[n] - 1.0), n) for n in names]
    return max(means), max(sds)


def said(port: Port, theirs: Moments, ours: Moments) -> str:
    """What a row of the table amounts to.

    The largest of many differences may be chance, since the usual number of draws leaves errors
    of 2 % in a standard deviation. A trusted fit that seems to differ is therefore asked again,
    with more draws.
    """
    if not theirs.is_trusted:
        return f"no reference: {theirs.note}"
    if agree(theirs, ours):
        return "agrees"
    if not ours.is_trusted:
        return FLAGGED
    longer = by_lehr(port, port.table(), MORE_DRAWS)
    (mean, mean_of), (share, share_of) = worst(theirs, longer)
    differences = f"{mean:.3f} sd (`{mean_of}`) and {share:.1%} (`{share_of}`)"
    found = f"{differences} by {MORE_DRAWS:,} draws ({longer.note})"
    if agree(theirs, longer):
        return f"agrees: {found}"
    return f"{DIFFERS if longer.is_trusted else FLAGGED}: {found}"


def agree(theirs: Moments, ours: Moments) -> bool:
    """Whether all means and standard deviations are as near as they should be."""
    (mean, _), (share, _) = worst(theirs, ours)
    return mean <= MEAN and share <= SHARE


def row(port: Port, blocks: int) -> tuple[str, bool]:
    """Fit one model by both; return its line, and whether lehr was wrong without saying so."""
    table = port.table()
    theirs = by_numpyro(port, table, blocks)
    ours = by_lehr(port, table)
    if theirs.mean.keys() != ours.mean.keys():
        alone = sorted(theirs.mean.keys() ^ ours.mean.keys())
        raise SystemExit(f"{port.name}: expected the same numbers, found {alone} on one side")
    (mean, mean_of), (share, share_of) = worst(theirs, ours)
    end = said(port, theirs, ours)
    line = (
        f"| {port.name} | {len(ours.mean)} | {mean:.3f} (`{mean_of}`) | {share:.1%} (`{share_of}`) "
        f"| {theirs.seconds:.1f} | {ours.seconds:.1f} | {ours.note} | {end} |"
    )
    print(f"{port.name}: NUTS {theirs.note}", file=sys.stderr)
    return line, end.startswith(DIFFERS)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="ports", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="models whose names begin so")
    parser.add_argument("--report", type=Path, default=Path("ports.md"), help="where to write")
    parser.add_argument(
        "--blocks", type=int, default=5, help=f"NUTS' draws: {CHAINS} × {DRAWS} in each block"
    )
    return parser.parse_args()


def main() -> int:
    """All models, or some."""
    asked = arguments()
    jax.config.update("jax_enable_x64", True)
    chosen = [p for p in PORTS if any(p.name.startswith(n) for n in asked.only or [""])]
    if not chosen:
        raise SystemExit(f"--only: expected the beginning of {', '.join(p.name for p in PORTS)}")
    print(f"{date.today()}: NumPyro {version('numpyro')}, lehr {lehr.__version__}\n\n{HEAD}")
    lines, wrong = [], 0
    for port in chosen:
        line, is_wrong = row(port, asked.blocks)
        print(line, flush=True)
        lines.append(line)
        wrong += is_wrong
    asked.report.write_text("\n".join([HEAD, *lines]) + "\n")
    return min(wrong, 1)


if __name__ == "__main__":
    # One device for each chain, so that chains run beside each other on the cores there are.
    numpyro.set_host_device_count(CHAINS)
    sys.exit(main())
