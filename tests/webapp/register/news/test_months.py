"""Months in UTC, and the months that have a summary."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from webapp.register.news.events import first_change
from webapp.register.news.months import Month, month_of, parse_month, summary_months


def test_a_month_ends_where_the_next_one_begins():
    december = Month(2026, 12)
    assert december.end == Month(2027, 1).start == datetime(2027, 1, 1, tzinfo=UTC)
    assert december.next.previous == december


def test_a_moment_belongs_to_its_month_in_utc():
    at_midnight = datetime(2026, 12, 1, 1, 0, tzinfo=timezone(timedelta(hours=2)))  # 23:00 UTC on 30 November
    assert month_of(at_midnight) == Month(2026, 11)
    assert month_of(datetime(2026, 12, 1, tzinfo=UTC)) == Month(2026, 12)


@pytest.mark.parametrize("code", ["2026-00", "2026-13", "2026-1", "26-11", "2026-11-01", "feed", "", "\uff12026-11"])
def test_another_text_is_no_month(code):
    assert parse_month(code) is None


@pytest.mark.parametrize("code", ["2026-01", "2026-12"])
def test_the_code_of_a_month_is_read_back(code):
    assert parse_month(code).code == code


@pytest.mark.django_db
def test_a_register_without_a_change_has_the_present_month(clock):
    assert summary_months(first_change()) == [Month(2026, 11)]


@pytest.mark.django_db
def test_every_month_since_the_first_change_has_a_summary(clock, publish):
    clock.set(2026, 10, 31, 23, 59)
    publish()
    clock.set(2027, 1, 2)
    assert summary_months(first_change()) == [Month(2027, 1), Month(2026, 12), Month(2026, 11), Month(2026, 10)]


@pytest.mark.django_db
def test_a_month_is_over_from_its_end_on(clock):
    clock.set(2026, 11, 30, 23, 59, 58)
    assert not Month(2026, 11).is_over
    assert Month(2026, 11).is_over  # two seconds later
