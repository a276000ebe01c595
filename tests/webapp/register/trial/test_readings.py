"""The limits of trials, both sides of each: 10 an hour and 2 uploads for a client, 2 readings at a time for all."""

import io
import threading
import time

import pytest
from django.db import connections

from tests.results.builders import log_bytes, wait_for
from webapp.access_limits.shared_limits import LimitReachedError
from webapp.register.trial.readings import hourly_limit, parallel_limit, upload_limit

pytestmark = pytest.mark.django_db


def taken_count(limit, holder):
    """Return how many uses are taken, by taking the others."""
    free = 0
    try:
        while True:
            limit.take(holder)
            free += 1
    except LimitReachedError:
        return limit.most - free


def test_the_limits_are_those_of_the_settings(settings):
    assert (hourly_limit().most, hourly_limit().period_s) == (10, 3600)
    assert (parallel_limit().most, parallel_limit().period_s) == (2, 2 * settings.READ_TIMEOUT_S + 30)


def test_the_tenth_log_of_an_hour_is_read_and_the_eleventh_refused(stand_in, send, temporary):
    for _ in range(9):
        hourly_limit().take("127.0.0.1")
    assert send(log_bytes("four-us")).status_code == 200
    refused = send(log_bytes("four-us"))
    assert refused.status_code == 429
    assert 3590 <= int(refused["Retry-After"]) <= 3600
    assert refused["Cache-Control"] == "no-store"
    assert "at most 10 logs an hour for one network address" in refused.text
    assert "Try again in 60 minutes." in refused.text
    assert list(temporary.iterdir()) == []


def test_a_client_sends_two_logs_at_a_time_and_a_third_is_refused_before_it_is_read(stand_in, send, send_raw):
    first = upload_limit().take("127.0.0.1")
    assert send(log_bytes("four-us")).status_code == 200
    upload_limit().take("127.0.0.1")
    refused = send_raw(b"", length=1000, **{"wsgi.input": Unread()})
    assert refused.status_code == 429
    assert 235 <= int(refused["Retry-After"]) <= 240
    assert "receives at most 2 logs at a time from one network address" in refused.text
    assert send(log_bytes("four-us"), peer="192.0.2.1").status_code == 200
    upload_limit().give_back(first, "127.0.0.1")
    assert send(log_bytes("four-us")).status_code == 200


class Unread(io.RawIOBase):
    """A body of which nothing may be read."""

    def read(self, size=-1):
        raise AssertionError("expected no read")


@pytest.mark.parametrize("content", [log_bytes("four-us"), b"no log", None])
def test_an_upload_gives_its_use_back(stand_in, send, content):
    send(content)
    assert taken_count(upload_limit(), "127.0.0.1") == 0


class SlowBody(io.RawIOBase):
    """A body that sends a byte at a time, for ever."""

    def __init__(self, head):
        self.head = head

    def read(self, size=-1):
        time.sleep(0.01)
        head, self.head = self.head, b"x"
        return head


# A body that is no form is refused, and its rest is drained.
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=b", "text/plain"])
def test_a_slow_sender_is_refused_at_the_deadline(send_raw, monkeypatch, temporary, kind):
    monkeypatch.setattr("webapp.register.trial.uploads.UPLOAD_TIMEOUT_S", 0.3)
    body = SlowBody(b'--b\r\nContent-Disposition: form-data; name="log"; filename="load.log"\r\n\r\nx')
    refused = send_raw(b"", length=1000, kind=kind, **{"wsgi.input": body})
    assert refused.status_code == 400
    assert '<p class="id">too-slow' in refused.text
    assert "all bytes within 2 minutes" in refused.text
    assert taken_count(upload_limit(), "127.0.0.1") == 0
    assert list(temporary.iterdir()) == []


def test_a_log_that_cannot_be_read_counts_as_well(stand_in, send):
    assert send(b"no log").status_code == 422
    assert taken_count(hourly_limit(), "127.0.0.1") == 1


@pytest.mark.parametrize("fields", [{"content": None}, {"slice_length_s": "0"}, {"content": b"x" * 2000}])
def test_a_form_that_comes_to_no_reading_does_not_count(send, settings, fields):
    settings.TRIAL_UPLOAD_MAX_BYTES = 1000
    assert send(**fields).status_code in {400, 413}
    assert taken_count(hourly_limit(), "127.0.0.1") == 0


def test_clients_are_counted_apart_by_address_and_by_64_network(stand_in, send, settings):
    settings.TRIAL_READINGS_PER_HOUR = 1
    peers = ["192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1"]
    statuses = [send(log_bytes("four-us"), peer=peer).status_code for peer in peers]
    assert statuses == [200, 429, 200, 200, 429, 200]


@pytest.mark.parametrize(("count", "expected"), [(0, [200, 429, 429]), (1, [200, 200, 429])])
def test_a_forged_header_does_not_bypass_the_limit(stand_in, send, settings, count, expected):
    settings.TRIAL_READINGS_PER_HOUR, settings.TRUSTED_PROXY_COUNT = 1, count
    forwarded = ["203.0.113.1", "203.0.113.2", "198.51.100.9, 203.0.113.2"]
    statuses = [send(log_bytes("four-us"), headers={"X-Forwarded-For": each}).status_code for each in forwarded]
    assert statuses == expected


def test_a_second_reading_at_a_time_is_made_and_a_third_refused(stand_in, send, settings, temporary):
    first = parallel_limit().take()  # as another process does
    assert send(log_bytes("four-us")).status_code == 200
    second = parallel_limit().take()
    refused = send(log_bytes("four-us"))
    assert (refused.status_code, refused["Retry-After"]) == (429, "20")
    assert "reads at most 2 logs at a time, and all places are taken" in refused.text
    assert "send it in 20 seconds. This attempt does not count." in refused.text
    assert list(temporary.iterdir()) == []
    parallel_limit().give_back(first)
    assert send(log_bytes("four-us")).status_code == 200
    parallel_limit().give_back(second)
    assert taken_count(hourly_limit(), "127.0.0.1") == 2


@pytest.mark.parametrize("content", [log_bytes("four-us"), b"no log"])
def test_a_reading_gives_its_place_back(stand_in, send, content):
    send(content)
    assert taken_count(parallel_limit(), "anyone") == 0


def test_a_reading_that_fails_by_a_bug_gives_its_place_back_and_leaves_nothing(send, monkeypatch, temporary):
    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr("results.reader.unstored.UnstoredFiles.read", broken)
    with pytest.raises(RuntimeError):
        send(b"log")
    assert taken_count(parallel_limit(), "anyone") == 0
    assert list(temporary.iterdir()) == []


@pytest.mark.django_db(transaction=True)
def test_a_place_is_held_while_the_reader_runs(program, send, tmp_path):
    program(f"touch {tmp_path}/began; while [ ! -e {tmp_path}/end ]; do sleep 0.05; done; exit 7")
    answers = []

    def visit():
        answers.append(send().status_code)
        connections.close_all()

    thread = threading.Thread(target=visit)
    thread.start()
    wait_for((tmp_path / "began").exists)
    assert taken_count(parallel_limit(), "anyone") == 1
    (tmp_path / "end").touch()
    thread.join()
    assert answers == [503]


def test_without_redis_no_log_is_read(no_broker, send, temporary, program, tmp_path):
    program(f"touch {tmp_path}/began; exit 7")
    refused = send(log_bytes("four-us"))
    assert (refused.status_code, refused["Retry-After"]) == (503, "60")
    assert "its broker (Redis) does not answer" in refused.text
    assert not (tmp_path / "began").exists()
    assert list(temporary.iterdir()) == []
