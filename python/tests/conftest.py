"""Small tables that the tests share."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def frame():
    random = np.random.default_rng(7)
    n = 240
    site = random.choice(["north", "south", "west"], n)
    dose = random.normal(size=n)
    effect = pd.Series(site).map({"north": 0.5, "south": -0.5, "west": 0.0}).to_numpy()
    y = 1.0 + 2.0 * dose + effect + random.normal(scale=0.5, size=n)
    failed = random.random(n) < 1 / (1 + np.exp(-(dose + effect)))
    return pd.DataFrame({"y": y, "dose": dose, "site": site, "failed": failed})


@pytest.fixture(scope="session")
def fit(frame):
    import lehr

    return lehr.fit("y ~ dose + site", frame, method="full-rank", seed=3, progress=False)
