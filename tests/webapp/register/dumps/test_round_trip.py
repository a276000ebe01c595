"""Import of a dump into an empty register: the same tables with the same verdicts."""

import gzip
import hashlib
import json
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from results.access.mirrored_runs import DumpOrigin, dump_origin
from results.catalogue.importer import import_catalogue
from results.lifecycle import visibility
from results.lifecycle.corrections import annotate, reply_to_annotation
from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import admit
from results.models import (
    Certificate,
    CertificateRun,
    Product,
    Profile,
    PublishedClaim,
    Run,
    Share,
    Verdict,
    Visibility,
    YcsbInterval,
    YcsbOperation,
    YcsbRun,
)
from tests.results.builders import make_user
from tests.webapp.register.conftest import SLOW_DISK_VERDICT
from webapp.register.dumps.importer import DumpError, contradictions, import_dump, read_rows
from webapp.register.dumps.store import MANIFEST, read_dump
from webapp.register.dumps.tables import TABLES
from webapp.register.dumps.writer import write_dump

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def full_register(make_log_run, make_published_run, make_product, staff):
    """A register with rows in every table, with values that are hard to serialize."""
    import_catalogue()
    product = make_product(model='=cmd|"x"! <script>\u202e', vendor="Ж漢", endurance_dwpd=Decimal("0.30"))
    first, second = make_log_run(product=product), make_log_run(product=product, notes='two\nlines, a "quote" and \'')
    visibility.supersede(first, second, staff, "Newer firmware.")
    visibility.withdraw(make_published_run(), staff, "A mistake.")
    reply_to_annotation(annotate(second, "Look at the firmware.", staff), staff, "It is \u202e new.")
    admit(file_objection(second, make_user("filer"), "Wrong drive."), make_user("independent", is_reviewer=True))
    profile = Profile.objects.get(name="operational-database")
    stated = {
        "device_count": 1,
        "nx_load": Decimal("0.3"),
        "exact_nx": "3/10",
        "ground": "g",
        "document": {"a": [1, None]},
    }
    certificate = Certificate.objects.create(product=product, profile=profile, **stated)
    CertificateRun.objects.create(certificate=certificate, run=second)
    of_ycsb = YcsbRun.objects.create(run=make_log_run(workload="ycsb"), validity="valid", properties=[["a", "b"]])
    YcsbOperation.objects.create(ycsb_run=of_ycsb, ordinal=0, name="READ", outcome="OK", time="service", mean_us=0.1)
    YcsbInterval.objects.create(ycsb_run=of_ycsb, ordinal=0, elapsed_s=10, ops_per_s=Decimal("0.5"))
    make_log_run(visibility=Visibility.UNREVIEWED, notes="hidden")


def contents_of(directory):
    """Return every row of every table of the dump."""
    dump = read_dump(directory)
    rows = {table.name: list(read_rows(dump, table.name)) for table in TABLES}
    for profile in rows["profiles"]:
        del profile["created_at"]  # a register has the compiled-in profile from its own migration
    return rows


def verdicts():
    columns = ("run__public_id", "outcome", "headline", "is_decided_by_limits", "document__shares")
    return sorted(Verdict.objects.values_list(*columns))


def test_an_imported_dump_is_exported_unchanged(full_register, data_dir, settings):
    settings.PUBLIC_URL = "https://register.example"
    directory, before = write_dump(), sorted(verdicts(), key=str)
    elsewhere = directory.rename(data_dir / "elsewhere")
    hidden = Run.objects.get(notes="hidden").public_id
    call_command("flush", interactive=False)
    imported = import_dump(elsewhere)
    assert imported.contradictions == []
    assert dump_origin() == DumpOrigin("https://register.example", read_dump(elsewhere).written_at[:10])
    assert imported.rows["runs"] == Run.objects.count() == 103 + 4
    shown = [each for each in before if each[0] != hidden]
    assert sorted(verdicts(), key=str) == shown
    first, again = contents_of(elsewhere), contents_of(write_dump())
    left_out = {table.name for table in TABLES if not table.is_imported}
    assert left_out == {"evidence"}
    assert {name: rows for name, rows in again.items() if name not in left_out} == {
        name: rows for name, rows in first.items() if name not in left_out
    }
    assert all(first[table.name] for table in TABLES if not table.name.startswith("published_"))


def test_a_dump_is_not_imported_into_a_register_with_data(full_register):
    directory, number = write_dump(), Run.objects.count()
    with pytest.raises(DumpError, match="already has products or runs"):
        import_dump(directory)
    assert Run.objects.count() == number


