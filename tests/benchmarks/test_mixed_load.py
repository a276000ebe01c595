"""The mixed load in a small form: each kind of client on a real register."""

import re
import shutil
import tempfile
from pathlib import Path

import pytest
from account_measures.site import Site
from mixed.load import COUNTED, Found, Rates
from mixed.processes import use_by_part
from mixed_load import measure

from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data

SMALL = Rates(page_views_per_s=4, uploads_per_s=1, live_pages=3, agents=5, api_per_s=1)
DURATION_S = 3
TIMINGS = {"time of a page", "oldest unfinished reading"}  # of a quiet machine, and not of tests


@pytest.mark.long
def test_each_client_is_served_and_no_confirmed_upload_is_lost(tmp_path_factory):
    directory = Path(tempfile.mkdtemp(prefix="drivecert-mixed-"))
    directory.chmod(0o711)
    register = Register(directory / "var", **WITHOUT_SNAPSHOTS)
    try:
        copy_prepared_data(tmp_path_factory, register.data_dir)
        register.start_and_wait()
        rows = {row.measure: row for row in measure(Site(register), SMALL, DURATION_S, directory)}
        parts = set(use_by_part(register))
    finally:
        register.end()
        shutil.rmtree(directory)
    missed = {name: row.found for name, row in rows.items() if not row.is_met and not name.startswith("memory")}
    assert missed.keys() <= TIMINGS, missed
    assert parts == {"beat", "lab", "live", "postgresql", "redis", "supervisor", "web", "worker"}
    assert {f"memory of {part}" for part in parts} <= rows.keys()
    assert re.fullmatch(r"0 of [1-9]\d*", rows["confirmed uploads that are not stored"].found)


def line(kind, at, status, ms=1.0, **further):
    return {"kind": kind, "at": at, "status": status, "ms": ms, "path": "/"} | further


def test_failures_are_server_errors_and_missing_answers_but_not_refusals():
    found = Found([line("page", at, status) for at, status in enumerate((200, 404, 429, 499, 500, 503, 0))])
    assert [each["status"] for each in found.failed()] == [500, 503, 0]
    assert [each["at"] for each in found.since(2, 5).lines] == [2, 3, 4]


def test_percentiles_are_those_of_answered_requests_of_one_kind():
    times = [line("page", 0, 200, ms) for ms in range(1, 102)]
    found = Found([*times, line("page", 0, 0, 9999), line("upload", 0, 201, 9999)])
    assert found.percentiles_ms("page") == (51, 96, 100)
    assert Found([line("page", 0, 200, 7)]).percentiles_ms("page") == (7, 7, 7)
    assert Found([]).percentiles_ms("page") == (0, 0, 0)


def test_confirmed_uploads_are_those_with_a_success():
    lines = [line("upload", 0, status, sha256=str(status)) for status in (200, 201, 413, 503, 0)]
    assert Found(lines).accepted() == {"200", "201"}
    assert COUNTED[:2] == ("page", "upload")
