import threading
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from results.certification.certificates import attempts, refresh_certificates
from results.lifecycle import visibility
from results.models import Certificate, DriveInRun, Event, Run
from tests.results.builders import make_user
from tests.results.rows import judge, make_judged_run, make_product, make_run, prepare

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def product(db):
    return make_product()


def load_and_stress(product, nx=30):
    load, stress = make_judged_run(product, nx), make_judged_run(product, 2 * nx, "fail")
    for run in (load, stress):
        prepare(run)
    return load, stress


def refresh(product):
    with transaction.atomic():
        refresh_certificates([product.pk])


def events_of(certificate):
    return list(Event.objects.filter(subject_id=certificate.public_id).values_list("kind", flat=True))


def test_load_and_stress_on_one_prepared_drive_certify(product):
    load, stress = load_and_stress(product)
    refresh(product)
    certificate = Certificate.objects.get()
    assert (certificate.nx_load, certificate.exact_nx, certificate.firmware, certificate.device_count) == (
        30, "30", "FW1", 1,
    )  # fmt: skip
    assert set(certificate.runs.all()) == {load, stress}
    assert events_of(certificate) == ["certificate-issued"]


@pytest.mark.parametrize(
    ("version", "coalesce_us", "expected_us"),
    [("0.3.0", None, 50), ("0.4.0", None, None), ("0.4.0", 0, None), ("0.4.0", 100, 100)],
)
def test_a_certificate_names_coalesced_requests(product, version, coalesce_us, expected_us):
    load, _ = load_and_stress(product)
    facts = load.facts | {"generator": "drivetest", "coalesce_us": coalesce_us}
    Run.objects.filter(pk=load.pk).update(tool_version=version, facts=facts)
    refresh(product)
    sentence = f"{load.public_id} submitted requests together that were due at most {expected_us} us apart"
    assert Certificate.objects.get().document["reasons"] == ([sentence] if expected_us else [])


@pytest.mark.parametrize(
    "unknown",
    ["preparation", "firmware_before", "firmware_after", "over_provisioning_pct_after", "never_reset_before"],
)
def test_unrecorded_states_certify_nothing(product, unknown):
    load, _ = load_and_stress(product)
    load.drives.update(**{unknown: None})
    refresh(product)
    assert not Certificate.objects.exists()
    product.refresh_from_db()
    (found,) = attempts(product)
    assert (found["attempted_nx"], bool(found["missing"]), found["is_certified"]) == ("30x", True, False)


def test_runs_of_uploaded_logs_list_the_missing_requirements(product):
    load_and_stress(product)
    DriveInRun.objects.all().delete()
    (found,) = attempts(product)  # stored for products whose runs have not changed since
    assert product.attempts is None
    assert "preparation" in {requirement["id"] for requirement in found["missing"]}
    assert {"load", "stress"} <= {requirement["id"] for requirement in found["present"]}


def test_a_virtual_run_never_certifies(product):
    load_and_stress(product)
    Run.objects.filter(nx_load=60).update(is_virtual=True)
    refresh(product)
    assert not Certificate.objects.exists()


def test_a_certificate_without_its_runs_is_withdrawn_and_returns_under_its_id(product, rita):
    load, _ = load_and_stress(product)
    refresh(product)
    certificate = Certificate.objects.get()
    visibility.withdraw(load, rita, "wrong drive")
    certificate.refresh_from_db()
    assert certificate.state == "withdrawn"
    assert certificate.withdrawn_at is not None
    assert load.public_id in Event.objects.get(kind="certificate-withdrawn").reason
    visibility.reinstate(load, rita, "the right one after all")
    again = Certificate.objects.get()
    assert (again.public_id, again.state, again.withdrawn_at) == (certificate.public_id, "standing", None)
    assert events_of(again) == ["certificate-issued", "certificate-withdrawn", "certificate-reinstated"]


def test_a_run_that_fails_its_re_evaluation_loses_its_certificate(product):
    load, _ = load_and_stress(product)
    refresh(product)
    judge(load, "fail")
    refresh(product)
    assert Certificate.objects.get().state == "withdrawn"
    assert "After re-evaluation" in Event.objects.get(kind="certificate-withdrawn").reason


def test_a_higher_certificate_leaves_a_lower_one_unchanged(product):
    load_and_stress(product)
    refresh(product)
    load_and_stress(product, 90)
    refresh(product)
    assert list(Certificate.objects.current().values_list("nx_load", flat=True)) == [90, 30]


def test_a_second_refresh_changes_nothing(product):
    load_and_stress(product)
    refresh(product)
    before = Event.objects.count()
    refresh(product)
    assert (Certificate.objects.count(), Event.objects.count()) == (1, before)


def test_publishing_the_last_missing_run_issues_the_certificate(product, rita):
    _, stress = load_and_stress(product)
    Run.objects.filter(pk=stress.pk).update(visibility="unreviewed")
    refresh(product)
    assert not Certificate.objects.exists()
    visibility.publish(stress, rita)
    assert Certificate.objects.get().state == "standing"


def test_published_figures_without_a_log_certify_nothing(product):
    make_run(product, tier="published", statistic="steady-as-published", nx_load=30)
    refresh(product)
    assert attempts(product) == []
    assert not Certificate.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_runs_published_at_the_same_time_make_one_certificate():
    product, rita = make_product(), make_user("rita", is_reviewer=True)
    runs = load_and_stress(product)
    Run.objects.update(visibility="unreviewed")
    start = threading.Barrier(2)

    def publish(run):
        start.wait()
        visibility.publish(run, rita)
        connection.close()

    threads = [threading.Thread(target=publish, args=[run]) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert Certificate.objects.get().runs.count() == 2


def test_the_queries_of_a_refresh_do_not_grow_with_the_runs(product, connection_queries):
    load_and_stress(product)
    refresh(product)
    with connection_queries() as few:
        refresh(product)
    for nx in range(200, 220):
        prepare(make_judged_run(product, nx, "fail"))
    with connection_queries() as many:
        refresh(product)
    assert len(many) == len(few)


def test_the_command_recomputes_certificates_after_a_dry_run(product):
    load_and_stress(product)
    outputs = []
    for arguments in (["--dry-run"], [], []):
        output = StringIO()
        call_command("refresh_certificates", *arguments, stdout=output)
        outputs.append((output.getvalue().partition(" c-")[0], Certificate.objects.count()))
    issued = f"{product.slug}: certificate-issued"
    assert outputs == [(issued, 0), (issued, 1), ("", 1)]
