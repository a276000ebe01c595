"""A run on a device that is no drive by its name says so beside its verdict."""

import pytest

from results.models import Evidence, Finding, Visibility
from tests.webapp.register.conftest import SLOW_DISK_FACTS

pytestmark = pytest.mark.django_db

SENTENCE = "by their names devices are no drives: /dev/zram1 (compressed memory)"
TOLD = "<b>Measured on no drive.</b> <bdi>/dev/zram1 is no drive by its name</bdi>: a run on memory or on a file says "
IN_SPITE = "A reviewer published it in spite of that."


@pytest.fixture
def memory(make_log_run):
    """Return a function that makes a run on compressed memory."""

    def make(*, is_virtual_device=True, **fields):
        devices = [{"name": "/dev/zram1", "size_bytes": 10**9, "minimum_io_bytes": 4096}]
        facts = SLOW_DISK_FACTS | {"devices": devices, "is_virtual_device": is_virtual_device}
        run = make_log_run(facts=facts, **fields)
        Finding.objects.create(run=run, ordinal=9, rule_id="device-virtual", severity="look", sentence=SENTENCE)
        return run

    return make


def test_a_device_that_is_no_drive_is_told_beside_the_verdict(client, memory):
    text = client.get(f"/runs/{memory().public_id}/").text
    assert TOLD in text
    assert IN_SPITE in text
    assert text.index('class="verdict"') < text.index(TOLD) < text.index('class="figs"')
    assert "Measured on no drive" not in client.get(f"/runs/{memory(is_virtual_device=None).public_id}/").text


def test_a_run_that_nobody_published_says_nothing_of_a_reviewer(staff_client, memory):
    text = staff_client.get(f"/runs/{memory(visibility=Visibility.UNREVIEWED).public_id}/").text
    assert TOLD in text
    assert IN_SPITE not in text


def test_of_a_withheld_log_no_device_is_named(client, memory):
    run = memory()
    Evidence.objects.filter(pk=run.reading.evidence.pk).update(sequestered=True)
    assert "/dev/zram1" not in client.get(f"/runs/{run.public_id}/").text


def test_what_the_side_file_tells_is_not_told_twice(staff_client, memory):
    text = staff_client.get(f"/runs/{memory(is_virtual=True).public_id}/").text
    assert "Virtual device: never certifies." in text
    assert "Measured on no drive" not in text
