"""Stan's No-U-Turn sampler through R, where R has it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from compare.data import Data

WARM_UP, DRAWS = 300, 1000
PROGRAM = Path(__file__).with_name("stan.R")


def is_there() -> bool:
    """Whether R has rstan."""
    if shutil.which("Rscript") is None:
        return False
    asked = "quit(status = !all(sapply(c('rstan', 'jsonlite'), requireNamespace, quietly = TRUE)))"
    return (
        subprocess.run(["Rscript", "-e", asked], capture_output=True, check=False).returncode == 0
    )


def run(problem: dict[str, Any], data: tuple[Data, Path] | None, scratch: Path) -> dict[str, Any]:
    """One chain of 1,000 draws after 300 of warm-up; compiling is not counted."""
    question = dict(problem) | {
        "warm_up": WARM_UP,
        "draws": DRAWS,
        "draws_path": str(scratch / "stan-draws.bin"),
    }
    if data is not None:
        table, path = data
        question |= {"path": str(path), "rows": table.rows, "columns": table.columns}
    asked = scratch / "stan.json"
    asked.write_text(json.dumps(question))
    command = ["Rscript", str(PROGRAM), str(asked)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise RuntimeError(f"stan.R: {said.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(said.stdout.strip().splitlines()[-1])
    return answer | {"path": question["draws_path"]}
