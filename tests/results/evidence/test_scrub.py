"""The scrub, over a directory store: faults, passes, the cursor and the limit of bandwidth."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from results import locks, tasks
from results.evidence import scrub
from results.evidence.scrub import advance, current_pass, is_due, open_faults, scrub_slice
from results.evidence.store import StoreUnavailableError, open_evidence, store
from results.models import Evidence, Scrub, ScrubFault
from tests.results.builders import make_organisation, make_user, other_session, send, sha256
from tests.results.stored_files import path_of
from webapp.notices.models import Notice

pytestmark = pytest.mark.django_db
FAST = 10**12
CONTENTS = [b"the first log", b"the second log", b"the third log"]
Kind = ScrubFault.Kind


@pytest.fixture
def submissions(evidence_dir):
    organisation = make_organisation()
    return [send(organisation, content) for content in CONTENTS]


def run_pass():
    scrub_pass = current_pass()
    advance(scrub_pass, FAST)
    return scrub_pass


def damage(content, damaged):
    path = path_of(sha256(content))
    path.chmod(0o600)
    if damaged is None:
        path.unlink()
    else:
        path.write_bytes(damaged)


def scrub_command(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        call_command("scrub", *arguments)
    return end.value.code, capsys.readouterr().out


def test_a_pass_checks_every_file_once_and_finds_no_fault(submissions):
    scrub_pass = run_pass()
    assert (scrub_pass.files_count, scrub_pass.bytes_count) == (3, sum(map(len, CONTENTS)))
    assert scrub_pass.ended_at is not None
    assert list(open_faults()) == []


@pytest.mark.parametrize(
    ("damaged", "kind", "found_bytes"),
    [
        (None, Kind.MISSING, None),
        (b"the first lo", Kind.SHORTER, 12),
        (b"the first log ", Kind.ALTERED, 14),
        (b"the first lob", Kind.ALTERED, 13),
    ],
)
def test_a_damaged_file_is_a_fault_until_its_bytes_are_back(submissions, damaged, kind, found_bytes):
    damage(CONTENTS[0], damaged)
    run_pass()
    (fault,) = open_faults()
    assert (fault.sha256, fault.kind, fault.found_bytes) == (sha256(CONTENTS[0]), kind, found_bytes)
    run_pass()
    (again,) = open_faults()
    assert (again.pk, again.first_seen_at) == (fault.pk, fault.first_seen_at)
    assert again.last_seen_at > fault.last_seen_at
    damage(CONTENTS[0], CONTENTS[0]) if damaged is not None else store(io.BytesIO(CONTENTS[0]))
    run_pass()
    assert list(open_faults()) == []
    assert ScrubFault.objects.get().closed_at is not None


def test_a_file_that_cannot_be_read_is_a_fault(submissions, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(scrub, "open_address", fail)
    run_pass()
    assert {fault.kind for fault in open_faults()} == {Kind.UNREADABLE}


def test_a_directory_that_is_not_mounted_is_no_fault(submissions, evidence_dir):
    evidence_dir.rename(evidence_dir.with_name("elsewhere"))
    evidence_dir.mkdir()
    (evidence_dir / "ab").mkdir()  # a folder of a store is no sign of it
    with pytest.raises(StoreUnavailableError, match="mount its file system"):
        run_pass()
    assert list(open_faults()) == []
    tasks.scrub_evidence()  # only logs it


def test_a_file_to_which_no_row_refers_is_counted_and_stays(submissions):
    store(io.BytesIO(b"of no row"))
    assert run_pass().unreferenced_count == 1
    assert path_of(sha256(b"of no row")).exists()


def test_an_interrupted_pass_goes_on_after_the_last_file(submissions, monkeypatch):
    checked = []

    def open_until(stored, limit):
        if len(checked) == limit:
            raise StoreUnavailableError("down")
        checked.append(stored.sha256)
        return open_evidence(Evidence(sha256=stored.sha256, size_bytes=stored.size_bytes))

    monkeypatch.setattr(scrub, "open_address", lambda stored: open_until(stored, 2))
    with pytest.raises(StoreUnavailableError):
        run_pass()
    assert Scrub.objects.get().ended_at is None
    monkeypatch.setattr(scrub, "open_address", lambda stored: open_until(stored, None))
    assert run_pass().files_count == 3
    assert checked == sorted(map(sha256, CONTENTS))
    assert Scrub.objects.count() == 1


def test_a_slice_without_time_leaves_the_rest_to_the_next_one(submissions):
    advance(current_pass(), FAST, seconds=0)
    assert (Scrub.objects.get().files_count, is_due()) == (0, True)
    advance(current_pass(), FAST, seconds=60)
    assert Scrub.objects.get().files_count == 3


def test_files_are_read_within_the_limit_of_bandwidth(submissions, monkeypatch):
    waits = []
    monkeypatch.setattr(scrub.time, "sleep", waits.append)
    monkeypatch.setattr(scrub.time, "monotonic", lambda: 0.0)
    advance(current_pass(), 10)
    assert waits[-1] == pytest.approx(sum(map(len, CONTENTS)) / 10)
    assert len(waits) == 3


def test_the_next_pass_begins_a_period_after_the_last_one(submissions, settings):
    assert scrub_slice()
    assert not scrub_slice()
    period = timedelta(days=settings.SCRUB_PERIOD_DAYS)
    Scrub.objects.update(started_at=timezone.now() - period + timedelta(minutes=1))
    assert not is_due()
    Scrub.objects.update(started_at=timezone.now() - period)
    assert scrub_slice()
    assert Scrub.objects.count() == 2


def test_one_process_at_a_time_checks_files(submissions):
    with other_session() as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", locks.keys_of(locks.SCRUB, 0))
        assert not scrub_slice()
    assert not Scrub.objects.exists()


def test_operators_get_one_notice_of_new_faults(submissions):
    operator = make_user("olga", is_operator=True)
    make_user("rita", is_reviewer=True)
    damage(CONTENTS[0], None)
    damage(CONTENTS[1], None)
    run_pass()
    run_pass()
    notice = Notice.objects.get(subject_type="scrub")
    assert (notice.recipient_id, notice.kind, notice.details) == (operator.pk, "scrub-faults", {"faults": 2})


def test_the_command_names_faults_with_their_submissions_and_fails(submissions, capsys):
    assert scrub_command(capsys) == (0, "3 files, 40 bytes, 0 faults; 0 files to which no row refers\n")
    damage(CONTENTS[0], b"the first")
    status, output = scrub_command(capsys, "--bytes-per-s", str(FAST))
    assert status == 1
    expected = f"shorter    {sha256(CONTENTS[0])}: expected 13 bytes, got 9 bytes; {submissions[0].public_id}"
    assert output.splitlines()[0] == expected


def test_the_command_begins_with_the_first_file_again_if_asked(submissions, capsys):
    last = max(map(sha256, CONTENTS))
    Scrub.objects.create(started_at=timezone.now(), cursor=last, files_count=3)
    assert "3 files, 0 bytes" in scrub_command(capsys)[1]
    Scrub.objects.create(started_at=timezone.now(), cursor=last, files_count=3)
    assert "3 files, 40 bytes" in scrub_command(capsys, "--all")[1]


def test_the_command_refuses_a_limit_of_nothing(db):
    with pytest.raises(CommandError, match="at least 1, got -1"):
        call_command("scrub", "--bytes-per-s", "-1")
