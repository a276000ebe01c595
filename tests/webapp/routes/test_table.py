"""Each route of the site, tried by each kind of client: the answer is the one of the table in docs/security.md."""

from collections import Counter

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from results.history import record_event, run_subject
from results.lifecycle.hidden_files import hide_file
from results.lifecycle.takedowns import request_takedown
from results.models import Draft, HiddenFile, Objection, ObjectionState, Run, Submission, Takedown, Visibility
from results.models.objection import ADMITTED_STATES, FINAL_STATES
from tests.webapp.routes.table import (
    METHODS,
    PEOPLE,
    Row,
    documented,
    documented_draft_states,
    documented_hidden_logs,
    documented_objection_states,
    documented_states,
    routes,
)
from tests.webapp.routes.world import MISSING, is_refused
from webapp.register.dumps.importer import read_rows
from webapp.register.dumps.store import read_dump
from webapp.register.dumps.tables import TABLES
from webapp.register.dumps.writer import write_dump

pytestmark = pytest.mark.django_db

ROWS = documented()
CHECKED = [row for row in ROWS if set(row.answers.values()) != {"yes"}]
EVERYONE = ("visitor", "other", "operator", "token")  # enough for pages that ask no one who they are


def answers(world, row, people=PEOPLE):
    """Return the answer for each kind of client, in the words of the table."""
    found = {}
    for person in people:
        is_own = row.answers[person] == "own"
        found[person] = {True: "own" if is_own else "yes", False: "no"}[world.is_allowed(row, person)]
        if is_own and world.is_allowed(row, person, foreign=True):
            found[person] = "yes"
    return found


def test_each_route_is_in_the_table_once_and_each_row_is_a_route():
    assert not set(routes()) - {row.route for row in ROWS}, "routes that docs/security.md does not have"
    assert not {row.route for row in ROWS} - set(routes()), "rows of docs/security.md that are no routes"
    assert [row for row, count in Counter((row.route, row.method) for row in ROWS).items() if count > 1] == []
    assert {answer for row in ROWS for answer in row.answers.values()} == {"yes", "no", "own"}


AREAS = (
    "/runs/", "/submi", "/uploads/", "/review/", "/objections/", "/takedowns/", "/hidden-files/",
    "/stored-files/", "/api/",
    "/accounts/2fa/",
    "/accounts/organisations/", "/accounts/", "/lab/",
)  # fmt: skip


def area_of(row):
    """Return the first area that a route begins with; "" for a new one."""
    return next((area for area in AREAS if row.route.startswith(area)), "")


@pytest.mark.long
@pytest.mark.parametrize("area", [*AREAS, ""])
def test_each_kind_of_client_may_do_what_the_table_says(world, area):
    wrong = [
        (row.method, row.route, person, answer)
        for row in CHECKED
        if area_of(row) == area
        for person, answer in answers(world, row).items()
        if answer != row.answers[person]
    ]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.long
def test_everyone_may_open_what_the_table_calls_public(world):
    public = [row for row in ROWS if row not in CHECKED]
    assert [row for row in public if set(answers(world, row, EVERYONE).values()) != {"yes"}] == []


@pytest.mark.long
def test_a_method_that_is_not_in_the_table_does_nothing(world):
    known = {(row.route, row.method) for row in ROWS}
    rows = [Row(route, method, {}) for route in routes() for method in METHODS if (route, method) not in known]
    for row in rows:
        for person in ("owner", "operator", "token"):
            values, _ = world.parameters(row, person)
            answer = world.ask(row, person, world.address(row, person, values))
            assert is_refused(answer) or answer.status_code in {404, 405}, (row.method, row.route, person)


RUN_ROUTES = [row for row in CHECKED if row.route.startswith("/runs/")]


def put_run_into(world, state):
    """Give the run of the world a state."""
    if state == "with a sequestered file":
        world.run.submission.log.sequestered = True
        world.run.submission.log.save()
    else:
        successor = world.public_run if state == Visibility.SUPERSEDED else None
        changed = {"visibility": state, "product": world.public_run.product, "superseded_by": successor}
        changed |= {"predates_approvals": True}
        Run.objects.filter(pk=world.run.pk).update(**changed)
        record_event(None, f"run-{state}", run_subject(world.run), "reason")  # pages show the reason of the last change


@pytest.mark.parametrize("state", documented_states())
def test_a_run_in_each_state_is_open_to_those_of_the_table(world, state):
    expected = documented_states()[state]
    put_run_into(world, state)
    for row in RUN_ROUTES if state == "public" else RUN_ROUTES[:2]:
        found = {person: "yes" if may_open(world, row, person) else "no" for person in PEOPLE}
        assert found == expected, (row.route, state)


def may_open(world, row, person):
    """Return whether a client sees a run, and not the notice that remains of a sequestered one."""
    world.run.refresh_from_db()
    if world.run.visibility == Visibility.SEQUESTERED:
        values, _ = world.parameters(row, person)
        return world.ask(row, person, world.address(row, person, values)).status_code == 200
    return world.is_allowed(row, person)


@pytest.mark.long
@pytest.mark.parametrize("state", documented_states())
def test_the_state_of_a_run_changes_no_answer_about_its_submission(world, state):
    put_run_into(world, state)
    rows = [row for row in CHECKED if row.route.startswith(("/submissions/<public_id>/", "/review/runs/"))]
    assert len(rows) > 10
    for row in rows:
        found = {person: "yes" if world.is_allowed(row, person) else "no" for person in PEOPLE}
        is_withheld = state == Visibility.SEQUESTERED and row.route.startswith("/review/runs/")
        assert found == (dict.fromkeys(PEOPLE, "no") if is_withheld else row.answers), (row.method, row.route, state)