def test_a_changed_file_stops_the_import(make_published_run):
    make_published_run()
    directory = write_dump()
    path = directory / "shares.json.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"4.00", b"0.00")))
    call_command("flush", interactive=False)
    with pytest.raises(CommandError, match=r"shares\.json\.gz: expected SHA-256"):
        call_command("import_dump", directory)
    path.unlink()
    with pytest.raises(DumpError, match="it is missing"):
        import_dump(directory)
    assert not Product.objects.exists()


def test_a_failed_import_leaves_no_data(make_published_run, monkeypatch):
    make_published_run()
    directory = write_dump()
    call_command("flush", interactive=False)
    monkeypatch.setattr("webapp.register.dumps.importer.contradictions", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        import_dump(directory)
    assert not Product.objects.exists()


@pytest.mark.parametrize(
    ("schema", "sentence"), [("drivecert.dump/9", "expected schema"), (None, "expected a directory")]
)
def test_a_directory_that_is_not_a_dump_is_refused(tmp_path, schema, sentence):
    if schema:
        manifest = {"schema": schema, "written_at": "", "licence": "", "files": []}
        (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(DumpError, match=sentence):
        import_dump(tmp_path)


def test_a_verdict_that_contradicts_its_shares_is_named(make_log_run):
    passing = make_log_run(document=SLOW_DISK_VERDICT | {"outcome": "pass"})
    failing = make_log_run()
    assert contradictions() == [f"{passing.public_id}: its verdict is pass, and a share is over its limit"]
    Share.objects.filter(run=failing).update(over_count=0)
    assert f"{failing.public_id}: its verdict is fail, and no share is over its limit" in contradictions()


def test_the_checksums_are_those_of_the_files(make_published_run):
    make_published_run()
    directory = write_dump()
    for line in (directory / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest


def write_dump_without(data_dir, table, *columns):
    """Return a dump of an earlier release: a table of one row has fewer columns."""
    elsewhere = write_dump().rename(data_dir / "elsewhere")
    path = elsewhere / f"{table}.json.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    row = json.loads(lines[1].rstrip(","))
    for column in columns:
        assert row.pop(column)
    path.write_bytes(gzip.compress("\n".join([lines[0], json.dumps(row), *lines[2:]]).encode()))
    manifest = json.loads((elsewhere / MANIFEST).read_text())
    (file,) = [file for file in manifest["files"] if file["name"] == path.name]
    file |= {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size_bytes": path.stat().st_size}
    (elsewhere / MANIFEST).write_text(json.dumps(manifest))
    return elsewhere


def test_a_dump_without_regions_is_imported_without_them(make_published_run, data_dir):
    make_published_run(region="us-east-1", zone="us-east-1a")
    elsewhere = write_dump_without(data_dir, "runs", "region", "zone")
    call_command("flush", interactive=False)
    assert import_dump(elsewhere).rows["runs"] == 1
    assert (Run.objects.get().region, Run.objects.get().zone) == ("", "")


def test_a_dump_without_form_factors_is_imported_without_them(make_published_run, data_dir):
    make_published_run()
    Product.objects.update(form_factor="U.2", part_numbers=["EX4-A", "EX4-B"])
    elsewhere = write_dump_without(data_dir, "products", "form_factor", "part_numbers")
    call_command("flush", interactive=False)
    assert import_dump(elsewhere).rows["products"] == 1
    assert (Product.objects.get().form_factor, Product.objects.get().part_numbers) == ("", [])


def test_part_numbers_are_exported_and_imported(make_published_run, data_dir):
    make_published_run()
    Product.objects.update(form_factor="U.2", part_numbers=["EX4-A", "EX4-B"])
    elsewhere = write_dump().rename(data_dir / "elsewhere")
    call_command("flush", interactive=False)
    import_dump(elsewhere)
    assert Product.objects.get().part_numbers == ["EX4-A", "EX4-B"]


def test_a_dump_without_exact_statuses_of_claims_is_imported_without_them(make_published_run, data_dir):
    make_published_run()
    texts = {"catalogue_key": "k", "publication": "p", "claim": "c", "device": "d", "against": "a", "stated_value": "1"}
    PublishedClaim.objects.create(**texts, status="reproduces", exact_status="truncated")
    elsewhere = write_dump_without(data_dir, "published_claims", "exact_status")
    call_command("flush", interactive=False)
    assert import_dump(elsewhere).rows["published_claims"] == 1
    assert (PublishedClaim.objects.get().status, PublishedClaim.objects.get().exact_status) == ("reproduces", "")


def test_a_table_that_the_manifest_does_not_list_is_refused(make_published_run):
    make_published_run()
    directory = write_dump()
    manifest = json.loads((directory / MANIFEST).read_text())
    manifest["files"] = [each for each in manifest["files"] if each["name"] != "shares.json.gz"]
    (directory / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(DumpError, match=r"names no shares\.json\.gz"):
        import_dump(directory)
