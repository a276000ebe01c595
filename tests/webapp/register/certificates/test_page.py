"""The page of a certificate: what it certifies, what it is based on, its age, and its state."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from results.certification.certificates import refresh_certificates
from results.lifecycle import visibility
from results.models import Certificate, CertificateRun, Evidence, Profile, Run
from tests.results.builders import make_user
from tests.results.rows import make_judged_run, make_product, make_run, prepare
from webapp.register.certificates.page import age_words, later_firmware, total_tps
from webapp.register.syndication.public_addresses import PublicAddress, public_addresses

pytestmark = pytest.mark.django_db
SITE = "http://127.0.0.1:8000"


def certify(product, nx=30):
    """Return load test and stress test of a new certificate; the load test has shares."""
    runs = [make_judged_run(product, nx), make_judged_run(product, 2 * nx, "fail")]
    for run in runs:
        prepare(run)
    for threshold_us, printed, over in ((1000, "0.56", 56), (8000, "1.00", 100), (64000, "0.00", 1)):
        runs[0].shares.create(
            statistic="worst-slice", threshold_us=threshold_us, share_pct=printed, printed=printed, over_count=over,
            ops_count=10_000, slice_number=3,
        )  # fmt: skip
    with transaction.atomic():
        refresh_certificates([product.pk])
    return runs


@pytest.fixture
def product(db):
    return make_product(capacity_gb=3200)


@pytest.fixture
def runs(product):
    return certify(product)


@pytest.fixture
def certificate(runs):
    return Certificate.objects.get()


def page_of(client, certificate):
    answer = client.get(f"/certificates/{certificate.public_id}/")
    assert answer.status_code == 200
    return answer.text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_what_is_certified(client, certificate):
    text = page_of(client, certificate)
    sentence = (
        "Exemplar EX4 3.2 TB with firmware FW1 is certified at 30x (90,000 tps) on 1 device, under "
        "operational-database, rule version 1."
    )
    assert f'<p class="verdict"><bdi>{sentence}</bdi></p>' in text
    assert "30x: 60,000 reads/s and 30,000 writes/s" in text
    assert "<dt>State</dt><dd>current</dd>" in text
    assert f'<meta name="description" content="{sentence}">' in text


def test_the_runs_are_listed_with_role_verdict_and_preparation(client, certificate, runs):
    load, stress = runs
    text = page_of(client, certificate)
    rows = re.findall(r'<tr><th scope="row"><a href="/runs/(r-\w+)/">.*?</tr>', text)
    assert rows == [load.public_id, stress.public_id]
    load_row, stress_row = re.findall(r'<tr><th scope="row"><a href="/runs/.*?</tr>', text)
    assert "<td>load test</td>" in load_row
    assert "<td>passes</td>" in load_row
    assert "prepared on 1 November 2026, 05:00 UTC" in load_row
    assert "<td>stress test</td>" in stress_row
    assert '<span class="fail">fails</span>' in stress_row


def test_the_worst_slices_stand_next_to_their_limits(client, certificate, runs):
    text = page_of(client, certificate)
    rows = re.findall(
        r'<tr><th scope="row" class="n">([^<]+)</th><td class="n">([^<]+)</td><td class="n share">([^<]+)', text
    )
    assert rows == [("1 ms", "5", "0.56"), ("8 ms", "1", "1.00"), ("64 ms", "0.1", "&lt;0.01")]
    assert f'<a href="/runs/{runs[0].public_id}/slices/3/">3</a>' in text


def test_a_withheld_log_has_no_links_to_its_slices(client, certificate, runs):
    Evidence.objects.filter(pk=runs[0].reading.evidence_id).update(sequestered=True)
    text = page_of(client, certificate)
    assert "/slices/" not in text
    assert "0.56" in text  # figures of the log stay


def test_the_requirements_that_were_met_are_listed(client, certificate, runs):
    text = page_of(client, certificate)
    assert f"<li>load test {runs[0].public_id} passes at 30x</li>" in text


def test_a_withdrawn_certificate_answers_with_the_reason(client, certificate, runs):
    visibility.withdraw(runs[0], make_user("rita"), "Wrong drive.")
    text = page_of(client, certificate)
    assert '<span class="fail">withdrawn</span> <b>This certificate was withdrawn on ' in text
    assert f"It rested on {runs[0].public_id}, which is no longer a current run" in text
    assert "was certified at 30x (90,000 tps)" in text
    assert "is certified at" not in text
    assert "after the issue date" not in text
    assert "Reinstated" not in text


def test_a_reinstated_certificate_is_current_and_has_its_history(client, certificate, runs):
    rita = make_user("rita")
    visibility.withdraw(runs[0], rita, "Wrong drive.")
    visibility.reinstate(runs[0], rita, "Right drive.")
    text = page_of(client, certificate)
    assert "<dd>current</dd>" in text
    assert re.findall(r'<li class="done"><b>(\w+)</b>', text) == ["Issued", "Withdrawn", "Reinstated"]


def test_the_page_is_linked_from_product_run_and_permanent_id(client, certificate, runs, product):
    link = f'<a href="/certificates/{certificate.public_id}/">'
    assert link in client.get(f"/drive/{product.slug}/").text
    assert link in client.get(f"/runs/{runs[0].public_id}/").text
    answer = client.get(f"/id/{certificate.public_id}")
    assert (answer.status_code, answer["Location"]) == (301, f"/certificates/{certificate.public_id}/")
    document = client.get(f"/api/v1/certificates/{certificate.public_id}/").json()
    assert document["url"] == f"/certificates/{certificate.public_id}/"
    assert f'href="/api/v1/certificates/{certificate.public_id}/"' in page_of(client, certificate)


def test_the_page_can_be_cited(client, certificate):
    text = page_of(client, certificate)
    assert f"@misc{{drivecert-{certificate.public_id}," in text
    assert f'<a href="{SITE}/id/{certificate.public_id}">' in text
    assert f"  year = {{{certificate.issued_at.year}}}," in text


def test_the_page_is_in_the_sitemap_and_in_snapshots_with_its_product(client, certificate, product):
    path = f"/certificates/{certificate.public_id}/"
    assert f"{SITE}{path}" in client.get("/sitemap.xml").text
    assert PublicAddress(path, product.slug) in set(public_addresses())


@pytest.mark.parametrize("path", ["c-nothing", "r-22222222", "x"])
def test_an_unknown_certificate_is_not_found(client, db, path):
    assert client.get(f"/certificates/{path}/").status_code == 404


def test_a_certificate_of_a_product_without_a_public_run_is_not_found(client, certificate):
    Run.objects.update(visibility="unreviewed")
    assert client.get(f"/certificates/{certificate.public_id}/").status_code == 404


def test_a_certificate_with_few_facts_has_a_page_too(client, product):
    profile = Profile.objects.get(name="operational-database")
    fields = {"device_count": 4, "nx_load": "466.6667", "exact_nx": "1400/3", "ground": "g", "document": {}}
    made = Certificate.objects.create(product=product, profile=profile, **fields)
    CertificateRun.objects.create(certificate=made, run=make_run(product))
    text = page_of(client, made)
    assert "466.67x (5,600,000 tps) on 4 devices together" in text
    assert "<dt>Firmware</dt><dd><bdi>not reported</bdi></dd>" in text
    assert "no verdict under this profile" in text
    assert "The shares of the load test are not reported." in text
    assert total_tps(made) == "5,600,000"


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, "today"), (0.5, "today"), (0.51, "1 day ago"), (1.5, "1 day ago"), (59.5, "59 days ago"),
     (59.51, "2 months ago"), (92, "3 months ago"), (729, "24 months ago"), (730, "2 years ago")],
)  # fmt: skip
def test_an_age_is_in_the_unit_that_fits(days, words):
    assert age_words(NOW - timedelta(days=days), NOW) == words


def test_an_age_counts_days_of_utc():
    last_evening = datetime(2026, 11, 20, 1, tzinfo=timezone.get_fixed_timezone(120))  # 23:00 UTC on 19 November
    assert age_words(last_evening, NOW) == "1 day ago"


def test_the_age_counts_from_the_issue(client, certificate):
    Certificate.objects.update(issued_at=timezone.now() - timedelta(days=95))
    assert ", 3 months ago</dd>" in page_of(client, certificate)


def test_other_firmware_of_later_runs_is_named(client, certificate, product):
    none = "The register has no run of this drive with another firmware after the issue date."
    assert none in page_of(client, certificate)
    after = certificate.issued_at + timedelta(days=1)
    make_run(product, firmware="FW2", started_at=after)
    assert later_firmware(certificate) == ["FW2"]
    text = page_of(client, certificate)
    assert "Current runs of this drive after the issue date report firmware <bdi>FW2</bdi>." in text


def test_earlier_withdrawn_or_withheld_runs_say_nothing_of_the_firmware(certificate, product):
    before, after = (certificate.issued_at + timedelta(days=days) for days in (-1, 1))
    make_run(product, firmware="EARLIER", started_at=before)
    make_run(product, firmware="WITHDRAWN", started_at=after, visibility="withdrawn")
    make_run(product, firmware="FW1", started_at=after)
    make_run(product, firmware="", started_at=after)
    withheld = make_judged_run(product, 10, firmware="WITHHELD", started_at=after)
    assert later_firmware(certificate) == ["WITHHELD"]
    Evidence.objects.filter(pk=withheld.reading.evidence_id).update(sequestered=True)
    assert later_firmware(certificate) == []
    make_run(product, firmware="UNDATED", published_at=after)
    assert later_firmware(certificate) == ["UNDATED"]


def test_a_page_needs_as_many_queries_for_a_certificate_of_4_runs_as_for_one_of_2(count_queries, certificate, product):
    two = count_queries(f"/certificates/{certificate.public_id}/")
    for nx in (31, 32):
        run = make_judged_run(product, nx)
        prepare(run)
        CertificateRun.objects.create(certificate=certificate, run=run)
    assert count_queries(f"/certificates/{certificate.public_id}/") == two
