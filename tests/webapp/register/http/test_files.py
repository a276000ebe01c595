"""Files of very many lines: the same text for short and long files, and never all lines in memory."""

import pytest

from webapp.register.http import files
from webapp.register.http.files import long_csv_response
from webapp.register.runs import slices as csv_rows
from webapp.register.runs.charts import telemetry

pytestmark = pytest.mark.django_db


def text_of(response):
    return (b"".join(response) if response.streaming else response.content).decode()


@pytest.mark.parametrize(("rows", "is_streamed"), [(1, False), (5_000, True)])
def test_a_long_file_is_sent_from_disk_unchanged(monkeypatch, rows, is_streamed):
    monkeypatch.setattr(files, "IN_MEMORY_BYTES", 1_000)
    response = long_csv_response("x", ["a", "b"], ((number, "=1+1") for number in range(rows)))
    assert response.streaming is is_streamed
    assert response.headers["Content-Disposition"] == 'attachment; filename="x.csv"'
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    lines = text_of(response).splitlines()
    assert (lines[:2], len(lines)) == (["a,b", "0,'=1+1"], rows + 1)
    response.close()


def test_the_slices_of_a_run_are_read_while_they_are_written(client, make_log_run, monkeypatch):
    run = make_log_run(slices=[(3, [1, 2])] * 300)
    whole = client.get(f"/runs/{run.public_id}/slices.csv")
    monkeypatch.setattr(files, "IN_MEMORY_BYTES", 1_000)
    long = client.get(f"/runs/{run.public_id}/slices.csv")
    assert (whole.streaming, long.streaming) == (False, True)
    assert text_of(long) == whole.text
    assert len(whole.text.splitlines()) == 301


def test_rows_are_read_only_when_the_first_line_is_requested(make_log_run, django_assert_num_queries):
    run = make_log_run()
    _, lines = csv_rows.slice_lines(run, run.verdicts.select_related("profile").get())
    with django_assert_num_queries(1):
        assert len(list(lines)) == 4


def test_an_interval_of_a_day_takes_72_bytes():
    rows = [1.5, *[None] * (len(telemetry.QUANTITIES) - 1)]
    intervals = telemetry.Intervals((float(second), rows) for second in range(1, 86_401))
    size_bytes = sum(column.itemsize * len(column) for column in (intervals.ends, *intervals._columns))
    assert size_bytes == 86_400 * 8 * (1 + len(telemetry.QUANTITIES))
    values = [list(intervals.values(place))[:2] for place in (0, 1)]
    assert (intervals.reported(), values) == ([0], [[1.5, 1.5], [None, None]])
