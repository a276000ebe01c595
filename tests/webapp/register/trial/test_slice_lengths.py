"""Slice lengths for logs without a chosen one: the reader is asked a second time only for a short log."""

from types import SimpleNamespace

import pytest

from results.reader.process import ReaderBrokenError
from results.reader.unstored import UnstoredFiles
from tests.results.builders import log_bytes, recorded_reading
from webapp.register.trial import readings
from webapp.register.trial.slice_lengths import fitting_slice_length_s

HOUR_S = 3600


def document(*lengths):
    return {"runs": [{"reached_s": reached_s, "slice_length_s": slice_s} for reached_s, slice_s in lengths]}


@pytest.mark.parametrize(
    ("lengths", "fitting_s"),
    [
        ([(60, HOUR_S)], 6),
        ([(3599, HOUR_S)], 359),
        ([(3600, HOUR_S)], None),
        ([(9, HOUR_S)], 1),
        ([(60, HOUR_S), (600, HOUR_S)], 6),
        ([(60, HOUR_S), (86_400, HOUR_S)], None),
        ([(None, None), (60, HOUR_S)], 6),
        ([(None, None)], None),
        ([(0, HOUR_S)], None),
        ([], None),
    ],
)
def test_only_a_log_whose_runs_are_all_shorter_than_a_slice_has_a_fitting_length(lengths, fitting_s):
    assert fitting_slice_length_s(document(*lengths)) == fitting_s


@pytest.fixture
def lengths_read(monkeypatch):
    """Record the slice length of each reading; a second reading fails."""
    lengths = []

    def read(_files, slice_length_s, _limits):
        if lengths:
            raise ReaderBrokenError("broken")
        lengths.append(slice_length_s)
        reading = recorded_reading("slow-disk-ms")
        for run in reading["runs"]:
            run["slice_length_s"] = slice_length_s
        return reading

    monkeypatch.setattr(UnstoredFiles, "read", read)
    return lengths


@pytest.mark.django_db
def test_a_second_reading_that_fails_leaves_the_first_one(send, lengths_read):
    response = send(log_bytes("slow-disk-ms"), slice_length_s="")
    assert response.status_code == 200
    assert lengths_read == [HOUR_S]
    assert "you chose no slice length" not in response.text


@pytest.mark.parametrize(
    ("clock_s", "processor_s", "limits_s"),
    [(0, 0, [20, 20]), (50, 1, [20, 19]), (4, 12, [20, 16]), (50, 19, [20, 1]), (50, 19.5, [20]), (50, 50, [20])],
)
def test_the_second_reading_has_what_the_first_one_left_of_the_processor_time(
    monkeypatch, settings, clock_s, processor_s, limits_s
):
    """The first reading waits for a busy machine, or other readings of the process use the processor meanwhile."""
    settings.TRIAL_CPU_S = 20
    used = {"clock": 100.0, "processor": 7.0}
    limits = []

    def read(_files, slice_length_s, reader_limits):
        limits.append(reader_limits.cpu_s)
        used["clock"] += clock_s
        used["processor"] += processor_s
        return document((60, slice_length_s))

    monkeypatch.setattr(UnstoredFiles, "read", read)
    monkeypatch.setattr(readings, "time", SimpleNamespace(monotonic=lambda: used["clock"]))
    usage = SimpleNamespace(
        RUSAGE_CHILDREN=-1, getrusage=lambda _: SimpleNamespace(ru_utime=used["processor"] - 2, ru_stime=2)
    )
    monkeypatch.setattr(readings, "resource", usage, raising=False)
    readings._read(UnstoredFiles(None), None)
    assert limits == limits_s
