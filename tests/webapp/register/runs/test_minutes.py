"""Minutes on the page of a run, and its seconds if it has no minutes."""

import pytest

from results.models import Run, Series
from webapp.register.runs.page import NOT_STORED, minutes_of

pytestmark = pytest.mark.django_db


def with_minutes(run, count):
    Series.objects.create(run=run, interval_s=60, intervals_count=count, encoding="drivecert.series/1", packed=b"")
    return Run.objects.get(pk=run.pk)


@pytest.mark.parametrize(("count", "said"), [(1, "1 interval of 1 min"), (1440, "1,440 intervals of 1 min")])
def test_minutes_are_counted(make_log_run, count, said):
    minutes = minutes_of(with_minutes(make_log_run(), count), "")
    assert (minutes["sentence"].replace("\N{NO-BREAK SPACE}", " "), minutes["has_any"]) == (said, True)


@pytest.mark.parametrize(("query", "ending"), [("", "?every_s=1"), ("?key=k", "?key=k&every_s=1")])
def test_a_log_shorter_than_a_minute_has_its_seconds(make_log_run, query, ending):
    run = with_minutes(make_log_run(), 0)
    minutes = minutes_of(run, query)
    said = minutes["sentence"].replace("\N{NO-BREAK SPACE}", " ")
    assert said == "none: the log lasts 40 s, shorter than one interval of 1 min;"
    assert minutes["seconds_address"] == f"/api/v1/runs/{run.public_id}/intervals/{ending}"
    assert "has_any" not in minutes


def test_a_run_without_a_series_states_so(make_log_run):
    assert minutes_of(make_log_run(), "")["sentence"] == NOT_STORED
