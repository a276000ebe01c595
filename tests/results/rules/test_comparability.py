"""Conditions that must agree before figures are compared."""

from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.comparability import (
    ActConditions,
    Difference,
    SweepConditions,
    coalescing_times_us,
    differences,
    is_weak,
    requests_together,
)

ACT = ActConditions(
    workload="act-storage", statistic="worst-slice", time="service", read_at_us=(1024, 8192, 65_536),
    asked_duration_s=86_400, slice_length_s=3600, read_ratio=Fraction(2, 3), record_bytes=1536, record_bytes_max=0,
    large_block_bytes=131_072, compress_pct=100, generator="act", arrivals="lockstep", requests_together=10,
    engine="threads", defrag_lwm_pct=50, defrag_reads=True, update_pct=Decimal(0), replication_factor=1,
    disable_odsync=False, commit_to_device=False, tomb_raider=False, device_count=1, devices_per_drive=Fraction(1),
    over_provisioning_pct=Decimal("7"), over_provisioned_to_pct=Fraction(80), pcie_link="16.0 GT/s PCIe x4",
)  # fmt: skip
SWEEP = SweepConditions(
    tool="ycsb", tool_version="0.17.0", binding="rocksdb", options_sha256="ab", phase="run",
    mix=(("read", Decimal("0.5")), ("update", Decimal("0.5"))), distribution="uniform", record_count=250_000_000,
    record_bytes=4096, operation_count=200_000_000, time_limit_s=0, target_ops_per_s=0, time="service",
    statistic="read p99.99", threads_counts=(4, 8), host="lab1",
    is_defrag_active=True, fill_pct=Decimal(50), index_placement="memory", pending_limit=100,
    devices_per_drive=Fraction(16), over_provisioning_pct=Decimal("7"), over_provisioned_to_pct=Fraction(80),
    pcie_link="16.0 GT/s PCIe x4",
)  # fmt: skip
EACH = [(known, field.name) for known in (ACT, SWEEP) for field in fields(known)]


@pytest.mark.parametrize("known", [ACT, SWEEP])
def test_runs_under_the_same_conditions_are_comparable(known):
    assert differences(known, replace(known)) == ()


@pytest.mark.parametrize(("known", "name"), EACH)
def test_every_condition_that_differs_is_named_with_its_reason(known, name):
    other = replace(known, **{name: "something else"})
    (found,) = differences(known, other)
    assert (found.name, found.first, found.second) == (name, getattr(known, name), "something else")
    assert found.why
    assert not found.is_unknown


@pytest.mark.parametrize(("known", "name"), EACH)
def test_an_unknown_condition_does_not_count_as_equal(known, name):
    unknown = replace(known, **{name: None})
    for pair in ((known, unknown), (unknown, known), (unknown, unknown)):
        assert [(found.name, found.is_unknown) for found in differences(*pair)] == [(name, True)]


def test_equal_numbers_agree_however_they_are_written():
    assert differences(ACT, replace(ACT, over_provisioning_pct=Decimal("7.00"), read_ratio=Fraction(4, 6))) == ()


def test_conditions_of_two_kinds_are_refused():
    with pytest.raises(ValueError, match="expected two of one kind, got ActConditions, SweepConditions"):
        differences(ACT, SWEEP)


def test_differences_are_in_the_order_of_the_conditions():
    found = differences(ACT, replace(ACT, device_count=4, slice_length_s=60))
    assert [each.name for each in found] == ["slice_length_s", "device_count"]
    assert found[0] == Difference("slice_length_s", 3600, 60, False, "shorter slices show higher worst values")


@pytest.mark.parametrize(
    ("arrivals", "service_threads", "expected"),
    [("lockstep", 10, 10), ("lockstep", None, None), ("even", 10, 1), ("even", None, 1), (None, 10, None)],
)
def test_service_threads_begin_together_only_in_lockstep(arrivals, service_threads, expected):
    assert requests_together(arrivals, service_threads) == expected


@pytest.mark.parametrize(("arrivals", "expected"), [("even", 3), ("poisson", 3), ("lockstep", 10), (None, None)])
def test_coalesced_requests_begin_together(arrivals, expected):
    assert requests_together(arrivals, 10, 2) == expected


@pytest.mark.parametrize(("arrivals", "expected"), [("even", None), ("lockstep", 10)])
def test_unknown_coalescing_matters_unless_threads_begin_together(arrivals, expected):
    assert requests_together(arrivals, 10, None) == expected


@pytest.mark.parametrize(
    ("log", "engine", "expected"),
    [
        (("drivetest", "0.3.9", None), "io_uring", {50}),
        (("drivetest", "0.3.9", None), "threads", {40}),
        (("drivetest", "0.3.9", None), None, {40, 50}),
        (("drivetest", "0.4.0", None), "io_uring", {0}),
        (("drivetest", "0.10.0", None), None, {0}),
        (("drivetest", "1.0.0", None), None, {0}),
        (("drivetest", "0.4.0", 100), "io_uring", {100}),
        (("drivetest", "", None), "io_uring", set()),
        (("act", "6.6", None), "threads", {0}),
        (("act", "0.3.0", None), None, {0}),
    ],
)
def test_drivetest_before_0_4_coalesces_without_stating_it(log, engine, expected):
    assert coalescing_times_us(*log, engine) == expected


@pytest.mark.parametrize(("not_stated", "expected"), [(0, False), (12, False), (13, True), (14, True), (26, True)])
def test_a_comparison_is_weak_from_half_of_its_conditions_on(not_stated, expected):
    assert is_weak(not_stated, 26) is expected
