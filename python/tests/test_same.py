"""Rust and Python record the same programs, and fit them to the same bits."""

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import lehr

ROOT = Path(__file__).parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
EXAMPLE = TARGET / os.environ.get("LEHR_PROFILE", "debug") / "examples" / "models"


def shared():
    spec = importlib.util.spec_from_file_location("models", ROOT / "tests/models/models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def told(fit):
    found = 0xCBF29CE484222325
    for value in fit.draws().to_numpy().T.copy().view(np.uint64).ravel().tolist():
        found = ((found ^ value) * 0x100000001B3) % 2**64
    return f"{fit.verdict.level} {found:016x}"


def mistake(model, table):
    with pytest.raises(lehr.LehrError) as found:
        model.bind(table)
    words = str(found.value).splitlines()[0]
    return re.sub(r"^models\.py:\d+: ", "", words)


def regressed(table, formula, family, how):
    try:
        fit = lehr.fit(formula, table, family=family, progress=False, **how)
    except lehr.LehrError as error:
        return str(error).splitlines()[0]
    return f"{fit.program}\n-- {told(fit)}"


def written(models):
    table, how = models.table(), {"method": "full-rank", "iterations": 200, "seed": 7}
    for model in models.MODELS:
        fit = model.fit(table, progress=False, **how)
        assert str(model) == fit.program
        yield model.__name__, f"{model}\n-- {told(fit)}"
    for model in models.FAILING:
        yield model.__name__, mistake(model, table)
    for name, formula, family in models.FORMULAS:
        yield name, f"{formula}\n{regressed(table, formula, family, how)}"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="cargo build --example models makes it")
def test_rust_and_python_write_the_same_models_and_fit_them_to_the_same_bits():
    printed = subprocess.run([EXAMPLE], capture_output=True, text=True, check=True).stdout
    own = "".join(f"== {name}\n{text}\n" for name, text in written(shared()))
    assert own == printed
