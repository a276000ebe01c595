"""The files of a dump: only public data, in three formats with equal rows."""

import csv
import gzip
import io
import json
import re
import shutil
import threading
from datetime import date, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pyarrow import parquet

from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.lifecycle.corrections import annotate
from results.models import Evidence, Run, Visibility
from tests.results.builders import link_key
from tests.webapp.register.conftest import SLOW_DISK_FACTS
from tests.webapp.register.runs.test_side_file import SIDE_FILE
from webapp.register.dumps import store as dumps_store
from webapp.register.dumps import writer
from webapp.register.dumps.importer import read_rows
from webapp.register.dumps.tables import TABLES
from webapp.register.dumps.writer import write_due, write_dump
from webapp.register.runs.side_file import side_file_view

pytestmark = pytest.mark.django_db
DOCS = (Path(__file__).parents[4] / "docs" / "reference" / "dumps.md").read_text()


@pytest.fixture
def _one_day(monkeypatch):
    """Use one date for all dumps of a test: at midnight the second one would get another date."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


def read_csv(directory, name):
    return list(csv.DictReader(io.StringIO(gzip.decompress((directory / f"{name}.csv.gz").read_bytes()).decode())))


def test_the_three_formats_have_the_same_rows(make_log_run):
    run = make_log_run(notes="=1+1")
    directory = write_dump()
    dump = dumps_store.read_dump(directory)
    for table in TABLES:
        rows = list(read_rows(dump, table.name))
        columns = parquet.read_table(directory / f"{table.name}.parquet")
        assert (
            len(rows)
            == len(read_csv(directory, table.name))
            == columns.num_rows
            == dump.file(f"{table.name}.parquet").rows_count
        )
        assert columns.column_names == list(table.columns)
    (told,) = read_rows(dump, "runs")
    assert (told["public_id"], told["notes"], told["tps"]) == (run.public_id, "=1+1", "900")
    assert read_csv(directory, "runs")[0]["notes"] == "'=1+1"
    counts = parquet.read_table(directory / "slices.parquet").column("counts").to_pylist()
    assert counts[0] == [[5919, 60, 10, 10, 0, 1]]


def test_a_json_file_is_valid_json(make_log_run):
    make_log_run()
    told = json.loads(gzip.decompress((write_dump() / "slices.json.gz").read_bytes()))
    assert (told["schema"], told["table"], len(told["rows"])) == ("drivecert.dump/1", "slices", 4)


@pytest.mark.parametrize("visibility", [Visibility.UNREVIEWED, Visibility.EMBARGOED])
def test_rows_that_are_not_public_are_in_no_file(make_log_run, make_user, visibility):
    hidden, shown = make_log_run(visibility=visibility, notes="hidden"), make_log_run()
    dump = dumps_store.read_dump(write_dump())
    told = json.dumps({table.name: list(read_rows(dump, table.name)) for table in TABLES})
    assert shown.public_id in told
    for word in (
        hidden.public_id,
        hidden.product.slug,
        hidden.submission.log.sha256,
        link_key(shown.submission),
        "user-",
    ):
        assert word not in told


def test_serial_numbers_and_names_of_hosts_are_in_no_file(make_log_run):
    drives = [
        {"name": name, "kind": "nvme", "drive_key": f"nvme:EX9:{serial}", "model": "EX9", "serial": serial}
        | {"firmware": "1.0", "size_bytes": 10**12, "wwid": "eui.0025SECRET"}
        for name, serial in [("/dev/nvme0n1", "SN-4711"), ("/dev/nvme0n2", "SN-4711"), ("/dev/nvme1n1", "SN-4712")]
    ]
    by_id = "/dev/disk/by-id/nvme-EX9_SN-4713"
    side_file = SIDE_FILE | {
        "host": SIDE_FILE["host"] | {"hostname": "lab-host-17"},
        "drives": drives,
        "warnings": [{"id": "busy", "sentence": "SN-4711 is mounted on lab-host-17."}],
        "environment": {"HOSTNAME": "lab-host-17"},
        "host_causes": ["host-busy"],
    }
    facts = SLOW_DISK_FACTS | {"side_file": side_file, "devices": [{"name": by_id, "size_bytes": 10**12}]}
    facts |= {"config": [["device-names", f"{by_id},{by_id}-2"]], "operator": "lab-host-17"}
    run = make_log_run(facts=facts)
    run.histograms.update(device=by_id)
    run.findings.update(sentence=f"{by_id}: too slow.")
    record_event(None, "run-published", run_subject(run), "", {"in_spite_of": [f"{by_id} holds 2 TB."]})
    directory = write_dump()
    dump = dumps_store.read_dump(directory)
    told = json.dumps({table.name: list(read_rows(dump, table.name)) for table in TABLES})
    told += "".join(gzip.decompress(path.read_bytes()).decode() for path in directory.glob("*.csv.gz"))
    told += "".join(str(parquet.read_table(path).to_pylist()) for path in directory.glob("*.parquet"))
    for word in ("SN-471", "lab-host-17", "SECRET", "operator", "environment"):
        assert word not in told
    (row,) = read_rows(dump, "runs")
    assert row["facts"]["stop"] == facts["stop"]
    assert [each["drive_key"] for each in row["facts"]["side_file"]["drives"]] == ["drive 1", "drive 1", "drive 2"]
    assert row["facts"]["side_file"]["telemetry"] == SIDE_FILE["telemetry"]
    assert row["facts"]["side_file"]["host_causes"] == ["host-busy"]
    type(run).objects.filter(pk=run.pk).update(facts=row["facts"])
    run.refresh_from_db()
    assert side_file_view(run) is not None  # a mirror shows these facts


def sequester(run, which="log"):
    evidence = getattr(run.submission, which)
    type(evidence).objects.filter(pk=evidence.pk).update(sequestered=True)


@pytest.mark.parametrize("which", ["log", "side_file"])
def test_a_run_whose_evidence_is_sequestered_is_in_no_table(make_log_run, staff, which):
    run, shown = make_log_run(), make_log_run()
    stated = {"organisation": run.submission.organisation, "size_bytes": 1, "filename": "slow-disk-ms.json"}
    run.submission.side_file = Evidence.objects.create(sha256="f" * 64, **stated)
    run.submission.save()
    visibility.supersede(make_log_run(product=run.product, notes="earlier"), run, staff, "Newer firmware.")
    annotate(run, "Look at the firmware.", staff)
    sequester(run, which)
    dump = dumps_store.read_dump(write_dump())
    told = {table.name: list(read_rows(dump, table.name)) for table in TABLES}
    assert run.public_id not in json.dumps(told)
    assert run.submission.log.sha256 not in json.dumps(told)
    assert [row["public_id"] for row in told["runs"]] == [shown.public_id]  # not the superseded run either
    assert {row["run"] for row in told["slices"]} == {shown.public_id}


@pytest.mark.usefixtures("_one_day")
def test_evidence_sequestered_later_is_removed_from_every_current_dump(make_log_run):
    run = make_log_run()
    today = write_due()
    for day in ("2026-01-01", "2026-01-02"):
        shutil.copytree(today, today.with_name(day))
    sequester(run)
    assert write_due() == today
    (dump,) = dumps_store.dumps()
    assert (list(read_rows(dump, "runs")), dump.withheld) == ([], [run.public_id])
    assert {path.name for path in dumps_store.dumps_directory().iterdir()} == {today.name, "lock"}
    assert write_due() is None


def test_a_dump_waits_for_another_writer(monkeypatch):
    written = []
    monkeypatch.setattr(writer, "_write", lambda: written.append("dump"))
    second = threading.Thread(target=write_dump)
    with writer._writer_lock(waits=False):
        second.start()
        second.join(0.2)
        assert not written
        assert write_due() is None
    second.join()
    assert written == ["dump"]


def test_many_rows_are_written_in_batches(make_log_run, monkeypatch):
    make_log_run()
    monkeypatch.setattr(writer, "ROWS_AT_ONCE", 3)
    directory = write_dump()
    assert [row["number"] for row in read_rows(dumps_store.read_dump(directory), "slices")] == [1, 2, 3, 4]
    assert parquet.read_table(directory / "slices.parquet").column("number").to_pylist() == [1, 2, 3, 4]


@pytest.mark.usefixtures("_one_day")
def test_one_dump_a_day_is_due(db):
    assert write_due() is not None
    assert write_due() is None


@pytest.mark.usefixtures("_one_day")
def test_a_second_dump_of_a_day_replaces_the_first(make_published_run):
    write_dump()
    make_published_run()
    write_dump()
    (dump,) = dumps_store.dumps()
    assert dump.file("runs.json.gz").rows_count == 1
    assert [path.name for path in dumps_store.dumps_directory().iterdir() if path.name.startswith(".")] == []


@pytest.mark.usefixtures("_one_day")
def test_dumps_are_deleted_after_some_days(db, settings):
    settings.DUMP_KEPT_DAYS = 2
    today = write_dump()
    day = date.fromisoformat(today.name)
    for days in (1, 2, 3):
        (today.parent / (day - timedelta(days=days)).isoformat()).mkdir()
    write_dump()
    kept = {path.name for path in today.parent.iterdir() if path.is_dir()}
    assert kept == {today.name, (day - timedelta(days=1)).isoformat()}


def test_an_incomplete_dump_is_not_listed(db, monkeypatch):
    monkeypatch.setattr(writer, "_write_manifest", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_dump()
    assert dumps_store.dumps() == []


def test_every_table_and_column_is_documented():
    for table in TABLES:
        row = re.search(rf"^\| `{table.name}` \| (.*) \|$", DOCS, re.MULTILINE)
        assert row is not None, table.name
        assert re.findall(r"`(\w+)`", row[1].split(";")[0]) == list(table.columns), table.name


def test_a_dump_has_every_public_column_of_a_run():
    left_out = {"id", "submission", "reading", "ordinal", "is_virtual", "is_demo", "predates_approvals"}
    runs = next(table for table in TABLES if table.name == "runs")
    assert {field.name for field in Run._meta.concrete_fields if not field.generated} - left_out == set(runs.columns)


def test_a_directory_without_a_date_as_its_name_is_ignored(make_published_run):
    make_published_run()
    strange = dumps_store.dumps_directory() / "2026-13-45"
    strange.mkdir(parents=True)
    assert write_dump().is_dir()
    assert strange.is_dir()
