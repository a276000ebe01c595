"""The calendar of the lab: what is expected on drives, one run after the other, around maintenance."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runners.campaigns import commands
from runners.campaigns.outcomes import rungs_of
from runners.campaigns.terms import Terms, parse_terms
from runners.dispatch.orders import Order, order
from runners.inventory.devices import bind
from runners.inventory.maintenance_windows import plan_window
from runners.models import Device, Dispatch, Host, MaintenanceWindow
from runners.models.states import State
from runners.retention.retirement import retire_host
from tests.runners.campaigns.lab import newest, poll_campaign, read_as
from tests.runners.ssh_host import ssh_host
from tests.webapp.api.lab.conftest import script_of
from webapp.lab.calendar.periods import PeriodKind, calendars_of
from webapp.lab.campaigns.page import estimate_of

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def periods_of(device):
    (calendar,) = calendars_of([device.host])
    return calendar.periods


def hours(period, now):
    """Return the whole hours from now to the beginning and the end of a period; None for a time that is not known."""
    times = (period.starts_at, period.ends_at)
    return tuple(None if at is None else round((at - now) / HOUR) for at in times)


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture
def new_waiting(device, a_lab, staff):
    """Order runs of some hours on the drive."""
    return lambda length: order(device, a_lab, Order(Decimal(1), length * 3600, 10), staff)


@pytest.fixture
def running(in_state, now):
    """Return a run that began an hour ago and takes three."""
    return in_state(State.RUNNING, started_at=now - HOUR, duration_s=3 * 3600)


def test_waiting_runs_follow_the_present_run_in_their_order(device, running, new_waiting, now):
    first, second = new_waiting(1), new_waiting(2)
    found = periods_of(device)
    assert [each.subject.public_id for each in found] == [str(each) for each in (running, first, second)]
    assert [each.kind for each in found] == [PeriodKind.RUN, PeriodKind.WAITING, PeriodKind.WAITING]
    assert [hours(each, now) for each in found] == [(-1, 2), (2, 3), (3, 5)]


@pytest.mark.parametrize("change", [{"duration_s": None}, {"duration_s": 60}], ids=["no ordered time", "late"])
def test_nothing_is_expected_after_a_run_whose_end_is_not_known(device, running, new_waiting, now, change):
    new_waiting(1)
    Dispatch.objects.filter(pk=running.pk).update(**change)
    assert [hours(each, now) for each in periods_of(device)] == [(-1, None), (None, None)]


@pytest.mark.parametrize(("maintenance_in", "length", "expected"), [(2, 3, 4), (0.5, 1, 4), (3.5, 1, 0), (1, 1, 4)])
def test_a_waiting_run_begins_after_the_maintenance_that_it_would_reach_into(
    device, new_waiting, staff, maintenance_in, length, expected
):
    now = timezone.now()
    plan_window(device.host, now + maintenance_in * HOUR, now + 4 * HOUR, "firmware", staff)
    waiting = new_waiting(length)
    found = next(each for each in periods_of(device) if each.subject == waiting)
    assert hours(found, now) == (expected, expected + length)


def test_maintenance_of_all_hosts_also_delays_a_waiting_run(device, new_waiting, staff, now):
    plan_window(None, now, now + 4 * HOUR, "no power", staff)
    new_waiting(1)
    assert [hours(each, now) for each in periods_of(device)] == [(0, 4), (4, 5)]


def test_a_waiting_run_has_no_time_while_maintenance_has_no_end(device, new_waiting, staff, now):
    plan_window(None, now, None, "no power", staff)
    new_waiting(1)
    window, waiting = periods_of(device)
    assert (window.kind, window.ends_at, hours(waiting, now)) == (PeriodKind.MAINTENANCE, None, (None, None))


def test_maintenance_of_another_host_and_ended_one_are_not_shown(device, staff, now):
    plan_window(ssh_host("lab-2"), now, None, "elsewhere", staff)
    plan_window(device.host, now, now + HOUR, "ended", staff)
    MaintenanceWindow.objects.filter(host=device.host).update(starts_at=now - 2 * HOUR, ends_at=now - HOUR)
    assert periods_of(device) == []


def test_a_campaign_is_shown_until_its_latest_expected_end(device, a_lab, staff, now):
    campaign = commands.start(device, a_lab, commands.CampaignOrder(Terms()), staff)
    found = next(each for each in periods_of(device) if each.kind == PeriodKind.CAMPAIGN)
    assert found.subject == campaign
    assert found.ends_at > now + timedelta(days=1)


@pytest.fixture
def other_drive(device, fake, staff):
    return bind(device.host, fake.add_drive("/dev/fake1", "file:lab1:8:6"), "shelf 2", staff)


def add_drive(host):
    columns = {"path": "/dev/nvme9n1", "size_bytes": 2**40, "identity_kind": "nvme", "identity": {}}
    return Device.objects.create(host=host, label="far", drive_key="nvme:M:S9", **columns)


@pytest.fixture
def order_on(a_lab, staff):
    """Order runs of some hours on drives, in this order."""

    def new(device, length, **options):
        return order(device, a_lab, Order(Decimal(1), length * 3600, 10, options), staff)

    return new


def test_a_run_alone_on_its_host_waits_for_all_runs_there_and_those_ordered_later_wait_for_it(
    device, running, other_drive, order_on, now
):
    alone = order_on(other_drive, 5, alone_on_host=True)
    later = order_on(device, 1)
    expected = {each.subject: hours(each, now) for each in periods_of(device)}
    assert expected == {running: (-1, 2), alone: (2, 7), later: (7, 8)}


def test_a_run_that_may_share_its_host_waits_for_its_own_drive_only(device, running, other_drive, order_on, now):
    shared = order_on(other_drive, 5)
    assert {each.subject: hours(each, now) for each in periods_of(device)} == {running: (-1, 2), shared: (0, 5)}


def test_a_run_that_began_alone_blocks_its_host(device, running, other_drive, order_on, now):
    Dispatch.objects.filter(pk=running.pk).update(options={"alone_on_host": True})
    waiting = order_on(other_drive, 1)
    assert {each.subject: hours(each, now) for each in periods_of(device)} == {running: (-1, 2), waiting: (2, 3)}


def test_a_sweep_blocks_the_host_of_its_requests_too_and_its_end_is_not_known(device, other_drive, order_on, now):
    sweep = order_on(device, 1)
    Dispatch.objects.filter(pk=sweep.pk).update(recipe="ycsb", duration_s=None, load_host=ssh_host("lab-2"))
    far = add_drive(ssh_host("lab-3"))
    Dispatch.objects.filter(pk=sweep.pk).update(device=far, drive_key=far.drive_key)
    waiting = order_on(other_drive, 1)
    Device.objects.filter(pk=other_drive.pk).update(host=Host.objects.get(name="lab-2"))
    (calendar,) = calendars_of([Host.objects.get(name="lab-2")])
    assert {each.subject: hours(each, now) for each in calendar.periods} == {waiting: (None, None)}


@pytest.mark.parametrize(("duration_s", "delay"), [(None, None), (30 * 3600, 30)])
def test_the_end_of_a_campaign_is_later_by_the_wait_of_its_run(device, other_drive, order_on, duration_s, delay):
    own, first = order_on(other_drive, 1), order_on(other_drive, 1)
    campaign = commands.start(device, own.organisation, commands.CampaignOrder(Terms()), own.ordered_by)
    columns = {"campaign": campaign, "options": {"alone_on_host": True}}
    Dispatch.objects.filter(pk=own.pk).update(device=device, drive_key=device.drive_key, **columns)

    def end():
        return next(each.ends_at for each in periods_of(device) if each.subject == campaign)

    free = end()
    Dispatch.objects.filter(pk=first.pk).update(ordered_at=own.ordered_at - HOUR, duration_s=duration_s)
    delayed = end()
    assert (delayed and round((delayed - free) / HOUR)) == delay


def test_the_page_lists_hosts_in_service_with_links(lab_client, device, staff, running, new_waiting, now):
    new_waiting(1)
    plan_window(device.host, now + 90 * HOUR, None, "move to rack <7>", staff)
    ssh_host("lab-2")
    retire_host(ssh_host("lab-3"), staff, "sold")
    page = lab_client.get("/lab/calendar/").text
    for shown in (f"/lab/dispatches/{running}/", "waiting run", "move to rack &lt;7&gt;", "until a person ends it"):
        assert shown in page
    assert "/lab/hosts/lab-2/" in page
    assert "No run, campaign or maintenance is expected." in page
    assert "lab-3" not in page


def test_a_lab_without_hosts_leads_to_adding_one(lab_client):
    assert "/lab/hosts/add/" in lab_client.get("/lab/calendar/").text


def test_hosts_beyond_the_first_page_are_on_the_next(lab_client, monkeypatch):
    monkeypatch.setattr("webapp.lab.calendar.views.PAGE_ROWS", 1)
    ssh_host("lab-1"), ssh_host("lab-2")
    first, second = (lab_client.get(f"/lab/calendar/?page={number}").text for number in (1, 2))
    assert ("lab-1/" in first, "lab-2/" in first, "?page=2" in first) == (True, False, True)
    assert ("lab-1/" in second, "lab-2/" in second, "?page=1" in second) == (False, True, True)


def test_drives_cost_no_queries_of_their_own(device, staff, fake, new_waiting, django_assert_max_num_queries):
    for number in range(1, 4):
        bind(device.host, fake.add_drive(f"/dev/fake{number}", f"file:lab1:8:{number}6"), f"shelf {number}", staff)
    new_waiting(1)
    with django_assert_max_num_queries(5):
        calendars_of([device.host])


@pytest.mark.parametrize("address", ["/lab/calendar/", "/api/v1/lab/calendar/"])
def test_open_campaigns_and_their_runs_cost_no_queries_of_their_own(
    lab_client, device, other_drive, a_lab, staff, address
):
    def start_with_runs(drive, runs_count):
        campaign = commands.start(drive, a_lab, commands.CampaignOrder(Terms(with_prep=False)), staff)
        for _ in range(runs_count):
            read_as(newest(poll_campaign(campaign)), "0.5")
        return campaign

    client = script_of(staff, a_lab, "host") if address.startswith("/api/") else lab_client

    def read():
        with CaptureQueriesContext(connection) as queries:
            text = client.get(address).text
        return len(queries), text

    start_with_runs(device, 1)
    client.get(address)  # fills caches of the process
    one, _ = read()
    others = [start_with_runs(other_drive, 2), start_with_runs(add_drive(ssh_host("lab-2")), 1)]
    several, text = read()
    assert all(each.public_id in text for each in others)
    assert several == one


def test_each_campaign_ends_by_its_own_runs(device, other_drive, a_lab, staff):
    begun, new = (
        commands.start(each, a_lab, commands.CampaignOrder(Terms(with_prep=False)), staff)
        for each in (device, other_drive)
    )
    read_as(newest(poll_campaign(begun)), "2", "fail")
    found = {each.subject: each.ends_at for each in periods_of(device) if each.kind == PeriodKind.CAMPAIGN}
    alone = {each: estimate_of(parse_terms(each.terms), rungs_of(each))["latest"] for each in (begun, new)}
    assert {each: abs(found[each] - alone[each]) < HOUR for each in found} == {begun: True, new: True}
    assert abs(found[begun] - found[new]) > HOUR
