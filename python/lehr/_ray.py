"""Rows on a Ray cluster: workers that own row groups, and how they are asked.

Ray places, restarts and retries; what is sent are bytes that the engine makes and reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lehr import _lehr
from lehr._lehr import LehrError

if TYPE_CHECKING:
    from lehr._fit import Fit

# A file, its row groups from and to, the rows in them, and the rows before them.
Part: TypeAlias = tuple[str, int, int, int, int]

# How often a worker that is lost is asked again, for each question.
RETRIES = 20


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster, and how a table is divided there."""

    address: str = "ray"
    """Where it is; ``"ray"`` is the one this process is connected to, or a new one here."""
    workers: int | None = None
    """Processes that own rows; by default one for each processor, or for each `threads` of them.
    The result is the same."""
    threads: int = 1
    """Threads of each worker. The result is the same."""
    sample_rows: int = 1 << 16
    """Rows that are drawn at random and sent to the head."""
    partition_rows: int = 1 << 20
    """Row groups are gathered to partitions of at most so many rows, unless one alone has more.
    Partitions are summed one by one: with others, results differ in their last digits."""
    rows: str = "memory"
    """Whether workers keep rows in ``"memory"``, or read the ``"files"`` anew in every pass."""

    @staticmethod
    def of(named: str | Cluster) -> Cluster:
        """Return the cluster that is meant."""
        return named if isinstance(named, Cluster) else Cluster(named)


class Worker:
    """Owns partitions. Made anew by Ray, on any node, it reads them again when it is asked."""

    def __init__(
        self, parts: Mapping[int, Part], reading: Mapping[str, Any], threads: int, rows: str
    ) -> None:
        # The engine reads it when it first computes, which is later.
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        self._held = {
            number: _lehr.Partition(part, dict(reading), rows) for number, part in parts.items()
        }

    def answer(self, model: bytes | None, tasks: Sequence[bytes]) -> list[bytes]:
        """Answer one task for all partitions, or one for each, in their order."""
        asked = list(tasks) * len(self._held) if len(tasks) == 1 else tasks
        held = self._held.values()
        try:
            return [one.answer(model, task) for one, task in zip(held, asked, strict=True)]
        except Exception:
            raise
        except BaseException as error:  # a panic: Ray would take it for a process that is lost
            raise RuntimeError(f"{type(error).__name__}: {error}") from None

    def process(self) -> int:
        """Return the process, for tests that end it."""
        return os.getpid()


def shares(parts: Sequence[Part], workers: int) -> list[list[int]]:
    """Return which partitions each worker owns: consecutive ones, about as many rows for each.

    >>> shares([("f", 0, 1, 10, 0), ("f", 1, 2, 10, 10), ("f", 2, 3, 20, 20)], 2)
    [[0, 1], [2]]
    """
    total = sum(part[3] for part in parts)
    owned: list[list[int]] = [[] for _ in range(workers)]
    for number, (_, _, _, rows, first) in enumerate(parts):
        middle = (2 * first + rows) / (2 * max(total, 1))
        owned[min(int(middle * workers), workers - 1)].append(number)
    return [own for own in owned if own]


class Workers:
    """The workers of one table, as the engine asks them."""

    def __init__(
        self, parts: Sequence[Part], reading: Mapping[str, Any], workers: int, cluster: Cluster
    ) -> None:
        import ray

        # By default an actor needs a processor where it is placed and none while it lives, so that
        # one whose node is lost finds a place among the others.
        # A question that ends its worker again and again is given up.
        settings = {"max_restarts": -1, "max_task_retries": RETRIES}
        made = ray.remote(scheduling_strategy="SPREAD", **settings)(Worker)
        self.owned = shares(parts, workers)
        self.actors = [
            made.remote(
                {number: parts[number] for number in own},
                dict(reading),
                cluster.threads,
                cluster.rows,
            )
            for own in self.owned
        ]
        self.partitions = len(parts)
        self._model: Any = None

    def bind(self, model: bytes) -> None:
        """Keep the model where workers find it, also those that are made anew."""
        import ray

        self._model = ray.put(model)

    def answer(self, tasks: Sequence[bytes]) -> list[bytes]:
        """Ask all partitions, and return their answers in the order of the partitions."""
        import ray

        asked = []
        for actor, own in zip(self.actors, self.owned, strict=True):
            some = tasks if len(tasks) == 1 else [tasks[number] for number in own]
            asked.append(actor.answer.remote(self._model, list(some)))
        try:
            answers = ray.get(asked)
        except ray.exceptions.RayTaskError as error:
            raise told(error) from None
        except ray.exceptions.RayError as error:
            raise LehrError(
                f"cluster: a worker was lost and could not be started again: {error}\n"
                "  hint: ray status tells which nodes are left"
            ) from None
        found = dict(zip(chain(*self.owned), chain(*answers), strict=True))
        return [found[number] for number in range(self.partitions)]

    def close(self) -> None:
        """End the workers."""
        import ray

        for actor in self.actors:
            ray.kill(actor)


