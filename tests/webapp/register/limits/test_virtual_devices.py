"""Runs on virtual devices: marked in every list, and never named as the fastest."""

from decimal import Decimal

import pytest

from results.models import Evidence, Finding, Share, Visibility
from tests.webapp.register.conftest import SLOW_DISK_FACTS, SLOW_DISK_VERDICT
from tests.webapp.register.pages import read_rows, shown_html
from webapp.register.compare import choice
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import read_limits
from webapp.register.sizing.candidates import candidates

pytestmark = pytest.mark.django_db

SENTENCE = "by their names devices are no drives: /dev/zram1 (compressed memory)"
CALLOUT = (
    "<b>Measured with a virtual device.</b> <bdi>/dev/zram1 is not a physical drive</bdi>: a run that used memory or "
)
IN_SPITE = "It was published despite this warning."


@pytest.fixture
def memory(make_log_run):
    """Return a function that makes a run on compressed memory."""

    def make(*, is_virtual_device=True, **fields):
        devices = [{"name": "/dev/zram1", "size_bytes": 10**9, "minimum_io_bytes": 4096}]
        facts = SLOW_DISK_FACTS | {"devices": devices, "is_virtual_device": is_virtual_device}
        run = make_log_run(facts=facts, **fields)
        Finding.objects.create(run=run, ordinal=9, rule_id="device-virtual", severity="look", sentence=SENTENCE)
        return run

    return make


def test_a_virtual_device_is_reported_next_to_the_verdict(client, memory):
    text = client.get(f"/runs/{memory().public_id}/").text
    assert CALLOUT in text
    assert IN_SPITE in text
    assert text.index('class="verdict"') < text.index(CALLOUT) < text.index('class="figs"')
    assert "virtual device" not in client.get(f"/runs/{memory(is_virtual_device=None).public_id}/").text


def test_a_run_without_a_review_does_not_mention_a_reviewer(staff_client, memory):
    text = staff_client.get(f"/runs/{memory(visibility=Visibility.UNREVIEWED).public_id}/").text
    assert CALLOUT in text
    assert IN_SPITE not in text


def test_devices_of_a_withheld_log_are_not_named(client, memory):
    run = memory()
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    text = client.get(f"/runs/{run.public_id}/").text
    assert "/dev/zram1" not in text
    assert "<b>Measured with a virtual device.</b> A run that used memory or a file says nothing about a drive" in text


def test_a_device_that_the_side_file_lists_is_not_reported_again(staff_client, memory):
    text = staff_client.get(f"/runs/{memory(is_virtual=True).public_id}/").text
    assert "Virtual device: never certifies." in text
    assert "Measured with a virtual device" not in text


REMARK = "<b>measured with a virtual device</b>: this run cannot certify a drive."
PASSES = SLOW_DISK_VERDICT | {"outcome": "pass", "headline": "passes", "shares": [], "violations": [], "reasons": []}
SHARES = {1_000: "2.5", 8_000: "0.5", 64_000: "0.05"}
RANKED = {"device_count": 1, "tool": "act", "tool_version": "6.6"}  # known, so that the result can be ranked


@pytest.mark.parametrize("place", ["/drives/nvme-flash/", "/drives/", "/drive/{}/"])
def test_its_row_is_marked_and_it_is_not_named_as_the_fastest(client, memory, place):
    run = memory(document=PASSES, tps=900)
    text = client.get(place.format(run.product.slug)).text
    assert text.count(REMARK) == 1
    assert "Fastest within the limits" not in text


def test_a_run_on_a_drive_has_no_mark_and_is_named_as_the_fastest(client, make_log_run):
    make_log_run(document=PASSES, tps=900, **RANKED)
    text = client.get("/drives/nvme-flash/").text
    assert REMARK not in text
    assert "Fastest within the limits in every slice of its log, ACT 6.x: Exemplar" in text


