import pytest
from django.db import connection

from results.models import Organisation
from runners.models import Device, Dispatch, Host
from runners.models.states import State
from webapp.supervisor.supervisor import running_message


@pytest.fixture
def dispatch(staff):
    lab = Organisation.objects.create(
        slug="this-lab", name="This lab", kind=Organisation.Kind.LAB, confirmed_at="2026-01-01T00:00Z"
    )
    host = Host.objects.create(name="bench", kind=Host.Kind.LOCAL)
    drive = {"identity_kind": "virtual", "identity": {}, "drive_key": "loop:1:2", "path": "/dev/loop0", "size_bytes": 1}
    device = Device.objects.create(host=host, label="loop", **drive)
    order = {"drive_key": "loop:1:2", "nx_load": 1, "duration_s": 60, "slice_length_s": 10}
    return Dispatch.objects.create(organisation=lab, ordered_by=staff, device=device, **order)


@pytest.fixture
def url():
    known = connection.settings_dict
    return f"postgresql://{known['USER']}:{known['PASSWORD']}@/{known['NAME']}?host={known['HOST']}"


@pytest.mark.django_db(transaction=True)
def test_a_running_dispatch_is_named(dispatch, url):
    Dispatch.objects.update(state=State.RUNNING)
    assert dispatch.public_id in running_message(url)


@pytest.mark.django_db(transaction=True)
def test_a_dispatch_that_does_not_run_is_not_named(dispatch, url):
    assert running_message(url) == ""
