"""What the README and the page of Python show, run as it is written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehr

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.S)


def run(block, page, names):
    exec(compile(block, str(page), "exec"), names)


def machines(rows, seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.normal(size=rows),
            "load": random.normal(size=rows),
            "shift": random.choice(["day", "night"], rows),
            "site": random.choice(list("abcdefgh"), rows),
        }
    )
    effect = frame["site"].map({name: 0.2 * k for k, name in enumerate("abcdefgh")})
    logit = -1 + 0.5 * frame["age"] + 0.3 * frame["age"] * frame["load"] + effect
    frame["failed"] = (random.random(rows) < 1 / (1 + np.exp(-logit))).astype(int)
    return frame


def groups(rows):
    random = np.random.default_rng(3)
    x = random.normal(size=(rows, 28))
    group = random.integers(0, 12, size=rows)
    logit = x[:, 0] - 0.5 * x[:, 1] + 0.7 * random.normal(size=12)[group]
    y = (random.random(rows) < 1 / (1 + np.exp(-logit))).astype(float)
    return {"x": x, "group": np.array(list("abcdefghijkl"))[group], "y": y}


@pytest.fixture(scope="module")
def machines_folder(tmp_path_factory):
    """Return the folder in which the README's shell commands ran, and what they printed."""
    folder = tmp_path_factory.mktemp("readme")
    command = folder / "lehr"
    main = "from lehr._command import main; main()"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{main}" "$@"\n')
    command.chmod(0o755)
    part = README.read_text().split("## In the shell")[1]
    lines = part.split("```sh\n")[1].split("```")[0].splitlines()
    script = "\n".join(line for line in lines if not line.startswith("cargo install"))
    environment = os.environ | {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(lehr.__file__).parents[1]),
    }
    run = ["sh", "-c", script]
    printed = subprocess.run(
        run, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return folder, printed.stdout


def shown_after(text):
    """Return the lines of the first block of output after a place in the README."""
    return README.read_text().split(text)[1].split("```text\n")[1].split("```")[0].splitlines()


def test_the_shell_commands_of_the_readme_print_what_it_shows(machines_folder):
    _, printed = machines_folder
    assert [line.rstrip() for line in printed.splitlines()] == shown_after("## In the shell")


def test_the_python_of_the_readme_prints_what_it_shows(machines_folder, monkeypatch, capsys):
    (block,) = blocks(README)
    monkeypatch.chdir(machines_folder[0])
    names = {}
    run(block, README, names)
    assert names["fit"].verdict.level == "reliable"
    assert lehr.load("machines.lehr").formula
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == shown_after(block)


def test_the_examples_of_the_page_of_python_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("arviz")
    page = ROOT / "docs" / "python.md"
    found = blocks(page)
    assert len(found) == 2
    monkeypatch.chdir(tmp_path)
    frames = {"df": machines(1500, 1), "new": machines(20, 2), "test": machines(300, 4)}
    names = frames | {"table": groups(1500), "lehr": lehr}
    for block in found:
        run(block, page, names)
    assert names["fit"].verdict.level in ("reliable", "corrected")
    assert (tmp_path / "fit.html").exists() and lehr.load("fit.lehr").formula
    assert names["posterior"].verdict.level in ("reliable", "corrected")
    assert "weight ~ Normal(loc = 0, scale = 1), shape [28]" in capsys.readouterr().out
