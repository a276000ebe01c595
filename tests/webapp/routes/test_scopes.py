"""Each request that needs a token, tried with a token of each single scope: docs/security.md states the answers."""

import pytest

from results.models import Organisation
from tests.results.builders import make_user
from tests.webapp.routes.table import Row, documented, documented_scopes
from tests.webapp.routes.world import FORMER_OPERATOR, FORMER_REVIEWER
from webapp.accounts.models import Scope
from webapp.accounts.tokens.rules import issue_token

pytestmark = pytest.mark.django_db
ROWS = documented_scopes()


@pytest.fixture
def world(world):
    """Return a register in which one user with all roles has a token of each scope."""
    exemplar = Organisation.objects.get(slug="exemplar")
    user = make_user("all", exemplar, is_reviewer=True, is_operator=True)
    for scope in Scope.values:
        world.secrets[f"{scope} token"] = issue_token(user, exemplar, scope, [scope])[1]
    return world


def is_allowed(world, row, scope):
    person = f"{scope} token"
    answer = world.ask(row, person, world.address(row, person, world.parameters(row, person)[0]))
    assert answer.status_code < 500
    if answer.status_code == 404:
        return answer.json().get("code") == "no-intervals"  # of a run that the token may see
    return answer.status_code not in {401, 403}


def test_every_request_that_a_token_may_send_is_in_the_table_of_scopes():
    of_tokens = {(row.route, row.method) for row in documented() if row.answers["token"] != row.answers["visitor"]}
    assert of_tokens <= {(row.route, row.method) for row in ROWS}


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.route}")
def test_a_token_does_only_what_its_scope_names(world, row):
    found = {scope: "yes" if is_allowed(world, row, scope) else "no" for scope in Scope.values}
    assert found == row.answers


def test_the_scope_review_is_worth_nothing_after_the_role_has_ended(world):
    rows = [row for row in ROWS if row.answers["review"] == "yes"]
    for row in rows:
        address = world.address(row, FORMER_REVIEWER, world.parameters(row, FORMER_REVIEWER)[0])
        hidden = {404} if row.route.endswith("/intervals/") else {403}
        assert world.ask(row, FORMER_REVIEWER, address).status_code in hidden, row
    assert len(rows) > 5


def test_the_scopes_order_and_host_are_worth_nothing_after_the_role_has_ended(world):
    rows = [row for row in ROWS if row.answers["order"] == "yes"]
    for row in rows:
        address = world.address(row, FORMER_OPERATOR, world.parameters(row, FORMER_OPERATOR)[0])
        assert world.ask(row, FORMER_OPERATOR, address).status_code == 403, row
    assert len(rows) > 10


@pytest.mark.parametrize("path", ["/api/v1/runs/{run}/intervals/", "/api/v1/submissions/{submission}/review/"])
def test_the_scope_review_of_a_member_without_the_role_reads_nothing_of_the_own_organisation(world, path):
    exemplar = Organisation.objects.get(slug="exemplar")
    world.secrets["member token"] = issue_token(make_user("mia", exemplar), exemplar, "script", ["review"])[1]
    address = path.format(run=world.run.public_id, submission=world.submission.public_id)
    assert world.ask(Row(path, "GET", {}), "member token", address).status_code in {403, 404}
    world.secrets["member token"] = issue_token(make_user("max", exemplar), exemplar, "script", ["read-own"])[1]
    answer = world.ask(Row(path, "GET", {}), "member token", address)
    assert answer.status_code == 200 or answer.json()["code"] == "no-intervals"
