"""A clock that tests set, and events at its time: the database refuses to change the time of an event later."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from results.history import record_event, run_subject
from results.models import Run


class Clock:
    """The present moment of Django, which moves on by a second with each reading."""

    def __init__(self, at):
        self.at = at

    def set(self, *parts):
        self.at = datetime(*parts, tzinfo=UTC)

    def now(self):
        self.at += timedelta(seconds=1)
        return self.at


def publish_at(clock, run, *moment):
    """Record the publication of a run at exactly this moment."""
    clock.set(*moment)
    clock.at -= timedelta(seconds=1)
    event = record_event(None, "run-published", run_subject(run), "", {"before": "unreviewed", "after": "public"})
    assert event.at == datetime(*moment, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch):
    """Set the time to 20 November 2026, 12:00 UTC."""
    clock = Clock(datetime(2026, 11, 20, 12, tzinfo=UTC))
    monkeypatch.setattr(timezone, "now", clock.now)
    return clock


@pytest.fixture
def publish(make_log_run, clock):
    """Return a function that makes a run with a log and publishes it at the time of the clock."""

    def publish(**fields):
        run = make_log_run(**{"published_at": clock.now(), "device_count": 1} | fields)
        record_event(None, "run-published", run_subject(run), "", {"before": "unreviewed", "after": "public"})
        return run

    return publish


@pytest.fixture
def import_results(make_published_run, clock):
    """Return a function that makes published results, as an import of the catalogue does."""

    def import_results(count=1, **fields):
        runs = [make_published_run(**fields) for _ in range(count)]
        for run in runs:
            record_event(None, "run-published", run_subject(run), "import of the published catalogue")
        return [Run.objects.get(pk=run.pk) for run in runs]

    return import_results
