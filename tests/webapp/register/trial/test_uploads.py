"""The form of a trial: what it accepts, and what is left of an upload that fails."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from results.reader.process import Document
from tests.results.builders import log_bytes
from webapp.register.trial.uploads import DRAINED_RATIO, FORM_BYTES

pytestmark = pytest.mark.django_db

HEAD = b'--b\r\nContent-Disposition: form-data; name="log"; filename="load.log"\r\n\r\n'
END = b"\r\n--b--\r\n"


@pytest.fixture
def readings(monkeypatch):
    """Record the content of each log that comes to a reading, and its slice length."""
    found = []

    def read(files, slice_length_s, limits) -> Document:
        companions = [(path.name, path.read_bytes()) for path in files.companions]
        found.append((files.log.read_bytes(), slice_length_s, companions))
        return {"reader": {"version": "0"}, "input": {}, "findings": [], "runs": []}

    monkeypatch.setattr("results.reader.unstored.UnstoredFiles.read", read)
    return found


def problem_of(response):
    return response.status_code, response.text.partition('<p class="id">')[2].partition("<")[0]


def test_the_log_and_its_companions_come_to_the_reader_as_sent(send, readings):
    content = bytes(range(256)) * 1000
    send(
        content,
        companions=[("load.conf", b"a: b"), ("load.conf", b""), ("../../etc/passwd", b"x")],
        slice_length_s="60",
    )
    assert readings == [(content, 60, [("load.conf", b"a: b"), ("load.conf", b""), ("passwd", b"x")])]


@pytest.mark.parametrize(("size", "status"), [(999, 200), (1000, 200), (1001, 413)])
def test_a_log_of_the_largest_size_is_read_and_a_larger_one_refused(send, readings, settings, temporary, size, status):
    settings.TRIAL_UPLOAD_MAX_BYTES = 1000
    response = send(b"x" * size)
    assert response.status_code == status
    assert len(readings) == (status == 200)
    assert list(temporary.iterdir()) == []


def test_the_refusal_names_the_limit_and_a_remedy(send, readings, settings):
    response = send(b"x" * (settings.TRIAL_UPLOAD_MAX_BYTES + 1))
    assert problem_of(response) == (413, "too-large")
    assert "at most 64\N{NO-BREAK SPACE}MiB (67,108,864 bytes) in all" in response.text
    assert "Compress the log with gzip" in response.text


def test_all_files_count_together(send, readings, settings):
    settings.TRIAL_UPLOAD_MAX_BYTES = 1000
    assert send(b"x" * 500, companions=[("a", b"y" * 500)]).status_code == 200
    assert send(b"x" * 500, companions=[("a", b"y" * 501)]).status_code == 413


class Body(io.RawIOBase):
    """A body that counts what is read of it."""

    read_bytes = 0

    def read(self, size=-1):
        self.read_bytes += size
        return b"x" * size


class BrokenBody(io.RawIOBase):
    """A body whose connection breaks."""

    def read(self, size=-1):
        raise ConnectionResetError("gone")


def test_a_form_that_announces_too_much_is_refused_without_writing_it(send_raw, settings, temporary):
    settings.TRIAL_UPLOAD_MAX_BYTES = 1024**2
    body = Body()
    response = send_raw(b"", length=10**12, **{"wsgi.input": body})
    assert problem_of(response) == (413, "too-large")
    assert body.read_bytes == DRAINED_RATIO * 1024**2  # so that browsers show the page
    assert list(temporary.iterdir()) == []
    assert problem_of(send_raw(b"x" * 10, length=1024**2 + FORM_BYTES)) == (400, "incomplete")


@pytest.mark.parametrize("missing", [1, 100])
def test_a_lost_connection_starts_no_reading_and_leaves_nothing(send_raw, readings, temporary, missing):
    body = HEAD + b"x" * 100_000 + END
    assert problem_of(send_raw(body, length=len(body) + missing)) == (400, "incomplete")
    assert problem_of(send_raw(body[:-50_000], length=len(body))) == (400, "incomplete")
    assert readings == []
    assert list(temporary.iterdir()) == []
    assert send_raw(body).status_code == 200


def test_a_connection_that_breaks_with_an_error_leaves_nothing(send_raw, readings, temporary):
    assert problem_of(send_raw(b"", length=1000, **{"wsgi.input": BrokenBody()})) == (400, "incomplete")
    assert readings == []
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("length", ["", "many", "-1", "1e3", "9" * 5_000, "\N{SUPERSCRIPT TWO}"])
def test_an_invalid_content_length_is_refused_with_a_message(send_raw, length):
    assert problem_of(send_raw(b"", length=length)) in {(400, "incomplete"), (413, "too-large")}


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", "multipart/form-data; boundary=\N{EURO SIGN}"])
def test_a_body_that_is_no_form_is_refused(send_raw, kind):
    assert problem_of(send_raw(b"hello", kind=kind)) == (400, "incomplete")


def test_a_form_without_a_file_is_refused(send):
    assert problem_of(send(None)) == (400, "no-file")
    assert problem_of(send(None, companions=[("load.log", b"x")])) == (400, "no-file")
    assert problem_of(send(None, log="a text and no file")) == (400, "no-file")


def test_several_files_as_the_log_are_refused(client, readings):
    logs = [SimpleUploadedFile(name, b"x") for name in ("a", "b")]
    assert problem_of(client.post("/try/", {"log": logs})) == (400, "several-files")
    assert readings == []


@pytest.mark.parametrize(("count", "status"), [(32, 200), (33, 400)])
def test_a_log_may_have_32_companions(send, readings, count, status):
    assert send(companions=[(f"c{number}", b"") for number in range(count)]).status_code == status


def test_the_refusal_of_too_many_files_follows_the_setting(send, readings, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 3
    response = send(companions=[(f"c{number}", b"") for number in range(3)])
    assert problem_of(response) == (400, "too-many-files")
    assert "a log and at most 2 other files" in response.text


def test_a_file_in_an_unknown_field_is_ignored(send, readings):
    assert send(b"log", other=SimpleUploadedFile("other", b"x" * 100)).status_code == 200
    assert readings == [(b"log", 10, [])]


@pytest.mark.parametrize("text", ["1", "86400", " 60 "])
def test_a_valid_slice_length_is_used(send, readings, text):
    assert send(slice_length_s=text).status_code == 200
    assert readings[0][1] == int(text)


def test_without_a_slice_length_it_is_that_of_the_profile(send, readings):
    send(slice_length_s="")
    assert readings[0][1] == 3600


@pytest.mark.parametrize("text", ["0", "86401", "-1", "1.5", "9" * 5_000, "ten", "\N{SUPERSCRIPT TWO}"])
def test_an_invalid_slice_length_is_named(send, readings, text):
    response = send(slice_length_s=text)
    assert problem_of(response) == (400, "invalid-slice-length")
    assert "a whole number of seconds from 1 to 86400" in response.text
    assert "or another whole number from 1 to 86400." in response.text
    assert readings == []


def test_a_large_log_is_read_whole(real_reader, send):
    content = log_bytes("four-us")
    assert send(content + b"\n" * 5_000_000).status_code == 200
