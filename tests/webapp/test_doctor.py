import os
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone

from results.evidence.store import StoreUnavailableError, UnsafeStoreError
from results.models import Evidence, Scrub, ScrubFault
from runners.hosts import machine
from runners.models import Agent, Host
from tests.results.stored_files import use_directory
from tests.runners.ssh_host import agent_host, ssh_host
from webapp import celery
from webapp.management.commands import doctor, prepare
from webapp.management.commands.doctor import Check


def run_doctor():
    output = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("doctor", stdout=output)
    return end.value.code, output.getvalue()


@pytest.fixture
def _no_worker(monkeypatch):
    """Ignore workers: the heartbeat of one that another test just stopped stays for 15 s."""
    monkeypatch.setattr(celery, "HEARTBEAT_KEY", f"drivecert:doctor-{os.getpid()}:{{name}}")


@pytest.mark.django_db
@pytest.mark.usefixtures("_no_worker")
def test_every_part_is_listed_with_a_remedy_for_an_error():
    status, text = run_doctor()
    assert status == 1
    assert "OK      PostgreSQL: 18." in text
    assert "OK      migrations: 0 pending" in text
    assert "ERROR   worker: has not reported lately\n        -> start it" in text
    assert "ERROR   beat: has not reported lately\n        -> start it; see var/log/beat.log" in text


@pytest.mark.django_db
def test_no_secret_is_shown(settings):
    settings.SECRET_KEY = settings.EMAIL_HOST_PASSWORD = settings.MAIL_PROVIDER_KEY = "hush"
    settings.DATABASE_URL = "postgresql://drivecert:hush@/drivecert?host=/run/sockets"
    settings.REDIS_URL = "redis+socket://:hush@/run/redis.sock?virtual_host=0"
    _, text = run_doctor()
    assert "hush" not in text
    assert "postgresql://drivecert:***@/drivecert?host=/run/sockets" in text


@pytest.mark.parametrize(
    ("is_production", "provider", "word"),
    [(True, "folder", "WARNING"), (False, "folder", "OK"), (True, "smtp", "OK"), (True, "postmark", "OK")],
)
def test_a_public_register_without_a_mail_server_is_a_warning(settings, is_production, provider, word):
    settings.PRODUCTION, settings.MAIL_PROVIDER = is_production, provider
    assert doctor.examine_mail().word == word


@pytest.mark.parametrize(
    ("is_behind", "count", "word", "found"),
    [
        (True, 0, "WARNING", "BEHIND_TLS_PROXY is set, but TRUSTED_PROXIES is not"),
        (True, 1, "OK", "number 1 from the right of X-Forwarded-For"),
        (False, 0, "OK", "the peer of the connection"),
    ],
)
def test_a_proxy_that_is_not_counted_is_a_warning(settings, is_behind, count, word, found):
    settings.BEHIND_TLS_PROXY, settings.TRUSTED_PROXY_COUNT = is_behind, count
    check = next(each for each in doctor.examine() if each.part == "client address")
    assert (check.word, check.found.startswith(found)) == (word, True)


def test_a_missing_program_is_an_error(tmp_path):
    with override_settings(DRIVETEST=tmp_path / "drivetest"):
        check = doctor.examine_drivetest()
    assert check.found == f"{tmp_path / 'drivetest'} does not run: No such file or directory"
    assert "make drivetest" in check.remedy


def test_a_missing_data_directory_is_an_error(tmp_path):
    with override_settings(DATA_DIR=tmp_path / "var"):
        assert doctor.examine_data_dir().remedy
    with override_settings(DATA_DIR=tmp_path):
        assert not doctor.examine_data_dir().remedy


def host_lines():
    """Return the finding and the remedy for each lab host, by part."""
    return {check.part: (check.found, check.remedy) for check in doctor.examine_hosts()}


@pytest.mark.django_db
def test_a_host_that_accepts_work_is_listed_with_the_age_of_its_last_check():
    host = ssh_host(checked_at=timezone.now() - timedelta(seconds=200))
    (found, remedy) = host_lines()["lab host lab-1"]
    assert found == f"last check 3\N{NO-BREAK SPACE}min ago, on {host.checked_at:%-d %B %Y, %H:%M} UTC; takes work"
    assert not remedy


