"""Clients of a lab member and of another user."""

import pytest
from django.test import Client

from tests.results.builders import make_user
from tests.runners.fake_host import FakeHost
from tests.runners.lab import (  # noqa: F401 - fixtures shared with the dispatcher's tests
    a_lab,
    connect,
    device,
    dispatch,
    drivetest,
    frozen_clock,
    in_state,
    new_dispatch,
    running,
    separate_evidence,
)
from tests.runners.sweeps import connect_both, loading, sender, sweep_of_two  # noqa: F401
from webapp.accounts.models import Membership


@pytest.fixture
def fake():
    """A drive that is a plain file: its content is known, so orders do not need its label."""
    host = FakeHost()
    host.add_drive(drive_key="file:lab1:8:5")
    return host


@pytest.fixture
def lab_client(staff, a_lab):  # noqa: F811
    Membership.objects.create(user=staff, organisation=a_lab, role="owner")
    client = Client()
    client.force_login(staff)
    return client


@pytest.fixture
def visitor(db):
    client = Client()
    client.force_login(make_user("visitor"))
    return client
