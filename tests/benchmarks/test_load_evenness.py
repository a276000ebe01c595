"""Evenness of requests: pages of the kernel's ring buffer, and the classification of requests."""

import struct

import pytest
from load_evenness import evenness, lost_events, page_times

PERIOD_NS = 50_000
RATE = 20_000
START_NS = 7_000_000_000

STATS = """entries: 889
overrun: {overrun}
commit overrun: 0
bytes: 64728
dropped events: {dropped}
read events: 0
"""


def page(at_ns, *events):
    data = b"".join(events)
    return (struct.pack("<QQ", at_ns, len(data)) + data).ljust(4096, b"\0")


def word(kind, delta):
    return struct.pack("<I", delta << 5 | kind)


def times(late_ns):
    return [START_NS + number * PERIOD_NS + late for number, late in enumerate(late_ns)]


def measured(late_ns, start_ns=START_NS):
    return evenness(times(late_ns), RATE, start_ns, len(late_ns))


def test_events_have_the_time_of_the_page_and_all_differences():
    first, second = word(2, 0) + bytes(8), word(1, 300) + bytes(4)
    assert list(page_times(page(1_000, first, second))) == [1_000, 1_300]


def test_an_extension_and_a_time_stamp_are_no_events():
    extension = word(30, 5) + struct.pack("<I", 1)
    stamp = word(31, 7) + struct.pack("<I", 2)
    event = word(1, 1) + bytes(4)
    expected = [1_001 + (1 << 27) + 5, (2 << 27) + 8]
    assert list(page_times(page(1_000, extension, event, stamp, event))) == expected


def test_a_long_event_states_its_length_in_its_first_word():
    long = word(0, 10) + struct.pack("<I", 12) + bytes(8)
    assert list(page_times(page(0, long, word(1, 10) + bytes(4)))) == [10, 20]


def test_padding_ends_a_page_or_takes_the_place_of_an_event():
    removed = word(29, 10) + struct.pack("<I", 8) + bytes(4)
    event = word(1, 10) + bytes(4)
    assert list(page_times(page(0, removed, event, word(29, 0), word(0, 0), event))) == [20]


@pytest.mark.parametrize(("overrun", "dropped", "lost"), [(0, 0, 0), (3, 0, 3), (0, 4, 4)])
def test_lost_events_are_counted(overrun, dropped, lost):
    assert lost_events(STATS.format(overrun=overrun, dropped=dropped)) == lost


def test_requests_on_time_are_even():
    found = measured([10_000] * 200)
    assert (found.issued_count, found.catch_up_count, found.bunched_count) == (200, 0, 0)
    assert (found.late_p50_us, found.late_p99_us) == (10, 10)


def test_a_late_request_soon_after_its_predecessor_catches_up():
    found = measured([1_000] * 100 + [110_000, 65_000, 20_000] + [1_000] * 97)
    assert (found.catch_up_count, found.bunched_count) == (1, 0)


@pytest.mark.parametrize(("late_ns", "expected"), [(25_000, 0), (25_001, 1)])
def test_a_request_catches_up_from_more_than_half_a_period_of_lateness(late_ns, expected):
    found = measured([1_000] * 100 + [60_000, late_ns] + [1_000] * 98)
    assert (found.catch_up_count, found.bunched_count) == (expected, 0)


def test_a_request_on_time_soon_after_a_late_one_neither_catches_up_nor_is_bunched():
    found = measured([1_000] * 100 + [40_000] + [1_000] * 99)
    assert (found.catch_up_count, found.bunched_count) == (0, 0)


def test_requests_close_together_though_both_are_on_time_are_bunched():
    found = measured([1_000] * 100 + [20_000, -10_000] + [1_000] * 98)
    assert (found.catch_up_count, found.bunched_count) == (0, 1)


def test_without_a_start_the_earliest_request_is_on_time():
    found = measured([90_000] * 150 + [60_000] * 50, start_ns=None)
    assert (found.late_p50_us, found.late_p99_us) == (30, 30)


@pytest.mark.parametrize("reads_count", [199, 201])
def test_a_trace_with_other_reads_is_not_classified(reads_count):
    assert evenness(times([0] * 200), RATE, START_NS, reads_count) is None


def test_reads_before_the_start_are_not_those_of_the_load():
    found = evenness([START_NS - 5, *times([0] * 200)], RATE, START_NS, 200)
    assert found.issued_count == 200
