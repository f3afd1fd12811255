"""An S3 server that the tests start and stop, and a table in it."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import boto3
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BUCKET = "tables"
SECRET = "a-secret-that-nobody-may-tell"
COMMAND = os.environ["LEHR_COMMAND"]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="session")
def server():
    """The address of the server, which this environment's credentials fit."""
    port = free_port()
    arguments = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError("the server did not start")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="session")
def environment(server):
    """What the environment says of the server."""
    return {
        "AWS_ENDPOINT_URL": server,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1",
    }


@pytest.fixture(autouse=True)
def _known(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


def rows(count: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 2))
    color = random.choice(["red", "green", "blue"], count)
    mean = 0.3 + x @ [0.5, -0.4] + 0.3 * (color == "green")
    hit = (random.random(count) < 1 / (1 + np.exp(-mean))).astype(float)
    return pd.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "color": color, "hit": hit})


@pytest.fixture(scope="session")
def here(tmp_path_factory) -> Path:
    """The same table on this machine: three files of four row groups, and one as text."""
    folder = tmp_path_factory.mktemp("table")
    for k in range(3):
        table = pa.Table.from_pandas(rows(20_000, k))
        pq.write_table(table, folder / f"part-{k}.parquet", row_group_size=5_000)
    rows(4_000, 7).to_csv(folder / "text.csv", index=False)
    return folder


@pytest.fixture(scope="session")
def there(here, environment) -> str:
    """The folder of the table in the store."""
    client = boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id="somebody",
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    )
    client.create_bucket(Bucket=BUCKET)
    for path in sorted(here.iterdir()):
        kind = "text" if path.suffix == ".csv" else "long"
        client.upload_file(str(path), BUCKET, f"data/{kind}/{path.name}")
    client.put_object(Bucket=BUCKET, Key="data/long/_SUCCESS", Body=b"")
    client.put_object(Bucket=BUCKET, Key="data/damaged/part-0.parquet", Body=b"PAR1 no more")
    return f"s3://{BUCKET}/data"