def told(error: Any) -> BaseException:
    """Return what a worker raised, in its own words."""
    cause = error.cause
    if isinstance(cause, LehrError):
        return LehrError(str(cause))
    return LehrError(f"cluster: a worker failed: {type(cause).__name__}: {cause}")


@contextmanager
def connected(cluster: str) -> Iterator[None]:
    """Connect to Ray: to what this process is connected to, to an address, or to a new one."""
    try:
        import ray
    except ImportError:
        raise LehrError(
            "cluster: expected Ray, which is not installed\n  hint: pip install 'lehr[ray]'"
        ) from None
    if ray.is_initialized():
        yield
        return
    address = None if cluster == "ray" else cluster
    try:
        ray.init(address=address, log_to_driver=False, include_dashboard=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise LehrError(
            f"cluster: expected a Ray cluster at {cluster!r}, found none: {error}\n"
            '  hint: "ray" starts one here, or name one as in "10.0.0.1:6379"'
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def processors() -> int:
    """Return how many processors the cluster has."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def files(data: Any) -> list[str]:
    """Return names of files as every node finds them."""
    named = [data] if isinstance(data, str | os.PathLike) else data
    if not isinstance(named, list | tuple) or not all(
        isinstance(one, str | os.PathLike) for one in named
    ):
        raise LehrError(
            "table: expected names of parquet files that all nodes can read, "
            f"found {type(data).__name__}\n  hint: write the table to parquet files first"
        )
    # A name in an object store is the same everywhere.
    return [
        os.fspath(one) if "://" in os.fspath(one) else str(Path(one).absolute()) for one in named
    ]


@contextmanager
def table(data: Any, reading: Mapping[str, Any], cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Give the rows of files to workers, and return what the engine needs to ask them."""
    source = _lehr.Source.files(files(data))
    parts = _lehr.parts(source, cluster.partition_rows)
    with connected(cluster.address):
        count = cluster.workers or processors() // max(cluster.threads, 1)
        workers = Workers(parts, reading, max(1, min(count, len(parts))), cluster)
        try:
            yield {
                "source": source,
                "workers": workers,
                "partitions": len(parts),
                "sample": cluster.sample_rows,
            }
        finally:
            workers.close()


def predict(
    fit: Fit, data: Any, to: Path, cluster: Cluster, asked: tuple[dict[str, Any], dict[str, Any]]
) -> list[Path]:
    """Predict the rows of files in parts, each to a file that gets its name when it is complete.

    Args:
        fit: The fit.
        data: Names of files.
        to: A folder, which is made if it is not there.
        cluster: Where.
        asked: How the files are read, and how rows are predicted.
    """
    to = to.absolute()
    parts = _lehr.parts(_lehr.Source.files(files(data)), cluster.partition_rows)
    paths = [to / f"part-{number:05}.parquet" for number in range(len(parts))]
    _check_folder(to, parts, paths)
    to.mkdir(parents=True, exist_ok=True)
    tasks = [{"part": part, "path": str(path)} for part, path in zip(parts, paths, strict=True)]
    rows = _each(_write, fit, tasks, cluster, asked)
    return [path for path, count in zip(paths, rows, strict=True) if count > 0]


def _check_folder(to: Path, parts: Sequence[Part], paths: Sequence[Path]) -> None:
    """Refuse a folder in which predictions would replace, or be mixed with, what is not theirs."""
    if to.exists() and not to.is_dir():
        raise LehrError(f"{to}: expected a folder for predictions, found a file")
    inputs = {Path(part[0]).resolve() for part in parts}
    if any(one.parent == to.resolve() for one in inputs):
        raise LehrError(
            f"{to}: expected a folder for predictions, found that of the rows to predict\n"
            "  hint: name another folder; the rows would be overwritten"
        )
    own = {path.name for path in paths}
    found = sorted(one.name for one in to.iterdir()) if to.exists() else []
    foreign = [name for name in found if name not in own]
    if foreign:
        raise LehrError(
            f"{to}: expected an empty folder, or one with predictions of the same rows, "
            f"found {foreign[0]}\n  hint: name another folder"
        )


def evaluate(
    fit: Fit, data: Any, cluster: Cluster, asked: tuple[dict[str, Any], dict[str, Any]]
) -> dict[str, Any]:
    """Score the rows of files in parts, and put the scores together in the order of the parts.

    Args:
        fit: The fit.
        data: Names of files.
        cluster: Where.
        asked: How the files are read, and how rows are predicted.
    """
    parts = _lehr.parts(_lehr.Source.files(files(data)), cluster.partition_rows)
    tasks = [{"part": part, "path": ""} for part in parts]
    scores = _each(_score, fit, tasks, cluster, asked)
    return fit._native.evaluate_parts(scores, asked[1])


def leave_out(
    fits: Mapping[str, Fit],
    data: Any,
    cluster: Cluster,
    asked: tuple[dict[str, Any], dict[str, Any]],
) -> tuple[list[bytes], list[bytes]]:
    """Leave rows of files out of fits: what all rows say cheaply, and some rows in full.

    Args:
        fits: The fits by their names.
        data: Names of files.
        cluster: Where.
        asked: How the files are read, and which rows are left out.
    """
    reading, sampling = asked
    parts = _lehr.parts(_lehr.Source.files(files(data)), cluster.partition_rows)
    named = list(fits.items())
    with connected(cluster.address):
        glances = _each(_glance, named, [{"part": part} for part in parts], cluster, (reading,))
        chosen = _lehr.parts_to_leave_out(glances, sampling)
        tasks = [{"part": part, "rows": rows} for part, rows in zip(parts, chosen, strict=True)]
        return glances, _each(_leave, named, tasks, cluster, (reading,))


def _each(
    work: Any,
    fit: Fit | list[tuple[str, Fit]],
    tasks: Sequence[dict[str, Any]],
    cluster: Cluster,
    asked: tuple[dict[str, Any], ...],
) -> list[Any]:
    """Do something for every part on whichever node is free, and return what comes of it."""
    with connected(cluster.address):
        import ray

        saved = ray.put(fit)
        done = ray.remote(max_retries=3)(work)
        try:
            return list(ray.get([done.remote(saved, task, *asked) for task in tasks]))
        except ray.exceptions.RayTaskError as error:
            raise told(error) from None


def _write(fit: Fit, task: dict[str, Any], reading: dict[str, Any], by: dict[str, Any]) -> int:
    return fit._native.predict_part(task, reading, by)


def _glance(fits: list[tuple[str, Fit]], task: dict[str, Any], reading: dict[str, Any]) -> bytes:
    return _lehr.glance_part(native(fits), task["part"], reading)


def _leave(fits: list[tuple[str, Fit]], task: dict[str, Any], reading: dict[str, Any]) -> bytes:
    return _lehr.leave_out_part(native(fits), task["part"], task["rows"], reading)


def native(fits: Sequence[tuple[str, Fit]]) -> list[tuple[str, _lehr.Fit]]:
    """Return named fits as the engine takes them."""
    return [(name, one._native) for name, one in fits]


def _score(fit: Fit, task: dict[str, Any], reading: dict[str, Any], by: dict[str, Any]) -> bytes:
    return fit._native.score_part(task, reading, by)
