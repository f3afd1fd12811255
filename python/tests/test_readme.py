"""What the README and the page of Python show, run as it is written."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehr

ROOT = Path(__file__).parents[2]


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


def test_the_example_of_the_readme_runs_and_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    readme = ROOT / "README.md"
    (block,) = blocks(readme)
    made = re.search(r"^awk .*?> machines.csv$", readme.read_text(), re.M | re.S).group(0)
    monkeypatch.chdir(tmp_path)
    subprocess.run(["sh", "-c", made], check=True)
    names = {}
    run(block, readme, names)
    assert names["fit"].verdict.level == "reliable"
    assert lehr.load("machines.lehr").formula
    shown = readme.read_text().split(block)[1].split("```text\n")[1].split("```")[0]
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == shown.splitlines()


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
