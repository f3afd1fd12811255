"""What an installed wheel must do without Rust."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import lehr

x = np.linspace(-1, 1, 500)
fit = lehr.fit("y ~ x", {"x": x, "y": 2 * x + np.sin(31 * np.arange(500))}, progress=False)
assert fit.verdict.is_trusted, fit
assert abs(fit.coefficients.loc["x", "mean"] - 2) < 0.3, fit
# The command lies beside the interpreter, whether or not its folder is on the path.
subprocess.run([Path(sys.executable).parent / "lehr", "--version"], check=True)
