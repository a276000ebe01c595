"""Dumps below a directory of the test's own."""

import pytest


@pytest.fixture(autouse=True)
def data_dir(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"
    return tmp_path
