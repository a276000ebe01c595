"""Fixtures of the packages that meet the evidence store and the reader."""

import importlib
import os
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models.signals import post_migrate
from django.dispatch import receiver

from results import drivetest
from results.models import Profile

STAND_IN = Path(__file__).with_name("stand_in_reader.py")


@receiver(post_migrate, dispatch_uid="profile-after-flush")
def restore_profile(app_config, **_):
    """A test with transactions of its own ends with a flush, which also empties what migrations have filled."""
    if app_config.label == "results" and not Profile.objects.exists():
        importlib.import_module("results.migrations.0003_operational_database_1").add_profile(apps, None)


@pytest.fixture
def evidence_dir(settings, tmp_path):
    directory: Path = tmp_path / "evidence"
    settings.EVIDENCE_DIR = directory
    return directory


@pytest.fixture
def program(settings, tmp_path):
    """Make a shell script the reader."""

    def install(body: str) -> Path:
        path: Path = tmp_path / "drivetest"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        settings.DRIVETEST = path
        drivetest.reader_version.cache_clear()
        return path

    yield install
    drivetest.reader_version.cache_clear()


@pytest.fixture
def stand_in(program):
    """Make the reader one that knows the recorded readings."""
    return program(f'exec {sys.executable} -I {STAND_IN} "$@"')


@pytest.fixture
def real_reader(settings):
    if not os.access(settings.DRIVETEST, os.X_OK):
        pytest.skip(f"NOT TESTED: {settings.DRIVETEST} is not built")
    drivetest.reader_version.cache_clear()
    return settings.DRIVETEST
