"""Files of a request that are not stored: they are gone after it, whatever happens."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from results.evidence.scratch import LEFTOVER_AGE_S, PREFIX, remove_leftovers
from results.models import Evidence, Reading, Submission
from results.reader.process import FormatError, ProcessorLimitError, ReaderBrokenError, ReaderKilledError, ReaderLimits
from results.reader.unstored import unstored_files
from tests.results.builders import log_bytes, recorded_reading
from tests.results.fixtures import program, stand_in

__all__ = ["program", "stand_in"]

HOLD = """
import sys, time, django; django.setup()
from results.reader.unstored import unstored_files
with unstored_files() as files:
    with files.create_log() as log:
        log.write(b"secret")
    print(files.directory, flush=True)
    time.sleep(600)
"""
LIMITS = ReaderLimits(wall_s=60, cpu_s=20, memory_bytes=2**29, output_bytes=2**24)


@pytest.fixture(autouse=True)
def temporary(monkeypatch, tmp_path):
    """Use a temporary directory of the test alone."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


def write(file, content):
    with file:
        file.write(content)


def read(content, limits=LIMITS, companions=()):
    with unstored_files() as files:
        write(files.create_log(), content)
        for name in companions:
            write(files.create_companion(name), b"")
        return files.read(10, limits)


def age(directory, seconds):
    at = time.time() - seconds
    os.utime(directory, (at, at))


@pytest.mark.django_db
def test_a_log_is_read_and_nothing_is_left(stand_in, temporary):
    with unstored_files() as files:
        write(files.create_log(), log_bytes("four-us"))
        assert files.read(10, LIMITS) == recorded_reading("four-us")
        assert list(temporary.iterdir()) == [files.directory]
    assert list(temporary.iterdir()) == []
    assert Evidence.objects.count() == Submission.objects.count() == Reading.objects.count() == 0


@pytest.mark.django_db
def test_the_reader_gets_companions_by_their_names_and_the_log_without_its_own(program, tmp_path):
    program(f'echo "$@" > {tmp_path}/requests; exit 7')
    with pytest.raises(ReaderBrokenError, match="got 7"):
        read(b"log", companions=["run/../stderr"] * 2)
    words = (tmp_path / "requests").read_text().split()
    assert [word.rpartition("/")[2] for word in words if PREFIX in word] == ["run_.._stderr", "run_.._stderr", "log"]


@pytest.mark.django_db
@pytest.mark.parametrize("content", [b"", b"no log"])
def test_nothing_is_left_of_a_log_that_cannot_be_read(stand_in, temporary, content):
    with pytest.raises(FormatError):
        read(content)
    assert list(temporary.iterdir()) == []


@pytest.mark.django_db
def test_a_reader_is_stopped_at_its_processor_time_and_nothing_is_left(program, temporary):
    program("while :; do :; done")
    with pytest.raises(ProcessorLimitError) as raised:
        read(b"log", replace(LIMITS, wall_s=120, cpu_s=1))
    assert (raised.value.limit, raised.value.allowed) == ("time", "1 s of a processor")
    assert list(temporary.iterdir()) == []


@pytest.mark.django_db
def test_a_reader_is_stopped_at_its_time_on_the_clock_and_nothing_is_left(program, temporary):
    program("exec sleep 600")
    with pytest.raises(ReaderKilledError) as raised:
        read(b"log", replace(LIMITS, wall_s=1))
    assert raised.value.allowed == "1 s"
    assert list(temporary.iterdir()) == []


def test_a_reading_without_a_log_is_a_bug():
    with unstored_files() as files, pytest.raises(ValueError, match="create_log"):
        files.read(10)


@pytest.mark.long
def test_the_next_request_removes_what_a_killed_process_left(temporary):
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "webapp.settings", "TMPDIR": str(temporary)}
    process = subprocess.Popen([sys.executable, "-c", HOLD], env=environment, stdout=subprocess.PIPE, text=True)
    left = process.stdout.readline().strip()
    age(left, LEFTOVER_AGE_S + 10)
    remove_leftovers()
    assert Path(left).exists(), "a living process holds it"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with unstored_files() as files:
        assert list(temporary.iterdir()) == [files.directory]


def test_a_young_directory_and_the_files_of_others_stay(temporary):
    (young := temporary / f"{PREFIX}young").mkdir()
    (other := temporary / "other").mkdir()
    (link := temporary / f"{PREFIX}link").symlink_to(other)
    age(young, LEFTOVER_AGE_S - 10)
    age(other, LEFTOVER_AGE_S + 10)
    os.utime(link, (0, 0), follow_symlinks=False)
    remove_leftovers()
    assert {each.name for each in temporary.iterdir()} == {young.name, other.name, link.name}
    age(young, LEFTOVER_AGE_S + 10)
    remove_leftovers()
    assert not young.exists()
