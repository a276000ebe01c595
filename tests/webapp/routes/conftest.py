"""One register for all tests of a module. Each test gets a copy, and what it changes is rolled back."""

import shutil
import sys
from copy import deepcopy

import pytest
from django.db import transaction
from django.test import override_settings

from results.evidence.store import prepare_store
from results.reader import process as reader_process
from tests.results.fixtures import STAND_IN, evidence_dir, program, stand_in
from tests.webapp.routes.world import make_world

__all__ = ["evidence_dir", "program", "stand_in"]


@pytest.fixture(scope="module")
def made_world(django_db_setup, django_db_blocker, tmp_path_factory):
    """Make the register once, in a transaction in which each test has a savepoint; return it with its evidence."""
    directory = tmp_path_factory.mktemp("world")
    reader = directory / "drivetest"
    reader.write_text(f'#!/bin/sh\nexec {sys.executable} -I {STAND_IN} "$@"\n')
    reader.chmod(0o755)
    with django_db_blocker.unblock(), transaction.atomic():
        reader_process.reader_version.cache_clear()
        with override_settings(EVIDENCE_DIR=directory / "evidence", DRIVETEST=reader):
            prepare_store(is_new=True)
            world = make_world()
        reader_process.reader_version.cache_clear()
        yield world, directory / "evidence"
        transaction.set_rollback(True)


@pytest.fixture
def world(made_world, db, evidence_dir, stand_in, settings):
    """Return a copy of the module's register, with files of its own."""
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 24 * 3600  # the users signed in when the module began
    made, evidence = made_world
    shutil.copytree(evidence, evidence_dir, dirs_exist_ok=True)
    return deepcopy(made)
