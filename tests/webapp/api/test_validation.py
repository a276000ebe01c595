import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from results import locks
from results.models import Evidence, Submission
from results.reader.process import ReaderLimits
from tests.results.builders import log_bytes, other_session
from tests.results.stored_files import files_below
from webapp.accounts.tokens.rules import issue_token

pytestmark = pytest.mark.django_db


def validate(client, content):
    log = SimpleUploadedFile("load.log", content)
    return client.post("/api/v1/validate/", {"log": log, "slice_length_s": "10"})


def test_a_log_is_judged_without_storing_it(script, stand_in, evidence_dir):
    answer = validate(script, log_bytes("slow-disk-ms")).json()
    assert answer["runs"][0]["verdict"]["outcome"] == "fail"
    assert "histograms" not in answer["runs"][0]
    assert Evidence.objects.count() == Submission.objects.count() == 0
    assert files_below(evidence_dir) == []


def test_an_unreadable_log_returns_422_with_the_error_of_the_reader(script, stand_in):
    answer = validate(script, b"no log")
    assert answer.status_code == 422
    assert answer.json()["error"]["id"] == "no-act-log"
    assert answer.json()["error"]["remedy"]


def test_a_broken_reader_is_a_server_error(script, program):
    program("exit 7")
    answer = validate(script, b"log")
    assert answer.status_code == 503
    assert "Try again later" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("reader", "problem"),
    [
        ("exec head -c 100001 /dev/zero", "reading-too-large"),
        ("echo memory allocation of 9 bytes failed >&2; kill -ABRT $$", "memory-limit"),
        ("while :; do :; done", "processor-limit"),
    ],
)
def test_a_log_over_a_limit_returns_422_with_the_remedy_of_a_trial(script, program, settings, reader, problem):
    settings.READ_OUTPUT_BYTES = 100_000
    # The processor's limit is the time on the clock, so the latter must not come first.
    limits = ReaderLimits(wall_s=30, cpu_s=1, memory_bytes=settings.READ_MEMORY_BYTES, output_bytes=100_000)
    program(reader)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReaderLimits, "of_settings", lambda: limits)
        answer = validate(script, b"log")
    error = answer.json()["error"]
    assert (answer.status_code, error["id"]) == (422, problem)
    assert set(error) == {"id", "sentence", "line", "expected", "got", "remedy"}
    assert "end each run separately" in error["remedy"]


def test_one_log_of_an_organisation_is_read_at_a_time(script, exemplar, otto, stand_in):
    _, secret = issue_token(otto, otto.memberships.get().organisation, "theirs")
    other = Client(headers={"Authorization": f"Bearer {secret}"})
    with other_session() as thread:
        thread.execute("SELECT pg_advisory_lock(%s, %s)", [locks.VALIDATION, exemplar.pk])
        answer = validate(script, log_bytes("four-us"))
        assert (answer.status_code, answer.headers["Content-Type"]) == (429, "application/problem+json")
        assert "Another log of your organisation" in answer.json()["detail"]
        assert validate(other, log_bytes("four-us")).status_code == 200
        thread.execute("SELECT pg_advisory_unlock(%s, %s)", [locks.VALIDATION, exemplar.pk])
        assert validate(script, log_bytes("four-us")).status_code == 200


def test_the_next_log_is_read_after_any_result_of_the_previous_one(script, exemplar, stand_in):
    assert validate(script, b"no log").status_code == 422
    with other_session() as thread:
        taken = thread.execute("SELECT pg_try_advisory_lock(%s, %s)", [locks.VALIDATION, exemplar.pk]).fetchone()
    assert taken == (True,)


def test_a_stranger_cannot_have_a_log_read(client):
    assert validate(client, b"log").status_code == 401
