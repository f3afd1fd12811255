"""The two programs that are compared, as processes on chosen cores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from compare.data import Data

FOLDER = Path(__file__).resolve().parent.parent


class Side:
    """A program that answers questions, one line of JSON each."""

    def __init__(self, command: Sequence[str], threads: int, environment: dict[str, str]) -> None:
        """Starts it on the first `threads` cores."""
        cores = sorted(os.sched_getaffinity(0))[:threads]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=FOLDER,
            env=os.environ | environment,
        )
        # Threads that it starts later inherit this.
        os.sched_setaffinity(self._process.pid, cores)
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("both pipes were asked for")
        self._questions, self._answers = self._process.stdin, self._process.stdout

    def ask(self, question: str, **details: Any) -> dict[str, Any]:
        """One question, one answer."""
        self._questions.write(json.dumps({"ask": question, **details}) + "\n")
        self._questions.flush()
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"{question}: the process ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer and "mean" not in answer:
            raise RuntimeError(f"{question}: {answer['error']}")
        return answer

    def take(self, data: Data, path: Path) -> None:
        """Reads a table that was written to a file."""
        self.ask("data", path=str(path), rows=data.rows, columns=data.columns)

    def processor_seconds(self) -> float:
        """Time that its threads have been on a processor, whatever else was running."""
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return 1e-9 * sum(int(task.read_text().split()[0]) for task in tasks)

    def peak_megabytes(self) -> float:
        """The most memory it has held so far."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def __enter__(self) -> Self:
        """Nothing more to do."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the process by ending the questions."""
        self._questions.close()
        self._process.wait()
        self._answers.close()


def lehr(threads: int) -> Side:
    """Our side."""
    return Side([os.environ["LEHR_PEER"], str(threads)], threads, {})


def numpyro(threads: int) -> Side:
    """The peer's side."""
    one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    flags = one if threads == 1 else ""
    environment = {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": str(threads)}
    return Side([sys.executable, "-m", "compare.peer"], threads, environment)
