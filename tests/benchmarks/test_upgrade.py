"""The measure of an upgrade in a small form; `python -m benchmarks.upgrade` runs it in full."""

import shutil
import tempfile
import threading
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from upgrade import LOCK_S, probes, upgrade

from tests import previous_release
from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data


@pytest.mark.long
@pytest.mark.skipif(not previous_release.is_known(), reason="this clone does not have the previous release")
def test_an_upgrade_keeps_no_lock_for_long(tmp_path_factory):
    directory = Path(tempfile.mkdtemp(prefix="drivecert-measure-"))
    directory.chmod(0o711)
    register = Register(directory / "var", **WITHOUT_SNAPSHOTS)
    try:
        copy_prepared_data(tmp_path_factory, register.data_dir)
        rows = list(upgrade(register, (200, 20, 5)))
    finally:
        register.end()
        shutil.rmtree(directory)
    assert [row.measure for row in rows if not row.is_met] == [], rows
    assert len(rows) == 2


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
            while not watcher.execute(blocked).fetchall():
                pass
            threading.Event().wait(0.3)  # the lock is held for this long
            holder.rollback()
    assert max(longest_s, key=longest_s.get) == "results_organisation"
    assert 0.3 <= longest_s["results_organisation"] < LOCK_S
