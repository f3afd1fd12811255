"""Seconds per pass over a table on 1 and 2 workers, and what a message costs: `make scaling`."""

import argparse
import tempfile
import time
from pathlib import Path

import ray
from conftest import NODE, table
from ray.cluster_utils import Cluster

import lehr
from lehr import _ray

FORMULA = "hit ~ x0 + x1 + x2 + color"
QUERIES = {0: "log likelihood", 1: "slopes", 2: "Hessian products"}
SUM = 3


class Timed(_ray.Workers):
    """Workers that note how long every answer takes, and the time on a processor of the busiest."""

    seconds: dict[str, list[tuple[float, float]]] = {}

    def answer(self, tasks):
        """Answer, and note which kind of sum it was."""
        kind = QUERIES.get(tasks[0][1]) if tasks[0][0] == SUM else None
        if kind is None:
            return super().answer(tasks)
        pids = ray.get([actor.process.remote() for actor in self.actors])
        before, begin = [busy(pid) for pid in pids], time.perf_counter()
        answers = super().answer(tasks)
        wall = time.perf_counter() - begin
        spent = max(busy(pid) - old for pid, old in zip(pids, before, strict=True))
        self.seconds.setdefault(kind, []).append((wall, spent))
        return answers


def busy(pid: int) -> float:
    """Return the seconds that all threads of a process have spent on a processor."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((one / "schedstat").read_text().split()[0]) for one in threads) / 1e9


def passes(files: str, workers: int) -> dict[str, tuple[float, float]]:
    """Return the seconds of the quickest pass of each kind, and of the least on a processor."""
    Timed.seconds = {}
    where = lehr.Cluster(workers=workers, partition_rows=1 << 17)
    fit = lehr.fit(FORMULA, files, method="surrogate-hmc", cluster=where, seed=1, progress=False)
    print(f"{workers} workers: {dict(fit.facts['seconds'])}")
    # The first of each kind is compiled; what else runs on the machine only adds to the others.
    each = {kind: zip(*(found[1:] or found), strict=True) for kind, found in Timed.seconds.items()}
    return {kind: tuple(map(min, found)) for kind, found in each.items()}


def write(folder: Path, rows: int, files: int) -> str:
    """Write so many rows, and return the pattern of their files."""
    folder.mkdir()
    for k in range(files):
        table(rows // files, k).to_parquet(folder / f"{k}.parquet", row_group_size=1 << 17)
    return str(folder / "*.parquet")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=4 << 20)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    _ray.Workers = Timed
    cluster = Cluster(initialize_head=True, head_node_args=NODE | {"num_cpus": 2})
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            long = write(Path(folder) / "long", asked.rows, 8)
            rounds = [(passes(long, 1), passes(long, 2)) for _ in range(asked.rounds)]
            for kind in QUERIES.values():
                cells = [kind]
                for which in (0, 1):
                    one, two = (min(each[k][kind][which] for each in rounds) for k in (0, 1))
                    cells += [f"{1e3 * one:.1f} ms", f"{1e3 * two:.1f} ms", f"{one / two:.2f}"]
                print(f"| {' | '.join(cells)} |")
            short = write(Path(folder) / "short", 8 * 500, 8)
            for workers in (1, 2, 4, 8):
                found = passes(short, workers)
                print(f"| {workers} | {1e3 * found['slopes'][0]:.2f} ms |")
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
