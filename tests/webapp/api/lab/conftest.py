"""Scripts of an operator and of a machine of a lab, with a drive that is a plain file."""

import pytest
from django.test import Client

from tests.results.builders import make_user
from tests.runners.fake_host import FakeHost
from tests.runners.lab import a_lab, connect, device, dispatch, in_state, new_dispatch, separate_evidence
from webapp.accounts.tokens.rules import issue_token

__all__ = ["a_lab", "connect", "device", "dispatch", "in_state", "new_dispatch", "separate_evidence"]


@pytest.fixture
def fake():
    """Return a host whose drive is a plain file: its content is known, so orders do not need its label."""
    host = FakeHost()
    host.add_drive(drive_key="file:lab1:8:5")
    return host


@pytest.fixture
def staff(db):
    return make_user("olga", is_operator=True)


def script_of(user, organisation, *scopes, **columns):
    """Return a client with a token."""
    _, secret = issue_token(user, organisation, "script", scopes, **columns)
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def olga(staff, a_lab):
    """Return the script of an operator who orders."""
    staff.memberships.create(organisation=a_lab, role="owner")
    return script_of(staff, a_lab, "order")


@pytest.fixture
def watcher(olga, staff, a_lab):
    """Return a script that only reads."""
    return script_of(staff, a_lab, "host")
