import pytest

from runners.dispatch.orders import Order, enqueue_dispatch, order
from runners.models import Dispatch
from runners.models.states import State
from tests.runners.lab import poll_all


@pytest.mark.django_db
@pytest.mark.usefixtures("no_broker")
def test_an_order_without_a_broker_is_found_by_the_next_poll(
    device, a_lab, staff, connect, caplog, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        dispatch = order(device, a_lab, Order(nx_load=1, duration_s=60, slice_length_s=10), staff)
    assert f"dispatch {dispatch.pk}: no worker notified" in caplog.text
    poll_all(connect)
    assert Dispatch.objects.get().state == State.RUNNING


@pytest.mark.django_db
def test_enqueueing_twice_does_no_harm(dispatch):
    enqueue_dispatch(dispatch.pk)
    enqueue_dispatch(dispatch.pk)
