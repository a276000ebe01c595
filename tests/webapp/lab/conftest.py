"""A person who runs the lab, and somebody who does not."""

import pytest
from django.test import Client

from tests.runners.conftest import (  # noqa: F401 - fixtures shared with the dispatcher's tests
    connect,
    device,
    dispatch,
    drivetest,
    evidence_of_its_own,
    fake,
    in_state,
    new_dispatch,
    organisation,
    staff,
)
from webapp.accounts.models import Membership


@pytest.fixture
def lab_client(staff, organisation):  # noqa: F811
    Membership.objects.create(user=staff, organisation=organisation)
    client = Client()
    client.force_login(staff)
    return client


@pytest.fixture
def visitor(db, django_user_model):
    client = Client()
    client.force_login(django_user_model.objects.create_user("visitor"))
    return client
