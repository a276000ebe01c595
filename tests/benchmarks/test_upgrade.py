"""The measure of an upgrade in a small form; `python -m benchmarks.upgrade` runs it in full."""

import re
import shutil
import tempfile
import threading
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from upgrade import probes, upgrade

from tests import previous_release
from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data, wait_for


@pytest.mark.long
@pytest.mark.skipif(not previous_release.is_known(), reason="this clone does not have the previous release")
def test_an_upgrade_from_the_previous_release_is_measured_on_every_table(tmp_path_factory):
    directory = Path(tempfile.mkdtemp(prefix="drivecert-measure-"))
    directory.chmod(0o711)
    register = Register(directory / "var", **WITHOUT_SNAPSHOTS)
    try:
        copy_prepared_data(tmp_path_factory, register.data_dir)
        rows = list(upgrade(register, (200, 20, 5)))
    finally:
        register.end()
        shutil.rmtree(directory)
    assert rows[0].is_met, rows
    assert re.search("of [5-9][0-9] tables", rows[1].measure), rows  # the waits are times of this machine


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "statement", ["LOCK TABLE results_organisation IN SHARE MODE", "SELECT FROM results_organisation FOR UPDATE"]
)
def test_a_probe_waits_for_a_lock_that_is_held(organisation, statement):
    settings = connection.settings_dict
    url = f"postgresql://{settings['USER']}:{settings['PASSWORD']}@/{settings['NAME']}?host={settings['HOST']}"
    blocked = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with psycopg.connect(url) as holder, psycopg.connect(url, autocommit=True) as watcher:
        holder.execute(statement)
        with probes(url) as longest_s:
            wait_for(lambda: watcher.execute(blocked).fetchall(), lambda: "no session waits for a lock")
            threading.Event().wait(0.3)  # the lock is held for this long
            holder.rollback()
    assert max(longest_s, key=longest_s.get) == "results_organisation"
    assert longest_s["results_organisation"] >= 0.3
