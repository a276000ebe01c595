"""Dispatches read, locked and written by handwritten statements: equal to Django's, and no change is missed."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.utils import timezone

from runners.models import Device, Dispatch, Host
from runners.models.dispatch_rows import lock_dispatch, read, update_columns
from runners.models.states import State
from tests.runners.threads import wait_for_session_blocked_by_us

pytestmark = pytest.mark.django_db


def columns(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_a_row_is_what_django_reads(in_state, django_assert_num_queries):
    now = timezone.now()
    dispatch = in_state(State.RUNNING, progress={"tail": ["é"]}, heartbeat_at=now, boot_ids=["1"])
    Host.objects.update(objections=["too old"], health={"clock": 1}, checked_at=now)
    with django_assert_num_queries(1):
        found = read(dispatch.pk)
        device, host = found.device, found.device.host
    assert columns(found) == columns(Dispatch.objects.get())
    assert columns(device) == columns(Device.objects.get())
    assert columns(host) == columns(Host.objects.get())  # another statement loads the report of its last check


def test_a_missing_dispatch_is_named():
    with pytest.raises(Dispatch.DoesNotExist, match="dispatch 77: expected a row"), lock_dispatch(77):
        pytest.fail("it was locked")


def test_columns_of_a_dispatch_in_another_state_are_not_updated(in_state):
    dispatch = in_state(State.RUNNING)
    update_columns(dispatch, {"progress": {"label_s": 1}, "log_bytes": 7})
    Dispatch.objects.update(state=State.LOST)
    update_columns(dispatch, {"progress": {"label_s": 2}, "log_bytes": 8})
    assert Dispatch.objects.values_list("progress", "log_bytes").get() == ({"label_s": 1}, 7)


@pytest.mark.django_db(transaction=True)
def test_a_worker_with_the_lock_reads_a_change_that_was_in_progress(dispatch):
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Dispatch.objects.update(state=State.CLAIMED)
            seen = pool.submit(_state_when_held, dispatch.pk)
            wait_for_session_blocked_by_us()
        assert seen.result() == State.CLAIMED


def _state_when_held(pk):
    try:
        with lock_dispatch(pk) as locked:
            return locked.state
    finally:
        connection.close()