def add_shares(run):
    for threshold_us, printed in SHARES.items():
        shares = {"statistic": run.statistic, "share_pct": Decimal(printed), "printed": printed}
        Share.objects.create(run=run, threshold_us=threshold_us, **shares)


def test_the_home_page_does_not_name_it_as_the_fastest(client, memory, make_log_run):
    run, slower = memory(document=PASSES, tps=900, **RANKED), make_log_run(document=PASSES, tps=100, **RANKED)
    for each in (run, slower):
        add_shares(each)
    assert f"/drive/{run.product.slug}/" not in client.get("/?min_device_tps=0").text
    assert f"/drive/{slower.product.slug}/" in client.get("/?min_device_tps=0").text


NO_NUMBERS = "No instance type has matching results with several numbers of devices."


@pytest.fixture
def two_sizes(make_product):
    """Two capacities of one model."""
    return [make_product(model="EX", capacity_gb=size) for size in (1600, 3200)]


def test_a_search_finds_it_without_a_speed(client, memory, make_product):
    product = make_product(model="EX9", capacity_gb=1600)
    memory(product=product, document=PASSES, tps=900)
    [(_, _, speed, results, _)] = read_rows(client.get("/search/?q=ex9"))
    assert (speed, results) == ("none", "1")


def test_it_gives_a_model_no_capacity(client, memory, make_log_run, two_sizes):
    small, large = two_sizes
    make_log_run(product=small, document=PASSES, device_count=1)
    memory(product=large, document=PASSES, device_count=1)
    assert "One model, several capacities" not in client.get("/drives/nvme-flash/").text
    make_log_run(product=large, document=PASSES, device_count=1)
    assert "One model, several capacities" in client.get("/drives/nvme-flash/").text


def test_it_gives_an_instance_no_number_of_devices(client, memory, make_log_run, make_product):
    product = make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)
    stated = {"product": product, "document": PASSES, "device_gb": 900}
    make_log_run(tps=100, device_count=1, **stated)
    memory(tps=900, device_count=2, **stated)
    assert NO_NUMBERS in shown_html(client.get("/drives/cloud/"))
    make_log_run(tps=200, device_count=2, **stated)
    assert NO_NUMBERS not in shown_html(client.get("/drives/cloud/"))


def test_a_badge_uses_only_runs_on_drives(client, memory, make_log_run):
    fast = memory(document=PASSES, tps=900)
    badge = f"/drive/{fast.product.slug}/badge.svg"
    assert "Drivecert: measured with a virtual device, no certificate<" in client.get(badge).text
    make_log_run(product=fast.product, document=PASSES, tps=100)
    assert "Drivecert: passes at 100 tps, no certificate<" in client.get(badge).text


def test_a_comparison_marks_its_runs_on_virtual_devices(client, memory, make_log_run):
    runs = make_log_run(), memory()
    text = client.get("/compare/?" + "&".join(f"run={run.public_id}" for run in runs)).text
    assert (
        "<b>Measured with a virtual device: B.</b> A run that used memory or a file says nothing about a drive" in text
    )


def test_the_files_of_a_comparison_mark_its_runs_on_virtual_devices(client, memory, make_log_run):
    runs = make_log_run(), memory()
    address = "/compare/?" + "&".join(f"run={run.public_id}" for run in runs)
    document = client.get(f"{address}&format=json").json()
    assert [run["is_on_no_drive"] for run in document["runs"]] == [None, True]
    assert "run,is_on_no_drive,,no,,yes" in client.get(f"{address}&format=csv").text


