"""The location of a host: entered on its page, recorded with its later runs."""

import pytest
from django.test import Client

from results.models import Event
from runners.evidence.submit import submission_facts
from runners.models import Dispatch, Host

pytestmark = pytest.mark.django_db
LOCATION = {"region": "eu-west-3", "zone": "eu-west-3b"}


def test_a_run_has_the_location_of_its_host(lab_client, dispatch):
    assert (submission_facts(dispatch).region, submission_facts(dispatch).zone) == ("", "")
    answer = lab_client.post("/lab/hosts/local/place/", LOCATION, follow=True)
    assert 'value="eu-west-3b"' in answer.text
    facts = submission_facts(Dispatch.objects.get(pk=dispatch.pk))
    assert (facts.region, facts.zone) == ("eu-west-3", "eu-west-3b")


def test_the_history_records_changes_of_a_location_once(lab_client, device):
    for _ in range(2):
        lab_client.post("/lab/hosts/local/place/", LOCATION)
    event = Event.objects.get(kind="host-place-stated")
    assert event.details == {"changes": {"region": ["", "eu-west-3"], "zone": ["", "eu-west-3b"]}}


def test_a_location_that_is_too_long_is_refused_at_its_field(lab_client, device):
    answer = lab_client.post("/lab/hosts/local/place/", LOCATION | {"region": "r" * 61})
    assert "at most 60 characters" in answer.text
    assert Host.objects.get().region == ""
    lab_client.post("/lab/hosts/local/place/", LOCATION | {"region": "r" * 60})
    assert Host.objects.get().region == "r" * 60


def test_only_staff_set_the_location_of_a_host(visitor, device):
    for client in (visitor, Client()):
        assert client.post("/lab/hosts/local/place/", LOCATION).status_code in {302, 403}
    assert Host.objects.get().region == ""


def test_the_location_of_an_unknown_host_is_not_found(lab_client, device):
    assert lab_client.post("/lab/hosts/nowhere/place/", LOCATION).status_code == 404
    assert lab_client.get("/lab/hosts/local/place/").status_code == 405
