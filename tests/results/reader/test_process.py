import json
import os
import signal
import subprocess
import sys

import pytest

from results.reader import process as reader_process
from results.reader.process import (
    ROWS_MAX,
    FormatError,
    ReaderBrokenError,
    ReaderKilledError,
    TooManySlicesError,
    read,
    reader_version,
)
from tests.results.builders import LOGS, is_running, recorded_reading, wait_for
from tests.results.stand_in_reader import unreadable

PROFILE = '{"name": "p"}'
LOG = LOGS / "four-us.log"


def test_the_output_of_the_reader_is_returned(stand_in):
    assert read(LOG, 10, PROFILE) == recorded_reading("four-us")


def test_the_reader_is_called_as_documented(program, tmp_path):
    program(f'echo "$@" > {tmp_path}/requests; cat "$6" >> {tmp_path}/requests; cat {tmp_path}/answer')
    (tmp_path / "answer").write_text(json.dumps(recorded_reading("four-us")))
    read(LOG, 10, PROFILE)

    command, profile = (tmp_path / "requests").read_text().split("\n")
    assert command.startswith("read --json --slice-sec 10 --profile /")
    assert command.endswith(str(LOG))
    assert profile == PROFILE


def test_an_unreadable_log_counts_against_the_log(stand_in):
    with pytest.raises(FormatError, match="no log of ACT") as raised:
        read(LOGS / "four-us.conf", 10, PROFILE)
    assert raised.value.error["id"] == "no-act-log"
    assert raised.value.document["input"]["size_bytes"] == (LOGS / "four-us.conf").stat().st_size


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("exit 7", "expected exit status 0 or 3, got 7: no output"),
        ("echo worse >&2; exit 1", "got 1: worse"),
        ("kill -SEGV $$", f"got -{int(signal.SIGSEGV)}"),
        ("echo no json", "expected drivecert.reading/2"),
        ('echo \'{"schema": "drivecert.reading/2"}\'', "expected drivecert.reading/2"),
        ("true", "expected drivecert.reading/2"),
    ],
)
def test_invalid_output_of_the_reader_is_our_fault(program, body, message):
    program(body)
    with pytest.raises(ReaderBrokenError, match=message):
        read(LOG, 10, PROFILE)


@pytest.fixture
def _time_from_its_start(monkeypatch, tmp_path):
    """Measure a reader's time from its first line. On a busy machine, the start alone may exceed the limit."""

    class Started(subprocess.Popen):
        def wait(self, timeout=None):
            if timeout is not None:
                wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
            return super().wait(timeout)

    monkeypatch.setattr(subprocess, "Popen", Started)


@pytest.mark.usefixtures("_time_from_its_start")
def test_a_reader_that_takes_too_long_is_ended(program, settings, tmp_path):
    settings.READ_TIMEOUT_S = 1
    program(f"echo $$ > {tmp_path}/pid; exec sleep 600")
    with pytest.raises(ReaderKilledError) as raised:
        read(LOG, 10, PROFILE)
    assert raised.value.limit == "time"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_reader_that_prints_too_much_is_ended(program, settings):
    settings.READ_OUTPUT_BYTES = 100_000
    program("exec head -c 100001 /dev/zero")
    with pytest.raises(ReaderKilledError) as raised:
        read(LOG, 10, PROFILE)
    assert raised.value.limit == "output"


def test_a_reader_that_takes_too_much_memory_is_ended(program, settings):
    settings.READ_MEMORY_BYTES = 64 * 1024**2
    hungry = f"{sys.executable} -c 'bytearray(80 * 1024**2)' 2>/dev/null"
    program(f"{hungry} || {{ echo memory allocation of N failed >&2; kill -ABRT $$; }}")
    with pytest.raises(ReaderKilledError) as raised:
        read(LOG, 10, PROFILE)
    assert raised.value.limit == "memory"


def test_the_reader_gets_no_environment_variable_of_the_register(program, monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:secret@host/db")
    program(f"env > {tmp_path}/env; exit 7")
    with pytest.raises(ReaderBrokenError):
        read(LOG, 10, PROFILE)
    assert "secret" not in (tmp_path / "env").read_text()


def test_nul_in_a_name_is_replaced_by_a_character_that_the_database_can_store(program, tmp_path):
    document = recorded_reading("four-us")
    document["runs"][0]["histograms"][0]["name"] = "re\x00ads"
    (tmp_path / "answer").write_text(json.dumps(document))
    program(f"cat {tmp_path}/answer")
    assert read(LOG, 10, PROFILE)["runs"][0]["histograms"][0]["name"] == "re\ufffdads"


def test_every_recorded_and_refused_document_matches_the_schema():
    for document in [recorded_reading("four-us"), recorded_reading("slow-disk-ms"), unreadable("0" * 64, 1)]:
        reader_process._validator().validate(document)


def test_documented_nulls_match_the_schema():
    document = recorded_reading("slow-disk-ms")
    document["input"] |= {"sha256": None, "content_sha256": None}
    document["runs"][0]["verdict"]["violations"][0]["excess_ratio"] = None
    reader_process._validator().validate(document)


def test_one_row_over_the_limit_of_the_register_is_refused():
    reader_process._refuse_many_rows(ROWS_MAX)
    with pytest.raises(TooManySlicesError):
        reader_process._refuse_many_rows(ROWS_MAX + 1)


def test_a_histogram_counts_in_slices_that_do_not_contain_it(program, tmp_path, monkeypatch):
    document = recorded_reading("four-us")
    (run,) = document["runs"]
    run["slices"][0]["histograms"] = run["slices"][0]["histograms"][:1]
    (tmp_path / "answer").write_text(json.dumps(document))
    program(f"cat {tmp_path}/answer")
    places, counts = len(run["slices"]) * len(run["histograms"]), json.dumps(document).count('"ops_count"')
    monkeypatch.setattr(reader_process, "ROWS_MAX", max(places, counts))
    assert read(LOG, 10, PROFILE) == document
    monkeypatch.setattr(reader_process, "_refuse_many_rows", refused := [].append)
    read(LOG, 10, PROFILE)
    assert refused.__self__ == [counts, places]


def test_the_reader_ends_with_the_process_that_started_it(program, tmp_path):
    program(f"echo $$ > {tmp_path}/pid; exec sleep 600")
    script = (
        "import django; django.setup()\n"
        "from pathlib import Path; from results.reader.process import read\n"
        f"read(Path({str(LOG)!r}), 10, '')\n"
    )
    settings = {"DJANGO_SETTINGS_MODULE": "webapp.settings", "DRIVETEST": str(tmp_path / "drivetest")}
    parent = subprocess.Popen([sys.executable, "-c", script], env=os.environ | settings)
    reader_pid = int(wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    parent.kill()
    parent.wait()
    wait_for(lambda: not is_running(reader_pid))


def test_the_version_is_the_one_that_the_program_prints(program):
    program("echo drivetest 4.5.6")
    assert reader_version() == "4.5.6"


def test_a_missing_reader_is_reported_with_its_remedy(settings, tmp_path, program):
    program("true").unlink()
    with pytest.raises(ReaderBrokenError, match="build it with"):
        reader_version()
