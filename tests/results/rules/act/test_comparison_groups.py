"""Which results may be ranked together."""

import pytest

from results.rules.act.comparison_groups import (
    ComparisonGroup,
    ReadTime,
    group_of_code,
    is_compressible,
    time_of_reads,
    time_of_version,
)

ONE_DRIVE = ComparisonGroup(ReadTime.SERVICE, "worst-slice", is_compressible=False, device_count=1)


@pytest.mark.parametrize(
    ("version", "time"),
    [("5.3", ReadTime.WITH_QUEUE), ("6.0", ReadTime.SERVICE), ("10", ReadTime.SERVICE), ("", None), ("v6", None)],
)
def test_reads_of_versions_up_to_5_3_include_queue_time(version, time):
    assert time_of_version(version) == time


def test_drivetest_has_no_queue_whatever_its_version():
    assert time_of_reads("drivetest", "0.4.0") == time_of_reads("act", "6.6") == ReadTime.SERVICE
    assert time_of_reads("act", "0.4.0") == ReadTime.WITH_QUEUE


@pytest.mark.parametrize(
    ("group", "is_ranked"),
    [
        (ONE_DRIVE, True),
        (ComparisonGroup(ReadTime.WITH_QUEUE, "steady-as-published", False, 4), True),
        (ComparisonGroup(ReadTime.SERVICE, "worst-slice", True, 1), False),
        (ComparisonGroup(None, "worst-slice", False, 1), False),
        (ComparisonGroup(ReadTime.SERVICE, "worst-slice", False, None), False),
    ],
)
def test_a_group_is_ranked_only_if_it_is_known_what_its_figures_measure(group, is_ranked):
    assert group.is_ranked == is_ranked
    assert group_of_code(group.code) == group


@pytest.mark.parametrize("code", ["worst-slice.service.1.x", "worst-slice.unheard-of.1", "worst-slice.service.one"])
def test_a_text_that_is_no_code_of_a_group_is_refused(code):
    with pytest.raises(ValueError, match=r"group|ReadTime|int\(\)"):
        group_of_code(code)


def test_data_that_is_not_stated_to_compress_counts_as_incompressible():
    assert [is_compressible(percent) for percent in (None, 100, 99, 0)] == [False, False, True, True]