@pytest.mark.parametrize("state", documented_states())
def test_the_api_has_a_run_in_the_states_that_are_open_to_everyone(world, state):
    put_run_into(world, state)
    row = next(row for row in CHECKED if row.route == "/api/v1/runs/<public_id>/")
    is_open = set(documented_states()[state].values()) == {"yes"}
    people = ("visitor", "link", "other", "owner", "reviewer", "token")
    assert {world.is_allowed(row, person) for person in people} == {is_open}


def hide_log_of(world, state):
    """Give the run of the world a state, hide its log, and return the hiding."""
    put_run_into(world, state)
    submission = Submission.objects.get(pk=world.submission.pk)
    return hide_file(
        submission, submission.log_id, submission.submitted_by, HiddenFile.Reason.CONFIDENTIAL, "A price list."
    )


@pytest.mark.parametrize("state", sorted({state for state, _ in documented_hidden_logs()}))
def test_a_run_with_a_hidden_log_is_open_to_those_of_the_table(world, state):
    log = world.submission.log
    hiding = hide_log_of(world, state)
    expected = {route: people for (of_state, route), people in documented_hidden_logs().items() if of_state == state}
    assert len(expected) == 6
    for route, people in expected.items():
        row = Row(route, "GET", {})
        values = MISSING | {"public_id": world.run.public_id, "hiding_id": hiding.pk, "first": 1}
        answers = {person: world.ask(row, person, world.address(row, person, values)) for person in PEOPLE}
        assert {person: "yes" if each.status_code == 200 else "no" for person, each in answers.items()} == people, route
        for person, each in answers.items():
            is_file = route.startswith("/hidden-files/") and person == "operator"
            assert is_file or not each.streaming, (route, person)
            assert is_file or log.sha256 not in each.text, (route, person)


def test_no_dump_includes_a_run_with_a_hidden_log(world, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    put_run_into(world, Visibility.WITHDRAWN)
    assert world.run.public_id in runs_of_dump()
    hide_log_of(world, Visibility.WITHDRAWN)
    assert world.run.public_id not in runs_of_dump()


def runs_of_dump():
    """Return the ids in any table of a new dump, but for the list of what it leaves out."""
    dump = read_dump(write_dump())
    return {value for table in TABLES for row in read_rows(dump, table.name) for value in map(str, row.values())}


@pytest.mark.parametrize(("state", "route"), documented_draft_states())
def test_a_draft_in_each_state_is_open_to_those_of_the_table(world, state, route):
    changes = {"open": {}, "submitted": {"submission": world.submission}, "expired": {"expires_at": timezone.now()}}
    Draft.objects.update(**changes[state] or {"slice_length_s": 3600})
    row = Row(route, "HEAD" if route.startswith("/uploads/") else "GET", {})
    found = {person: "yes" if world.is_allowed(row, person) else "no" for person in PEOPLE}
    assert found == documented_draft_states()[state, route]


WITHHELD = "of a sequestered run"
OBJECTION_ROUTES = [row for row in CHECKED if row.route.startswith("/objections/<public_id>/") and row.method == "GET"]


def put_objection_into(world, state):
    """Give the objection of the world a state, with the columns that the database requires."""
    objection = Objection.objects.get()
    reviewer, now = get_user_model().objects.get(username="reviewer"), timezone.now()
    if state == WITHHELD:
        request_takedown(
            world.public_run, get_user_model().objects.get(username="operator"), Takedown.Ground.COURT_ORDER
        )
        state = "admitted"
    columns = {"state": state, "deadline": None if state in FINAL_STATES else now}
    if state in ADMITTED_STATES:
        columns |= {"admitted_by": reviewer, "admitted_at": now}
    if state == "refused":
        columns |= {"refusal": "unclear", "refused_by": reviewer}
    if state in {"upheld", "rejected"}:
        columns |= {"outcome": "known", "decided_by": reviewer, "decided_at": now}
    Objection.objects.filter(pk=objection.pk).update(**columns)


@pytest.mark.parametrize("state", documented_objection_states())
def test_an_objection_in_each_state_is_open_to_those_of_the_table(world, state):
    put_objection_into(world, state)
    assert len(OBJECTION_ROUTES) == 2
    for row in OBJECTION_ROUTES:
        for person in PEOPLE:
            values, _ = world.parameters(row, person)
            answer = world.ask(row, person, world.address(row, "visitor", values))
            refusals = {451} if state == WITHHELD else {302, 404}
            expected = {200} if documented_objection_states()[state][person] == "yes" else refusals
            assert answer.status_code in expected, (row.route, person)
            assert answer.status_code != 302 or is_refused(answer)


def test_no_state_of_an_objection_is_missing():
    assert set(documented_objection_states()) == {*ObjectionState.values, WITHHELD}


def test_no_state_of_a_run_is_missing():
    assert list(documented_states()) == [*Visibility.values, "with a sequestered file"]


@pytest.mark.parametrize("person", ["reviewer", "operator", "owner"])
def test_without_a_required_step_a_user_is_a_visitor_on_all_but_the_account_pages(world, settings, person):
    if person == "owner":
        world.submission.submitted_by.emailaddress_set.update(verified=False)
    else:
        settings.PRODUCTION = True
    for row in CHECKED:
        if not row.route.startswith("/accounts/"):
            values, _ = world.parameters(row, person)
            answer = world.ask(row, person, world.address(row, person, values))
            assert row.answers["visitor"] == "yes" or is_refused(answer) or answer.status_code == 404, row