def test_a_comparison_of_drives_uses_it_only_if_there_is_no_other_run(
    client, memory, make_log_run, two_sizes, monkeypatch
):
    monkeypatch.setattr(choice, "CANDIDATES_MAX", 1)
    small, large = two_sizes
    on_memory = memory(product=small, document=PASSES, tps=900)
    other = make_log_run(product=large, document=PASSES, tps=900)

    def compared():
        document = client.get(f"/compare/?drive={small.slug}&drive={large.slug}&format=json").json()
        return [run["run"] for run in document["runs"]]

    assert compared() == [on_memory.public_id, other.public_id]
    unlike = make_log_run(product=small, tps=100, statistic="overall")
    assert compared() == [unlike.public_id, other.public_id]
    alike = make_log_run(product=small, tps=200)
    assert compared() == [alike.public_id, other.public_id]


def test_it_is_on_no_load_ladder(client, memory, make_log_run):
    run = memory(nx_load=1)
    make_log_run(product=run.product, nx_load=2)
    assert 'id="ladder"' not in client.get(f"/drive/{run.product.slug}/").text
    make_log_run(product=run.product, nx_load=3)
    text = client.get(f"/drive/{run.product.slug}/").text
    assert 'id="ladder"' in text
    assert f"; run {run.public_id}" not in text


def test_it_does_not_represent_its_drive(client, memory, make_log_run):
    run = memory(document=PASSES, tps=900)
    answer = "All results were measured with a virtual device, so they say nothing about this drive."
    assert client.get(f"/drive/{run.product.slug}/").context["answer"] == answer
    make_log_run(product=run.product, document=PASSES, tps=100)
    assert client.get(f"/drive/{run.product.slug}/").context["headline"].speed == "100"


def test_its_page_shows_no_endurance_gap(client, memory, make_log_run, make_product):
    product = make_product(endurance_dwpd=3)
    assert client.get(f"/runs/{memory(product=product, device_count=1).public_id}/").context["gap"] is None
    assert client.get(f"/runs/{make_log_run(product=product, device_count=1).public_id}/").context["gap"] is not None


def test_the_fleet_check_counts_only_runs_on_drives(client, memory, make_product, make_log_run):
    product = make_product(model="EX4")

    def match_of():
        [row] = client.post("/check/answer/", {"list": "model\nExemplar EX4", "format": "json"}).json()["rows"]
        return row["state"], row["sentence"]

    memory(product=product)
    state, sentence = match_of()
    assert state == "unknown"
    assert sentence.startswith("1 result, measured with a virtual device: a run that used memory or a file says")
    make_log_run(product=product)
    state, sentence = match_of()
    assert state == "tested"
    assert sentence.startswith(
        "The drive has 1 result, some with logs, but no certificate. Measured with a virtual device: 1 more."
    )


def test_it_does_not_hide_the_withdrawal_of_a_run_on_a_drive(client, memory, make_product, make_log_run):
    product = make_product(model="EX4")
    memory(product=product, document=PASSES)
    make_log_run(product=product, visibility="withdrawn")
    assert "Drivecert: result withdrawn<" in client.get(f"/drive/{product.slug}/badge.svg").text
    [row] = client.post("/check/answer/", {"list": "model\nExemplar EX4", "format": "json"}).json()["rows"]
    assert row["state"] == "withdrawn"


def test_the_ladders_of_the_api_leave_it_out(client, memory, make_log_run):
    run = make_log_run(nx_load=2)
    memory(product=run.product, nx_load=3)
    ladders = client.get(f"/api/v1/products/{run.product.slug}/").json()["ladders"]
    assert {rung["run"] for ladder in ladders for rung in ladder["measured"]} == {run.public_id}


def test_a_cluster_is_not_sized_with_it(memory, make_log_run):
    memory(document=PASSES, tps=900, device_count=1)
    run = make_log_run(document=PASSES, tps=900, device_count=1)
    assert [candidate.key for candidate in candidates(read_limits({}, current_limits()), {})] == [run.product.slug]


def test_files_mark_its_row(client, memory, make_log_run):
    memory()
    make_log_run()
    rows = client.get("/drives/nvme-flash/?format=json").json()["rows"]
    assert sorted(str(row["is_on_no_drive"]) for row in rows) == ["None", "True"]
