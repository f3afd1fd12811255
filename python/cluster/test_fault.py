"""What is lost, and what is said of it."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
import ray
from conftest import NODE, write
from test_answer import FORMULA, SHORT, fitted, same

import lehr
from lehr import _ray

KILLS = int(os.environ.get("LEHR_KILLS", "4"))


@pytest.fixture(scope="module")
def undisturbed(files, nodes):
    return fitted(files, workers=3, method="surrogate-hmc")


@contextmanager
def meanwhile(work):
    """Do something beside, and fail if that fails."""
    failed = []

    def run():
        try:
            work()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert not failed, failed


def wait_for(found, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.005)
    raise AssertionError("nothing happened in time")


def kill(workers, number):
    pid = ray.get(workers.actors[number].process.remote())
    os.kill(pid, signal.SIGKILL)
    return pid


def test_workers_that_are_killed_at_any_moment_change_nothing(files, workers, undisturbed):
    random = np.random.default_rng(1)
    killed = set()
    while len(killed) < KILLS:
        begun, ended = len(workers), threading.Event()

        def work(begun=begun, ended=ended):
            wait_for(lambda: len(workers) > begun)
            while len(killed) < KILLS and not ended.wait(random.uniform(0.0, 2.0)):
                # The fit may be over by now, and its workers gone.
                with suppress(ray.exceptions.RayError):
                    killed.add(kill(workers[-1], random.integers(3)))

        with meanwhile(work):
            fit = fitted(files, workers=3, method="surrogate-hmc")
            ended.set()
        same(fit, undisturbed)
    print(f"{len(killed)} workers were killed during {len(workers)} fits")


def test_a_worker_that_is_killed_while_it_computes_is_asked_again(files, workers, undisturbed):
    def work():
        mine = wait_for(lambda: workers and workers[-1]._model and workers[-1])
        kill(mine, 1)

    with meanwhile(work):
        fit = fitted(files, workers=3, method="surrogate-hmc")
    same(fit, undisturbed)


def test_chains_that_ask_for_every_gradient_outlive_a_worker(files, workers):
    undisturbed = fitted(files, workers=3, **SHORT)
    begun = len(workers)

    def work():
        mine = wait_for(lambda: len(workers) > begun and workers[-1]._model and workers[-1])
        time.sleep(0.5)
        kill(mine, 1)

    with meanwhile(work):
        fit = fitted(files, workers=3, **SHORT)
    same(fit, undisturbed)


def test_a_node_that_is_lost_costs_nothing_but_time(files, nodes, workers, undisturbed):
    node = nodes.list_all_nodes()[-1]

    def work():
        wait_for(lambda: workers and workers[-1]._model)
        nodes.remove_node(node, allow_graceful=False)

    try:
        with meanwhile(work):
            fit = fitted(files, workers=3, method="surrogate-hmc")
        same(fit, undisturbed)
    finally:
        nodes.add_node(**NODE)


@pytest.mark.parametrize("harm", ["vanished", "damaged", "replaced"])
def test_a_file_that_is_harmed_while_its_worker_is_lost_is_named(tmp_path, workers, harm):
    files, output = write(tmp_path / "own"), tmp_path / "fit.lehr"
    path = tmp_path / "own" / "part-2.parquet"

    def work():
        mine = wait_for(lambda: workers and workers[-1]._model and workers[-1])
        if harm == "vanished":
            path.unlink()
        elif harm == "damaged":
            whole = bytearray(path.read_bytes())
            whole[4 : len(whole) // 2] = bytes(len(whole) // 2 - 4)
            path.write_bytes(whole)
        else:
            shutil.copy(write(tmp_path / "other", 1, 900).replace("*", "part-0"), path)
        for number in range(3):
            kill(mine, number)

    with meanwhile(work), pytest.raises(lehr.LehrError, match="part-2.parquet"):
        fitted(files, workers=3, method="surrogate-hmc", output=output)
    assert not output.exists()


def test_a_file_that_is_not_a_table_is_named_before_anything_is_done(tmp_path, nodes):
    files = write(tmp_path / "own")
    (tmp_path / "own" / "part-1.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(lehr.LehrError, match="part-1.parquet"):
        fitted(files)


HEAD = """
import sys
sys.path.insert(0, {here!r})
from test_answer import fitted
fit = fitted({files!r}, workers=3, address={address!r}, output={output!r}, resume={resume},
             method="sl-dais", checkpoint_every=0.0, start="laplace")
"""


def head(nodes, files, output, resume):
    here, address = str(Path(__file__).parent), nodes.address
    code = HEAD.format(here=here, address=address, files=files, output=str(output), resume=resume)
    return subprocess.Popen([sys.executable, "-c", code])


def test_a_head_that_is_killed_resumes_from_its_checkpoint(files, nodes, tmp_path):
    output, checkpoint = tmp_path / "fit.lehr", tmp_path / "fit.lehr.checkpoint"
    first = head(nodes, files, output, resume=False)
    try:
        wait_for(lambda: checkpoint.exists() and checkpoint.stat().st_size > 0, 120)
        time.sleep(0.5)
    finally:
        first.kill()
        first.wait()
    assert not output.exists() and checkpoint.exists()
    assert head(nodes, files, output, resume=True).wait(timeout=240) == 0
    assert not checkpoint.exists()
    whole = fitted(files, workers=2, method="sl-dais", start="laplace")
    same(lehr.load(output), whole)


def test_workers_end_with_the_fit(files, workers, nodes):
    pids = []

    def work():
        mine = wait_for(lambda: workers and workers[-1])
        pids.extend(ray.get([actor.process.remote() for actor in mine.actors]))

    with meanwhile(work):
        fitted(files, formula=FORMULA, workers=3)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


class Noted(_ray.Worker):
    """A worker that notes when it was asked and when it answered; one of them is slow."""

    def __init__(self, parts, *others):
        super().__init__(parts, *others)
        self.slow = 0 in parts
        self.notes = []

    def answer(self, model, tasks):
        begin = time.time()
        found = super().answer(model, tasks)
        time.sleep(0.3 if self.slow else 0.0)
        self.notes.append((begin, time.time()))
        return found

    def noted(self):
        return self.slow, self.notes


def test_a_slow_worker_costs_its_own_time_and_nobody_elses(
    files, workers, undisturbed, monkeypatch
):
    # Processes of the cluster cannot import this file.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(_ray, "Worker", Noted)
    found = []
    monkeypatch.setattr(
        _ray.Workers,
        "close",
        lambda self: found.extend(ray.get([one.noted.remote() for one in self.actors])),
    )
    same(fitted(files, workers=3, method="surrogate-hmc"), undisturbed)
    for actor in workers[-1].actors:
        ray.kill(actor)
    (slow,) = (notes for is_slow, notes in found if is_slow)
    others = [notes for is_slow, notes in found if not is_slow]
    assert len(others) == 2 and all(len(notes) == len(slow) for notes in others)
    # Every question is with the others before the slow one has answered it: they work side by
    # side, and it is waited for as long as it takes itself. At first some are not there yet.
    for notes in others:
        pairs = list(zip(notes, slow, strict=True))[1:]
        assert len(pairs) > 5 and all(own[0] < late[1] for own, late in pairs)
