"""Fit the same model to tables of several lengths: ``measure.py LEHR FOLDER ...``.

Prints rows, peak memory, processor and wall seconds and the passes of every fit, as a table. LEHR is
the command; folders are those of table.py. With ``--sklearn`` as the last argument, also what
scikit-learn takes for the point estimate, in this process, table in memory.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

FORMULA = "y ~ ."


def fit(command: str, folder: Path) -> str:
    """Fit one table, and return its line."""
    # So little that the shortest table, too, stays in its file.
    memory = ["--memory", "64MiB"]
    arguments = [command, "fit", FORMULA, str(folder), "--family", "bernoulli", *memory]
    arguments += ["--json", "--quiet"]
    clock = time.perf_counter()
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE)
    assert child.stdout is not None
    found = json.loads(child.stdout.read())
    _, _, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - clock
    choices = found["choices"]
    first = next(one for one in found["coefficients"] if one["name"] == "x1")
    return (
        f"| {found['n_rows']:,} | {used.ru_maxrss / 1024:.0f} | {used.ru_utime + used.ru_stime:.1f} "
        f"| {wall:.1f} | {choices.get('passes', choices.get('rows', 'in memory'))} "
        f"| {first['mean']:.5f} ± {first['sd']:.5f} | {found['verdict']} |"
    )


def sklearn(folder: Path) -> str:
    """Fit one table in memory by scikit-learn, and return its line."""
    import pyarrow.parquet as pq
    from sklearn.linear_model import LogisticRegression

    before = resource.getrusage(resource.RUSAGE_SELF)
    clock = time.perf_counter()
    table = pq.read_table(folder).to_pandas()
    names = [name for name in table.columns if name != "y"]
    model = LogisticRegression(C=1e6).fit(table[names].to_numpy(), table["y"].to_numpy())
    wall = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (
        f"| {len(table):,} | {after.ru_maxrss / 1024:.0f} | {spent:.1f} | {wall:.1f} | scikit-learn "
        f"| {model.coef_[0][0]:.5f} | |"
    )


if __name__ == "__main__":
    command, *folders = sys.argv[1:]
    print("| rows | peak MB | processor s | wall s | passes | x1 | verdict |")
    print("|---|---|---|---|---|---|---|")
    for folder in folders:
        if folder == "--sklearn":
            print(sklearn(Path(folders[0])), flush=True)
        else:
            print(fit(command, Path(folder)), flush=True)
