"""Rust and Python record the same programs, and fit them to the same bits."""

import importlib.util
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import lehr

ROOT = Path(__file__).parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
EXAMPLE = TARGET / "debug" / "examples" / "models"


def shared():
    spec = importlib.util.spec_from_file_location("models", ROOT / "tests/models/models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bits(fit):
    found = 0xCBF29CE484222325
    for value in fit.draws().to_numpy().T.copy().view(np.uint64).ravel().tolist():
        found = ((found ^ value) * 0x100000001B3) % 2**64
    return f"{found:016x}"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="cargo build --example models makes it")
def test_rust_and_python_write_the_same_models_and_fit_them_to_the_same_bits():
    printed = subprocess.run([EXAMPLE], capture_output=True, text=True, check=True).stdout
    models, how = shared(), {"method": "full-rank", "iterations": 200, "seed": 7}
    table, own = models.table(), []
    for model in models.MODELS:
        fit = model.fit(table, progress=False, **how)
        own.append(f"== {model.__name__}\n{model}\n-- {bits(fit)}\n")
    for name, formula, family in models.FORMULAS:
        fit = lehr.fit(formula, table, family=family, progress=False, **how)
        own.append(f"== {name}\n{formula}\n-- {bits(fit)}\n")
    assert "".join(own) == printed
