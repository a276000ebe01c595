"""Slice lengths for logs without a chosen one: the reader is asked a second time only for a short log."""

import pytest

from results.reader.process import ReaderBrokenError
from results.reader.unstored import UnstoredFiles
from tests.results.builders import log_bytes, recorded_reading
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