@pytest.mark.django_db
def test_a_host_that_gets_no_work_is_listed_with_the_reason():
    ssh_host(objections=["its clock is +700 s from the register's"])
    found, remedy = host_lines()["lab host lab-1"]
    assert found.endswith("; gets no work")
    assert remedy == "its clock is +700 s from the register's"


@pytest.mark.django_db
def test_an_unchecked_host_and_an_overdue_one_get_no_work(settings):
    ssh_host(checked_at=None)
    assert host_lines()["lab host lab-1"][0].startswith("not checked yet: `manage.py check_host lab-1`")
    Host.objects.update(checked_at=timezone.now() - timedelta(seconds=4 * settings.HOST_CHECK_PERIOD_S))
    assert "its last check is overdue" in host_lines()["lab host lab-1"][1]


@pytest.mark.django_db
def test_doctor_lists_the_hosts():
    ssh_host(checked_at=None)
    assert "\nWARNING lab host lab-1: not checked yet" in run_doctor()[1]


@pytest.mark.parametrize(
    ("checks", "status", "words"),
    [
        ([Check("Redis", "8.0")], 0, ["OK      Redis: 8.0"]),
        (
            [Check("Redis", "8.0"), Check("lab host a", "gets no work", "it is off", is_working=True)],
            0,
            ["OK", "WARNING"],
        ),
        (
            [Check("Redis", "does not answer", "start it"), Check("lab host a", "takes work", is_working=True)],
            1,
            ["ERROR "],
        ),
    ],
)
def test_the_exit_status_depends_only_on_the_register(monkeypatch, checks, status, words):
    monkeypatch.setattr(doctor, "examine", lambda: iter(checks))
    found, text = run_doctor()
    assert found == status
    assert all(f"\n{word}" in text for word in words)


def test_a_machine_without_a_unique_id_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "MACHINE_ID", tmp_path)
    check = doctor.examine_machine()
    assert check.word == "ERROR"
    assert f"{tmp_path}: cannot be read" in check.remedy


def test_a_retired_host_is_not_listed(db):
    ssh_host(silent_checks=3, objections=["no answer"], checked_at=timezone.now())
    assert host_lines()["lab host lab-1"][1] == "no answer; if it is gone for good, retire it on its page"
    Host.objects.update(retired_at=timezone.now())
    assert host_lines() == {}


def test_a_host_whose_agent_has_not_joined_is_listed_with_what_to_do(db):
    host = agent_host(is_joined=False)
    found, remedy = host_lines()["lab host lab-1"]
    assert found == "no agent has joined; gets no work"
    assert "print a command on its page, and run it on the host" in remedy
    Agent.objects.update(secret_hash="5e" * 32)
    assert host_lines()["lab host lab-1"][0].startswith("not checked yet")
    Host.objects.filter(pk=host.pk).update(checked_at=timezone.now())
    assert host_lines()["lab host lab-1"][1] == ""


def test_a_machine_without_an_id_is_reported_and_not_changed(db, monkeypatch, settings, tmp_path):
    """Run as root the doctor would make one that the register's own account cannot read."""
    monkeypatch.setattr(machine, "MACHINE_ID", tmp_path / "none")
    settings.LAB_DIR = tmp_path / "lab"
    Host.objects.create(name="local", kind="local", machine_id="of-another")
    check = doctor.examine_machine()
    assert (check.found, check.word) == ("has no id yet: made at the first start", "OK")
    assert list(host_lines()) == ["lab host local"]
    assert not settings.LAB_DIR.exists()


def make_pass(ended_days_ago):
    moment = timezone.now() - timedelta(days=ended_days_ago)
    return Scrub.objects.create(started_at=moment, ended_at=moment, files_count=3)


