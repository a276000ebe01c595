"""Fixtures for tests that use the evidence store and the reader."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from results.evidence.store import configured_store
from results.reader import process as reader_process
from tests.object_storage import running_seaweed
from tests.results.stored_files import SmallDisk, use_directory
from webapp.celery import app

STAND_IN = Path(__file__).with_name("stand_in_reader.py")


@pytest.fixture
def evidence_dir(settings, tmp_path):
    directory: Path = tmp_path / "evidence"
    use_directory(settings, directory)
    return directory


@pytest.fixture
def small_disk(settings, tmp_path):
    """Store evidence in a small file system of its own, which a test can fill."""
    directory = tmp_path / "small disk"
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=400", "tmpfs", directory]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a file system")
    try:
        use_directory(settings, directory)
        yield SmallDisk(directory)
    finally:
        subprocess.run(["umount", "--lazy", directory], check=True)


@pytest.fixture(scope="session")
def seaweed():
    """Run one object storage for the tests of a process."""
    with running_seaweed() as server:
        yield server


@pytest.fixture
def object_storage(seaweed, settings):
    """Store evidence in a bucket of the test, and return the store."""
    settings.EVIDENCE_STORE = f"s3://{seaweed.create_bucket()}/register"
    settings.S3_ENDPOINT = seaweed.url
    settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY = seaweed.keys
    return configured_store()


@pytest.fixture(params=["directory", pytest.param("object storage", marks=pytest.mark.xdist_group("object storage"))])
def any_store(request):
    """Store evidence in each kind of store, one after the other, and return the store."""
    request.getfixturevalue("evidence_dir" if request.param == "directory" else "object_storage")
    return configured_store()


@pytest.fixture
def program(settings, tmp_path):
    """Install a shell script as the reader."""

    def install(body: str) -> Path:
        path: Path = tmp_path / "drivetest"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        settings.DRIVETEST = path
        reader_process.reader_version.cache_clear()
        return path

    yield install
    reader_process.reader_version.cache_clear()


@pytest.fixture
def stand_in(program):
    """Install a reader that returns the recorded readings."""
    return program(f'exec {sys.executable} -I {STAND_IN} "$@"')


@pytest.fixture
def real_reader(settings):
    if not os.access(settings.DRIVETEST, os.X_OK):
        pytest.skip(f"{settings.DRIVETEST} is not built")
    reader_process.reader_version.cache_clear()
    return settings.DRIVETEST


@pytest.fixture
def no_broker():
    before = app.conf.broker_url
    _use_broker("redis+socket:///nowhere/redis.sock")
    yield
    _use_broker(before)


def _use_broker(url):
    app.conf.update(broker_url=url)
    vars(app.amqp)["_producer_pool"] = None  # it still has a connection to the previous one
