from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from webapp.status.history import part_lines, present_state, problem_lines
from webapp.status.models import Part, PartDay, PartState

NOW = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
WORKING, DEGRADED, DOWN, UNRECORDED = PartState


def row(day, working=0, degraded=0, down=0, *, state=WORKING, at=NOW):
    return PartDay(
        part=Part.LAB, day=date(2026, 11, day), working_minutes=working, degraded_minutes=degraded, down_minutes=down,
        last_state=state, last_at=at,
    )  # fmt: skip


def lines_of(*rows):
    return problem_lines(rows, {Part.LAB: min(each.day for each in rows)}, NOW)


@pytest.mark.parametrize(("minutes", "state"), [(5, DOWN), (5.1, UNRECORDED)])
def test_a_state_counts_for_five_minutes(minutes, state):
    assert present_state(row(20, state=DOWN, at=NOW - timedelta(minutes=minutes)), NOW) == state
    assert present_state(None, NOW) == UNRECORDED


def test_the_share_is_of_recorded_minutes():
    lab = part_lines([row(20, 90, 5, 5), row(19, 100)], NOW)[-1]
    assert (lab.name, lab.state, lab.working_pct, lab.recorded_minutes) == ("Lab", WORKING, 95.0, 200)
    assert part_lines([], NOW)[0].working_pct is None


@pytest.mark.parametrize(
    ("minutes", "words"),
    [([7], "7 min"), ([135], "2 h 15 min"), ([1440], "24 h"), ([1440, 1439], "47 h 59 min"), ([1440] * 2, "2 days")],
)
def test_the_share_is_shown_with_the_time_that_was_really_recorded(minutes, words):
    lab = part_lines([row(20 - place, each) for place, each in enumerate(minutes)], NOW)[-1]
    assert lab.recorded.replace("\N{NBSP}", " ") == words


@pytest.mark.parametrize(
    ("minutes", "worst"),
    [
        ((1440, 0, 0), None),
        ((1435, 5, 0), None),
        ((1434, 6, 0), DEGRADED),
        ((1428, 6, 6), DOWN),
        ((1429, 6, 5), DEGRADED),
        ((1435, 0, 0), None),
        ((1434, 0, 0), UNRECORDED),
    ],
)
def test_a_day_with_more_than_five_minutes_of_a_problem_is_listed(minutes, worst):
    lines = lines_of(row(18, 1440), row(19, *minutes))
    assert [line.state for line in lines] == ([] if worst is None else [worst])


def test_the_first_day_and_the_rest_of_today_miss_no_minutes():
    assert lines_of(row(19, 10), row(20, 119)) == []
    assert [line.unrecorded_minutes for line in lines_of(row(19, 10), row(20, 100))] == [20]


def test_a_day_without_a_row_is_not_recorded_from_the_first_row_to_yesterday():
    lines = lines_of(row(16, 10), row(18, 1440))
    assert [(line.day.day, line.name, line.state, line.unrecorded_minutes) for line in lines] == [
        (19, "Lab", UNRECORDED, 1440), (17, "Lab", UNRECORDED, 1440),
    ]  # fmt: skip
    assert problem_lines([], {}, NOW) == []


def test_a_first_row_before_the_shown_days_counts():
    assert len(problem_lines([], {Part.LAB: date(2025, 12, 1)}, NOW)) == 89


@pytest.mark.django_db
def test_the_page_shows_the_present_and_the_past_without_script(client):
    now = timezone.now()
    assert "not recorded" in client.get("/status/").content.decode()
    PartDay.objects.create(part=Part.LAB, day=now.date(), working_minutes=7, last_state=WORKING, last_at=now)
    assert "<td>100\N{NBSP}% of 7\N{NBSP}min</td>" in client.get("/status/").text.replace("&nbsp;", "\N{NBSP}")
    PartDay.objects.all().delete()
    for days, down in ((0, 0), (3, 30), (89, 0), (90, 700)):
        day = now.date() - timedelta(days=days)
        PartDay.objects.create(
            part=Part.UPLOADS, day=day, working_minutes=1440 - down, down_minutes=down, last_state=WORKING, last_at=now
        )
    response = client.get("/status/")
    text = response.content.decode()
    assert response.headers["Cache-Control"] == "public, max-age=60"
    assert response.headers["ETag"]
    assert text.count('<span class="tag">not working</span>') == 1
    assert "<td>30</td>" in text
    assert "<td>700</td>" not in text
    assert '<a href="/status/">' in text
    assert client.get("/status/?page=2").status_code == 400
