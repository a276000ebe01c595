"""The import of the published results, from the real file and from files with one error."""

import csv
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from results.catalogue.importer import PUBLISHED_CATALOGUE, import_catalogue
from results.catalogue.rows import CatalogueError, read_catalogue
from results.models import Event, Product, Run, Visibility

pytestmark = pytest.mark.django_db


@pytest.fixture
def edited(tmp_path):
    """Return a function that writes a copy of the real file with one cell changed: (line, column, text)."""

    def write(line, column, text):
        with PUBLISHED_CATALOGUE.open(newline="") as file:
            rows = list(csv.reader(file))
        rows[line - 1][rows[0].index(column)] = text
        path = tmp_path / "edited.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return path

    return write


def test_the_published_page_becomes_103_runs():
    counts = import_catalogue()
    assert len(counts.added) == Run.objects.count() == 103
    assert Run.objects.listed().current().count() == 81
    assert Run.objects.listed().historical().count() == 22


def test_a_second_import_changes_nothing():
    import_catalogue()
    before = set(Run.objects.values_list("public_id", "product__slug")), Event.objects.count()
    counts = import_catalogue()
    assert (len(counts.added), len(counts.changed), len(counts.unchanged)) == (0, 0, 103)
    assert before == (set(Run.objects.values_list("public_id", "product__slug")), Event.objects.count())


@pytest.mark.parametrize(
    ("category", "current", "historical"),
    [
        ("nvme-3dxpoint", 4, 0),
        ("nvme-flash", 30, 6),
        ("sata-sas-flash", 2, 6),
        ("m2-flash", 1, 0),
        ("networked", 4, 0),
        ("cloud", 40, 10),
    ],
)
def test_every_table_of_the_page_is_complete(category, current, historical):
    import_catalogue()
    runs = Run.objects.in_category(category)
    assert (runs.current().count(), runs.historical().count()) == (current, historical)


def test_the_fastest_flash_drive_is_as_published():
    import_catalogue()
    run = Run.objects.get(product__slug="sandisk-dc-sn861-6400gb")
    assert (run.tps, run.duration_s, run.tool_version, run.source) == (Decimal(1_728_000), 86_400, "6.4", "SanDisk")
    assert (Product.objects.get(runs=run).endurance_dwpd, run.compress_pct, run.nx_load) == (Decimal(3), 100, None)
    assert [(s.threshold_us, s.printed) for s in run.shares.all()] == [(1000, "0.56"), (8000, "0.00"), (64000, "0.00")]


def test_percentages_keep_the_digits_they_were_printed_with():
    import_catalogue()
    printed = Run.objects.get(product__slug="micron-9300-max-6400gb").shares.get(threshold_us=64_000)
    assert (printed.printed, printed.share_pct, printed.read_at_us) == ("0.005", Decimal("0.005"), None)
    assert Run.objects.filter(shares__printed="0.000").count() == 2


def test_a_cloud_instance_is_a_product_of_its_provider():
    import_catalogue()
    product = Product.objects.get(slug="gcp-n2-standard-80")
    assert (product.vendor, product.model, product.capacity_gb) == ("GCP", "n2-standard-80", None)
    run = product.runs.get(device_count=24)
    assert (run.device_gb, run.sole_tenant, run.nx_load) == (375, True, Decimal(89))


def test_networked_storage_names_its_drive_and_protocol():
    import_catalogue()
    runs = Run.objects.filter(product__slug="drivescale-composer").order_by("protocol")
    assert [run.protocol for run in runs] == ["RoCEv2", "iSCSI"]
    assert {run.backing_device for run in runs} == {"HGST Ultrastar SN200 3.2 TB"}


def test_a_changed_row_updates_its_run_and_the_change_is_recorded(edited):
    import_catalogue()
    public_id = Run.objects.get(product__slug="sandisk-dc-sn861-6400gb").public_id
    counts = import_catalogue(edited(6, "tps", "1729000"))
    assert (counts.changed, len(counts.unchanged)) == ([public_id], 102)
    assert Run.objects.get(public_id=public_id).tps == 1_729_000
    event = Event.objects.get(subject_id=public_id, kind="run-changed")
    assert event.details == {"tps": ["1728000.00", "1729000"]}


