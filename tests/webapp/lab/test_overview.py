from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results.models import Event
from runners.hosts import machine
from runners.inventory.devices import bind
from runners.models import Dispatch, Host
from tests.runners.lab import add_outage
from tests.runners.ssh_host import ssh_host

pytestmark = pytest.mark.django_db
FROZEN = pytest.mark.usefixtures("frozen_clock")


def test_this_machine_is_added_with_one_button(lab_client):
    assert "Add this machine" in lab_client.get("/lab/").text
    answer = lab_client.post("/lab/hosts/local/add/", follow=True)
    assert "Add this machine" not in answer.text
    assert (Host.objects.get().name, Event.objects.get().kind) == ("local", "host-added")


def test_a_machine_without_a_machine_id_is_not_added(lab_client, monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "MACHINE_ID", tmp_path)
    answer = lab_client.post("/lab/hosts/local/add/", follow=True)
    assert f"{tmp_path}: cannot be read" in answer.text
    assert not Host.objects.exists()


def test_the_overview_lists_devices_and_dispatches(lab_client, dispatch):
    text = lab_client.get("/lab/").text
    for shown in (
        "fake drive",
        "/dev/fake0",
        "file:lab1:8:5",
        "virtual, cannot be certified",
        dispatch.public_id,
        "queued",
    ):
        assert shown in text


def test_names_never_become_markup(lab_client, dispatch):
    dispatch.device.label = "<script>alert(1)</script>"
    dispatch.device.save()
    text = lab_client.get("/lab/").text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_the_overview_needs_as_many_queries_for_50_rows_as_for_1(lab_client, new_dispatch, django_assert_num_queries):
    new_dispatch()
    with CaptureQueriesContext(
        connection,
    ) as one:
        lab_client.get("/lab/")
    for _ in range(49):
        new_dispatch()
    with django_assert_num_queries(len(one)):
        lab_client.get("/lab/")


def test_the_overview_needs_as_many_queries_for_many_hosts_as_for_1(
    lab_client, device, staff, fake, django_assert_num_queries
):
    with CaptureQueriesContext(connection) as one:
        lab_client.get("/lab/")
    for number in range(5):
        bind(ssh_host(f"lab-{number}"), fake.drives[device.path], "a drive", staff)
    with django_assert_num_queries(len(one)):
        lab_client.get("/lab/")


def test_older_dispatches_are_on_the_next_page(lab_client, new_dispatch):
    first = new_dispatch()
    for _ in range(50):
        new_dispatch()
    assert first.public_id not in lab_client.get("/lab/").text
    assert first.public_id in lab_client.get("/lab/?page=2").text


def test_the_overview_shows_why_a_host_gets_no_work(lab_client):
    ssh_host("lab-1", checked_at=timezone.now(), objections=["its clock is slow", "its disk is full"])
    page = lab_client.get("/lab/").content.decode()
    assert "gets no work" in page
    assert "<li>its clock is slow.</li><li>its disk is full.</li>" in page


def test_the_overview_shows_no_problem_of_a_ready_host(lab_client):
    ssh_host("lab-1", checked_at=timezone.now())
    assert "gets no work" not in lab_client.get("/lab/").content.decode()


@FROZEN
@pytest.mark.parametrize("place", ["/lab/", "/lab/hosts/local/"])
def test_an_outage_of_a_host_is_shown(lab_client, running, place):
    expected = f'<a class="whole" href="/lab/dispatches/{running}/">{running}</a>'
    assert expected not in lab_client.get(place).text
    add_outage(running, timezone.now() - timedelta(seconds=30))
    page = lab_client.get(place).text
    assert f"No answer from local for 30 s ({expected}). The programs of these runs may still be running" in page
    assert "This host is ready for work" not in page


@FROZEN
def test_an_outage_is_shown_at_both_hosts_of_a_run(lab_client, running):
    sender = Host.objects.create(name="sender", kind="local")
    Dispatch.objects.update(load_host=sender)
    add_outage(running, timezone.now() - timedelta(seconds=30), host=sender)
    assert lab_client.get("/lab/").text.count("No answer from sender for 30 s") == 2


def test_a_place_in_the_list_that_no_name_can_have_shows_the_list(staff_client, db):
    assert staff_client.get("/lab/", {"after": "a\0"}).status_code == 200
