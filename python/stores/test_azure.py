"""The same in Azure's store, as far as its emulator is it. LEHR_AZURITE names the emulator."""

import os
import socket
import subprocess
import time

import pytest
from conftest import COMMAND, free_port
from test_store import FORMULA, fitted, same

import lehr

azure = pytest.importorskip("azure.storage.blob")

EMULATOR = os.environ.get("LEHR_AZURITE", "")

# What every emulator takes: no secret.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of the emulator, which ends with the tests."""
    if not EMULATOR:
        pytest.skip("npm install azurite makes the emulator")
    port = free_port()
    place = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--skipApiVersionCheck"]
    folder = ["--location", str(tmp_path_factory.mktemp("azurite"))]
    process = subprocess.Popen([EMULATOR, *place, *folder], stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def container(address, here):
    """The folder of the table."""
    client = azure.BlobServiceClient(f"{address}/{ACCOUNT}", credential=KEY)
    tables = client.create_container("tables")
    for path in sorted(here.glob("*.parquet")):
        tables.upload_blob(f"data/{path.name}", path.read_bytes())
    return "az://tables/data"


@pytest.fixture(autouse=True)
def _asked(address, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_USE_EMULATOR", "true")
    monkeypatch.setenv("AZURITE_BLOB_STORAGE_URL", address)
    monkeypatch.setenv("AZURE_ALLOW_HTTP", "true")


@pytest.mark.parametrize("name", ["/*.parquet", "/", "/part-1.parquet"])
def test_a_table_in_azure_is_that_on_this_machine(here, container, name):
    own = here / "part-1.parquet" if "1" in name else here / "*.parquet"
    same(fitted(container + name), fitted(str(own)))


def test_a_streamed_table_is_fetched_in_parts(here, container):
    small = {"memory": "1MB"}
    same(fitted(f"{container}/*.parquet", **small), fitted(str(here / "*.parquet"), **small))


def test_what_is_not_there_is_said(container):
    with pytest.raises(lehr.LehrError, match="no such object"):
        fitted(f"{container}/part-9.parquet")
    told = subprocess.run(
        [COMMAND, "fit", FORMULA, "az://nowhere/a.parquet"], capture_output=True, text=True
    )
    assert told.returncode == 2 and KEY not in told.stderr