def test_a_share_with_another_digit_is_a_change(edited):
    import_catalogue()
    counts = import_catalogue(edited(6, "pct_over_1ms", "0.560"))
    assert Run.objects.get(public_id=counts.changed[0]).shares.get(threshold_us=1000).printed == "0.560"
    details = Event.objects.get(kind="run-changed").details
    assert [each["1000"] for each in details["printed_shares"]] == ["0.56", "0.560"]
    assert details["shares"][1].startswith("0.560 % over 1000 us, ")


def test_a_changed_product_fact_updates_the_product(edited):
    import_catalogue()
    counts = import_catalogue(edited(6, "historical", "yes"))
    assert len(counts.changed) == 1
    assert Product.objects.get(slug="sandisk-dc-sn861-6400gb").historical


def test_an_import_does_not_restore_a_withdrawn_run():
    import_catalogue()
    Run.objects.filter(product__slug="intel-p4510-1000gb").update(visibility=Visibility.WITHDRAWN)
    import_catalogue()
    assert Run.objects.get(product__slug="intel-p4510-1000gb").visibility == Visibility.WITHDRAWN


def test_a_run_that_is_missing_in_the_file_stays_and_is_reported(edited):
    import_catalogue()
    public_id = Run.objects.get(product__slug="sandisk-dc-sn861-6400gb").public_id
    counts = import_catalogue(edited(6, "act_version", "6.5"))
    assert (len(counts.added), counts.no_longer_named) == (1, [public_id])
    assert Run.objects.count() == 104


@pytest.mark.parametrize(
    ("line", "column", "text", "complaint"),
    [
        (3, "tps", "fast", ":3: tps: expected a number, got 'fast'"),
        (4, "tps", "", ":4: tps: expected a number, got ''"),
        (5, "pct_over_1ms", "100.01", ":5: pct_over_1ms: expected a percentage of 0 to 100, got '100.01'"),
        (6, "pct_over_8ms", "-1", ":6: pct_over_8ms: expected a percentage of 0 to 100, got '-1'"),
        (7, "category", "tape", ":7: category: expected one of nvme-3dxpoint"),
        (8, "capacity_gb", "12.8", ":8: capacity_gb: expected a whole number, got '12.8'"),
        (9, "historical", "maybe", ":9: historical: expected yes or no, got 'maybe'"),
        (10, "vendor", "", ":10: vendor: expected a name, got ''"),
        (50, "endurance_dwpd", "1", ":50: endurance_dwpd: expected '' as in line 45, for the same product, got '1'"),
        (1, "tps", "speed", ":1: header: expected category,historical"),
    ],
)
def test_an_invalid_cell_is_reported_and_nothing_is_imported(edited, line, column, text, complaint):
    path = edited(line, column, text)
    with pytest.raises(CatalogueError) as raised:
        import_catalogue(path)
    assert f"{path}{complaint}" in str(raised.value)
    assert Run.objects.count() == Product.objects.count() == 0


def test_a_hundred_percent_is_a_percentage(edited):
    row = read_catalogue(edited(5, "pct_over_1ms", "100.00"))[3]
    assert row.percentage("pct_over_1ms") == 100


def test_a_duplicate_result_is_refused(tmp_path):
    lines = PUBLISHED_CATALOGUE.read_text().splitlines()
    path = tmp_path / "doubled.csv"
    path.write_text("\n".join([*lines, lines[5]]))
    with pytest.raises(CatalogueError, match=r":105: act_version: expected another one than line 6 has"):
        import_catalogue(path)


def test_a_row_with_a_missing_cell_is_refused(tmp_path):
    path = tmp_path / "short.csv"
    path.write_text(PUBLISHED_CATALOGUE.read_text() + "cloud,no\n")
    with pytest.raises(CatalogueError, match=r":105: row: expected 28 cells, got '2'"):
        import_catalogue(path)


def test_the_command_prints_its_counts(capsys):
    call_command("import_catalogue")
    call_command("import_catalogue")
    assert "Published results: 0 added, 0 changed, 103 unchanged." in capsys.readouterr().out


def test_the_command_fails_with_the_line(edited):
    with pytest.raises(CommandError, match=r"edited\.csv:3: tps"):
        call_command("import_catalogue", edited(3, "tps", "fast"))
