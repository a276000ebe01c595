"""Notes on other results of an instance type with other numbers of devices."""

import re

import pytest

from tests.webapp.register.pages import read_rows

pytestmark = pytest.mark.django_db


def notes_of(client, query=""):
    """Return the notes in the list of cloud instances by name and storage of the row."""
    found = re.findall(
        r'<tr><th.*?>([^<]*)</a>(?:<span class="only-phone">[^<]*</span>)?'
        r'(?: <span class="sub other-counts">([^<]*)</span>)?</th>',
        client.get(f"/drives/cloud/{query}").text,
    )
    return [(name, note) for name, note in found if note]


def test_a_result_names_other_numbers_of_devices_with_another_outcome(client, catalogue):
    notes = notes_of(client)
    assert ("r5d.4xlarge", "1 device: over a limit") in notes
    assert ("r5d.4xlarge", "2 devices: within the limits") in notes
    assert ("m5d.24xlarge", "1 and 2 devices: over a limit") in notes
    assert not [name for name, _ in notes if name in {"c5d.4xlarge", "c5d.24xlarge"}]  # one result; all within


def test_the_note_follows_the_limits_of_the_reader(client, catalogue):
    at_limit, below = notes_of(client, "?limit_1ms=7.25"), notes_of(client, "?limit_1ms=7.24")
    assert "r5d.4xlarge" not in dict(at_limit)
    assert "r5d.4xlarge" in dict(below)


def test_the_note_stays_while_the_other_result_is_hidden(client, catalogue):
    assert ("r5d.4xlarge", "1 device: over a limit") in notes_of(client, "?within=only")


@pytest.mark.parametrize(("tps", "has_note"), [(2000, True), (2002, False)])
def test_only_results_at_the_same_speed_of_each_device_are_compared(
    client, make_product, make_published_run, tps, has_note
):
    product = make_product(category="cloud", vendor="Cloudy", model="c1", capacity_gb=None)
    facts = {"device_gb": 300, "sole_tenant": False, "tool_version": "6.1"}
    make_published_run({1000: "9.00"}, product=product, tps=1000, device_count=1, **facts)
    make_published_run({1000: "1.00"}, product=product, tps=tps, device_count=2, **facts)
    assert bool(notes_of(client)) is has_note
    assert len(read_rows(client.get("/drives/cloud/"))) == 2
