"""A Ray cluster of several nodes on this machine, and tables in Parquet files."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
from ray.cluster_utils import Cluster

from lehr import _ray

# Small: the tables are, and other things run on this machine.
NODE = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
NODES = int(os.environ.get("LEHR_NODES", "3"))


@pytest.fixture(scope="session")
def nodes():
    """The cluster; it ends with the tests, also those that fail."""
    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    try:
        for _ in range(NODES - 1):
            cluster.add_node(**NODE)
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def workers(monkeypatch, nodes):
    """The workers of every table that is given to the cluster, in order."""
    made = []

    class Kept(_ray.Workers):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(_ray, "Workers", Kept)
    return made


def table(rows: int, seed: int) -> pd.DataFrame:
    """Return rows whose coefficients are known."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 3))
    color = random.choice(["red", "green", "blue"], rows)
    mean = 0.3 + x @ [0.5, -0.4, 0.0] + 0.3 * (color == "green")
    return pd.DataFrame(
        {f"x{j}": x[:, j] for j in range(3)}
        | {
            "color": color,
            "hit": (random.random(rows) < 1 / (1 + np.exp(-mean))).astype(float),
            "y": 40 + 3 * mean + random.normal(size=rows),
        }
    )


def write(folder, files: int = 4, rows: int = 30_000):
    """Write files of three row groups each, and return their pattern."""
    folder.mkdir(exist_ok=True)
    for k in range(files):
        path = folder / f"part-{k}.parquet"
        rows_of = pa.Table.from_pandas(table(rows, seed=k))
        pq.write_table(rows_of, path, row_group_size=rows // 3 + 1)
    return str(folder / "*.parquet")


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A table of 120,000 rows in four files."""
    return write(tmp_path_factory.mktemp("table") / "table")
