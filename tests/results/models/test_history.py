import pytest
from django.db import DatabaseError, transaction

from results.models import Event

pytestmark = pytest.mark.django_db


@pytest.fixture
def event():
    return Event.objects.create(kind="published", subject_type="run", subject_id="r-23456789")


def test_an_event_cannot_be_changed(event):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Event.objects.filter(pk=event.pk).update(reason="another")


def test_an_event_cannot_be_deleted(event):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        event.delete()
