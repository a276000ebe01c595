"""Who may use the lab by API: operators and machines, with a scope for it."""

import pytest
from django.test import Client

from tests.results.builders import make_organisation, make_user
from tests.webapp.api.lab.conftest import script_of

pytestmark = pytest.mark.django_db
HOSTS = "/api/v1/lab/hosts/"


def test_the_scope_host_reads_and_orders_nothing(watcher, device):
    assert watcher.get(HOSTS).status_code == 200
    answer = watcher.post("/api/v1/lab/dispatches/", {"device": device.pk}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "scope-missing")


def test_a_former_operator_reads_nothing(olga, staff):
    assert olga.get(HOSTS).status_code == 200
    type(staff).objects.update(is_operator=False)
    answer = olga.get(HOSTS)
    assert answer.status_code == 403
    assert "Only operators may do this." in answer.json()["detail"]


def test_a_machine_keeps_its_scopes_when_its_creator_is_no_operator_any_more(a_lab, staff):
    staff.memberships.create(organisation=a_lab, role="owner")
    machine = script_of(staff, a_lab, "host", kind="machine")
    type(staff).objects.update(is_operator=False)
    assert machine.get(HOSTS).status_code == 200


def test_an_operator_of_a_public_register_needs_a_second_factor(olga, settings):
    settings.PRODUCTION = True
    answer = olga.get(HOSTS, secure=True)
    assert (answer.status_code, answer.json()["code"]) == (403, "second-factor-missing")


def test_a_token_of_no_lab_orders_nothing(device):
    vendor = make_organisation("vendor")
    script = script_of(make_user("otto", vendor, is_operator=True), vendor, "order")
    answer = script.post("/api/v1/lab/dispatches/", {"device": device.pk}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (409, "no-lab")
    assert "Expected a token of an organisation of the kind lab." in answer.json()["detail"]


def test_without_a_token_nothing_is_shown(db):
    assert Client().get(HOSTS).status_code == 401


def test_a_machine_stops_only_the_runs_of_its_own_lab(staff, a_lab, olga, new_dispatch):
    other = make_organisation("other")
    dispatch = new_dispatch()
    machine = script_of(staff, other, "order", kind="machine")
    address = f"/api/v1/lab/dispatches/{dispatch.public_id}/cancel/"
    assert machine.post(address, {}, content_type="application/json").status_code == 404
    own = script_of(staff, dispatch.organisation, "order", kind="machine")
    assert own.post(address, {}, content_type="application/json").status_code == 200
