import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from results.models import Evidence, Submission
from tests.results.builders import log_bytes

pytestmark = pytest.mark.django_db


def validate(client, content):
    log = SimpleUploadedFile("load.log", content)
    return client.post("/api/v1/validate/", {"log": log, "slice_length_s": "10"})


def test_a_log_is_judged_and_nothing_is_stored(script, stand_in, evidence_dir):
    answer = validate(script, log_bytes("slow-disk-ms")).json()
    assert answer["runs"][0]["verdict"]["outcome"] == "fail"
    assert "histograms" not in answer["runs"][0]
    assert Evidence.objects.count() == Submission.objects.count() == 0
    assert not evidence_dir.exists()


def test_an_unreadable_log_answers_422_with_the_readers_error(script, stand_in):
    answer = validate(script, b"no log")
    assert answer.status_code == 422
    assert answer.json()["error"]["id"] == "no-act-log"
    assert answer.json()["error"]["remedy"]


def test_a_broken_reader_is_our_fault(script, program):
    program("exit 7")
    answer = validate(script, b"log")
    assert answer.status_code == 503
    assert "Try again later" in answer.json()["detail"]


def test_a_stranger_gets_no_reading(client):
    assert validate(client, b"log").status_code == 401
