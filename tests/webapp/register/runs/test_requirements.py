"""What pages of runs and drives show of the requirements of a certificate, for one result."""

import re

import pytest
from django.db import transaction

from results.certification.certificates import refresh_certificates
from results.models import Visibility
from tests.results.rows import make_judged_run, prepare

pytestmark = pytest.mark.django_db
SOURCE = "https://github.com/aerospike/act#process-for-certifying-devices-for-30x-performance"


def lines_of(requirements):
    """Return the lines as {name: found} of the requirements that are met and of the missing ones."""
    return tuple({line.name: line.found for line in part} for part in (requirements.met, requirements.missing))


@pytest.fixture
def requirements_of(client):
    """Return a function that returns the requirements on the page of a run."""
    return lambda run: client.get(f"/runs/{run.public_id}/").context["requirements"]


def test_a_published_result_has_an_assumed_duration_and_lacks_the_rest(requirements_of, make_published_run):
    requirements = requirements_of(make_published_run(firmware="FW7"))
    met, missing = lines_of(requirements)
    assert met == {}
    assert [(line.name, line.found) for line in requirements.assumed] == [
        (
            "Duration",
            "24\N{NO-BREAK SPACE}h (assumed: the source requires this duration, but does not state it for this result)",
        )
    ]
    assert missing == {
        "Load test": "no log",
        "Number of devices": "not reported; counted as one",
        "Load": "300,000 tps; reads and writes not reported",
        "Real drive": "not reported",
        "Identity": "not reported",
        "Preparation": "not reported",
        "Firmware": "FW7 as stated, without a record before and after the run",
        "Over-provisioning": "not reported",
        "Stress test": "needs another run",
    }


def test_an_unreported_duration_is_named_with_what_is_needed(client, make_published_run):
    run = make_published_run(duration_s=None)
    text = client.get(f"/runs/{run.public_id}/").text.replace("\N{NO-BREAK SPACE}", " ")
    assert "<b>Duration</b>: <bdi>not reported</bdi> (needed: 24 h)" in text
    assert f'href="{SOURCE}"' in text


def test_a_judged_run_shows_what_the_log_and_the_lab_recorded(requirements_of, make_product):
    run = make_judged_run(make_product(), 30)
    prepare(run)
    met, missing = lines_of(requirements_of(run))
    assert met["Load test"] == "passes"
    assert met["Number of devices"] == "1"
    assert met["Load"] == "30x, 60,000 reads/s and 30,000 writes/s"
    assert met["Firmware"] == "firmware FW1 before and after every run"
    assert met["Identity"].endswith("ran on one drive: nvme:EX4:S1")
    assert missing == {"Stress test": "needs another run"}


def test_a_failing_run_without_records_lacks_a_passing_load_test(requirements_of, make_product):
    met, missing = lines_of(requirements_of(make_judged_run(make_product(), 30, "fail", duration_s=3600)))
    assert (missing["Load test"], missing["Duration"]) == ("fails", "1\N{NO-BREAK SPACE}h")
    assert (missing["Stress test"], missing["Identity"]) == ("needs another run", "not reported")
    assert met["Real drive"] == "yes"


def test_a_run_whose_log_names_a_virtual_device_was_not_made_on_a_real_drive(requirements_of, make_product):
    run = make_judged_run(make_product(), 30, facts={"stop": {"kind": "finished"}, "is_virtual_device": True})
    _, missing = lines_of(requirements_of(run))
    assert missing["Real drive"] == f"{run.public_id} ran on a virtual device, which never certifies"


def test_several_devices_need_the_tests_of_one_alone(requirements_of, make_product):
    run = make_judged_run(make_product(), 30, device_count=4, reads_per_s=240_000, writes_per_s=120_000)
    lines = {line.name: line for line in requirements_of(run).missing}
    assert lines["One device alone"].found == "needs another run"
    assert lines["Stress test"].needed.startswith("60x for 24")


def test_a_certified_drive_shows_its_certificate_instead(client, requirements_of, make_product):
    product = make_product()
    runs = [make_judged_run(product, 30), make_judged_run(product, 60, "fail")]
    for run in runs:
        prepare(run)
    with transaction.atomic():
        refresh_certificates([product.pk])
    assert requirements_of(runs[0]) is None
    assert client.get(f"/drive/{product.slug}/").context["requirements"] is None


@pytest.mark.parametrize("fields", [{"workload": "act-index"}, {"visibility": Visibility.WITHDRAWN}])
def test_a_run_that_cannot_count_shows_no_requirements(requirements_of, make_published_run, fields):
    assert requirements_of(make_published_run(**fields)) is None


def test_the_page_of_a_drive_shows_them_for_its_best_result(client, make_product, make_published_run):
    product = make_product()
    make_published_run({1000: "9.00"}, product=product, tps=900_000)
    best = make_published_run(product=product, tps=300_000)
    response = client.get(f"/drive/{product.slug}/")
    assert response.context["requirements"].run == best
    section = response.text.split('<h2 id="certificates">')[1]
    assert re.search(rf'best result is <a href="/runs/{best.public_id}/">run {best.public_id}</a>', section)
    assert "300,000\N{NO-BREAK SPACE}tps; reads and writes not reported" in section


def test_a_drive_without_a_result_shows_no_requirements(client, make_product, make_published_run):
    product = make_product()
    make_published_run(product=product, visibility=Visibility.WITHDRAWN)
    assert client.get(f"/drive/{product.slug}/").context["requirements"] is None


def test_a_published_run_states_whose_rule_its_duration_is(client, make_published_run):
    by_rule, other = make_published_run(), make_published_run(duration_s=43_200)
    texts = [client.get(f"/runs/{run.public_id}/").text.replace("\N{NO-BREAK SPACE}", " ") for run in (by_rule, other)]
    assumed = "(assumed: the source requires this duration, but does not state it for this result)"
    assert f"was tested at 300,000 tps; duration 24 h {assumed}." in texts[0]
    assert "<p>Assumed:</p>" in texts[0]
    assert "was tested at 300,000 tps for 12 h." in texts[1]
    assert "by the source&#x27;s rules" not in texts[1]
