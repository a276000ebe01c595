"""Maintenance of hosts by API, and the pause of the whole lab."""

import pytest
from django.utils import timezone

from runners.inventory.maintenance_windows import current_pause
from runners.models import MaintenanceWindow
from tests.webapp.api.lab.conftest import script_of

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/lab/maintenance/"


def post(client, end="", **fields):
    return client.post(f"{ADDRESS}{end}", fields, content_type="application/json")


def test_maintenance_of_a_host_is_planned_listed_and_ended(olga, watcher, device):
    period = {"starts_at": "2099-01-01T08:00:00Z", "ends_at": "2099-01-01T10:00:00Z"}
    planned = post(olga, host="local", reason="new fans", **period)
    assert planned.status_code == 201
    assert {name: planned.json()[name] for name in period} == period
    assert MaintenanceWindow.objects.get().host == device.host
    (listed,) = watcher.get(ADDRESS).json()["results"]
    assert (listed["host"], listed["reason"]) == ("local", "new fans")
    assert post(watcher, f"{listed['id']}/end/").status_code == 403
    assert post(olga, f"{listed['id']}/end/").json()["ends_at"] < timezone.now().isoformat()
    again = post(olga, f"{listed['id']}/end/")
    assert (again.status_code, again.json()["code"]) == (409, "not-current")


def test_without_a_host_the_whole_lab_is_paused_until_it_is_resumed(olga, device):
    paused = post(olga, reason="power cut").json()
    assert (paused["host"], paused["ends_at"]) == (None, None)
    assert current_pause().pk == paused["id"]
    assert post(olga, f"{paused['id']}/end/").status_code == 200
    assert current_pause() is None


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"reason": "x", "host": "nowhere"}, 400),
        ({"reason": "x", "host": "a\0b"}, 400),
        ({"reason": ""}, 400),
        ({"reason": "x", "starts_at": "soon"}, 400),
        ({"reason": "x", "day": "today"}, 400),
        ({"reason": "x", "ends_at": "2001-01-01T00:00:00Z"}, 409),
    ],
)
def test_an_invalid_window_is_refused(olga, device, fields, status):
    assert post(olga, **fields).status_code == status
    assert not MaintenanceWindow.objects.exists()


def test_a_machine_neither_plans_nor_ends_maintenance_which_holds_the_runs_of_all_labs(olga, staff, a_lab, device):
    machine = script_of(staff, a_lab, "order", kind="machine")
    assert post(machine, reason="power cut").status_code == 403
    window = post(olga, reason="power cut").json()["id"]
    assert post(machine, f"{window}/end/").status_code == 403
    assert current_pause().pk == window