@pytest.mark.django_db
@pytest.mark.parametrize(("ended_days_ago", "word"), [(59, "OK"), (61, "WARNING")])
def test_a_scrub_that_ended_too_long_ago_is_a_warning(settings, ended_days_ago, word):
    settings.SCRUB_PERIOD_DAYS = 30
    make_pass(ended_days_ago)
    assert doctor.examine_scrub().word == word


@pytest.mark.django_db
def test_a_new_register_needs_no_scrub_yet(organisation, settings):
    assert doctor.examine_scrub().word == "OK"
    evidence = Evidence.objects.create(organisation=organisation, sha256="0" * 64, size_bytes=1, filename="log")
    assert doctor.examine_scrub().word == "OK"
    received_at = timezone.now() - timedelta(days=2 * settings.SCRUB_PERIOD_DAYS)
    Evidence.objects.filter(pk=evidence.pk).update(received_at=received_at)
    assert doctor.examine_scrub().word == "WARNING"


@pytest.mark.django_db
def test_a_damaged_file_is_an_error(settings):
    make_pass(0)
    now = timezone.now()
    ScrubFault.objects.create(sha256="0" * 64, size_bytes=1, kind="missing", first_seen_at=now, last_seen_at=now)
    assert doctor.examine_scrub().word == "ERROR"
    ScrubFault.objects.update(closed_at=now)
    assert doctor.examine_scrub().word == "OK"


@pytest.fixture
def store(monkeypatch):
    """Return a function that lets the trial of the evidence store end with an error."""

    def end_with(error):
        def fail():
            raise error

        monkeypatch.setattr(doctor, "check_store", fail)
        monkeypatch.setattr(prepare, "prepare_store", fail)

    return end_with


def test_an_evidence_store_that_works_is_ok(settings, tmp_path):
    use_directory(settings, tmp_path / "evidence")
    assert doctor.examine_store().word == "OK"


def test_a_missing_directory_of_evidence_is_an_error_and_is_not_made(settings, tmp_path):
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    assert (doctor.examine_store().word, settings.EVIDENCE_DIR.exists()) == ("ERROR", False)


@pytest.mark.parametrize("error", [UnsafeStoreError("it replaced one"), StoreUnavailableError("no answer")])
def test_an_evidence_store_that_cannot_be_used_is_an_error(store, error):
    store(error)
    assert (doctor.examine_store().word, doctor.examine_store().found) == ("ERROR", str(error))


@pytest.mark.django_db
def test_a_register_is_not_prepared_with_a_store_that_replaces_evidence(store, settings, tmp_path):
    settings.DATA_DIR, settings.EMAIL_FILE_PATH = tmp_path, tmp_path / "mail"
    settings.PUBLISHED_CATALOGUE = False
    store(UnsafeStoreError("it replaced one"))
    with pytest.raises(CommandError, match="it replaced one"):
        call_command("prepare", verbosity=0)


EARLIER, LATER = (timezone.now() - timedelta(minutes=age) for age in (2, 1))


@pytest.mark.parametrize(
    ("archived_at", "failed_at", "word", "found"),
    [
        (None, None, "OK", "no segment yet"),
        (LATER, EARLIER, "OK", "the last segment was archived on "),
        (EARLIER, EARLIER, "OK", "the last segment was archived on "),
        (EARLIER, LATER, "WARNING", "segment 0000A was not archived on "),
        (None, LATER, "WARNING", "segment 0000A was not archived on "),
    ],
)
def test_an_archive_whose_last_attempt_failed_is_a_warning(archived_at, failed_at, word, found):
    check = doctor.wal_archive_check(archived_at, failed_at, "0000A")
    assert (check.word, check.found.startswith(found)) == (word, True)
    assert ("new, empty directory" in check.remedy) is (word == "WARNING")


@pytest.mark.django_db
@pytest.mark.parametrize("is_set", [True, False])
def test_the_archive_is_examined_if_there_is_one(settings, tmp_path, is_set):
    settings.WAL_ARCHIVE = tmp_path if is_set else None
    assert [check.word for check in doctor.examine() if check.part.startswith("archive")] == ["OK"] * is_set
