"""Comparison groups: the results whose speed and share of slow reads may be ranked together.

A group is defined by what its shares measure. "Fastest", the frontier of a chart and a position in a category apply
within one group.
"""

from dataclasses import dataclass
from enum import StrEnum

LAST_WITH_QUEUE = 5  # up to 5.3 `reads` includes the time in the queue; from 6.0 on there is no queue
INCOMPRESSIBLE_PCT = 100
DRIVETEST = "drivetest"


class ReadTime(StrEnum):
    """The time that the share of slow reads measures."""

    SERVICE = "service"
    WITH_QUEUE = "queue-and-service"


def time_of_version(version: str) -> ReadTime | None:
    """Return which time the histogram `reads` of ACT measures; None if the version is not stated.

    A publication prints the shares of `reads`. Source: aerospike/act, histograms of act_storage up to 5.3 and from 6.0.

    >>> [time_of_version(version) for version in ("5.3", "6.0", "3", "", "x")] == [
    ...     ReadTime.WITH_QUEUE, ReadTime.SERVICE, ReadTime.WITH_QUEUE, None, None]
    True
    """
    major = version.partition(".")[0]
    if not (major.isascii() and major.isdigit()):
        return None
    return ReadTime.WITH_QUEUE if int(major) <= LAST_WITH_QUEUE else ReadTime.SERVICE


def time_of_reads(tool: str, version: str) -> ReadTime | None:
    """Return which time the shares in tables measure; None if it is unknown. drivetest has no queue.

    >>> time_of_reads("drivetest", "0.4.0").value, time_of_reads("act", "5.3").value
    ('service', 'queue-and-service')
    """
    return ReadTime.SERVICE if tool == DRIVETEST else time_of_version(version)


@dataclass(frozen=True)
class ComparisonGroup:
    """What the shares of a result measure: the time, the statistic, the data and the number of devices.

    `statistic` is the code of the statistic (worst slice, as published). Data that is not stated to compress counts as
    incompressible, as ACT writes it by default. `device_count` is None if it is unknown.
    """

    time: ReadTime | None
    statistic: str
    is_compressible: bool
    device_count: int | None

    @property
    def is_ranked(self) -> bool:
        """Return whether results of this group can be ranked.

        A drive that compresses the data of a test writes less than a database would. Without the time or the number of
        devices, it is not known what the figures measure.
        """
        return not self.is_compressible and self.time is not None and self.device_count is not None

    @property
    def code(self) -> str:
        """Return the code of the group, which never changes: part of addresses and files.

        >>> ComparisonGroup(ReadTime.SERVICE, "worst-slice", False, 1).code
        'worst-slice.service.1'
        >>> ComparisonGroup(None, "overall", True, None).code
        'overall.unknown.unknown.compressible'
        """
        parts = [self.statistic, self.time or "unknown", str(self.device_count or "unknown")]
        return ".".join(parts + ["compressible"] * self.is_compressible)


def group_of_code(code: str) -> ComparisonGroup:
    """Return the group with a code. Raises ValueError for a text that is no code.

    >>> group_of_code("worst-slice.service.1") == ComparisonGroup(ReadTime.SERVICE, "worst-slice", False, 1)
    True
    """
    statistic, time, devices, *more = code.split(".")
    if more not in ([], ["compressible"]):
        raise ValueError(f"comparison group {code!r}: expected statistic.time.devices or with .compressible")
    return ComparisonGroup(
        None if time == "unknown" else ReadTime(time),
        statistic,
        bool(more),
        None if devices == "unknown" else int(devices),
    )


def is_compressible(compress_pct: int | None) -> bool:
    """Return whether the written data is stated to compress.

    >>> [is_compressible(percent) for percent in (None, 100, 99)]
    [False, False, True]
    """
    return compress_pct is not None and compress_pct < INCOMPRESSIBLE_PCT
