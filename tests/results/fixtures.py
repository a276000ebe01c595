"""Fixtures for tests that use the evidence store and the reader."""

import os
import sys
from pathlib import Path

import pytest

from results.reader import process as reader_process
from webapp.celery import app

STAND_IN = Path(__file__).with_name("stand_in_reader.py")


@pytest.fixture
def evidence_dir(settings, tmp_path):
    directory: Path = tmp_path / "evidence"
    settings.EVIDENCE_DIR = directory
    return directory


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
