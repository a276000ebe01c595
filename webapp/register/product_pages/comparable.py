"""The drives that a result can be compared with, from the column store: one result for each drive of the group.

A drive is represented by its fastest current result within the limits. Comparisons of the profile's limits are made
once per state of the register.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from hashlib import sha256

from results.models import Category, Product, Run
from results.models.categories import OF_DRIVES, SYSTEMS
from results.rules.act.alternatives import EnduranceClass, Figures, endurance_class
from results.rules.act.comparison_groups import ComparisonGroup, ReadTime, group_of_code
from results.rules.endurance import sustained_tps
from webapp.register.drives.limit_check import LimitCheck, name_of
from webapp.register.drives.store.encoded_columns import ColumnStore, Rows, rows_of
from webapp.register.drives.store.ranking import RATING_PARTS, current_rows, on_drives
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.columns import share_code
from webapp.register.tables.groups import group_of


class LeftOut(StrEnum):
    """The reason why a drive of the category is not in a comparison; of several reasons, the first of this order.

    The first three are of results of the compared group.
    """

    OVER_LIMITS = "over-limits"
    NOT_PASSED = "not-passed"
    NO_FIGURE = "no-figure"
    COMPRESSIBLE = "compressible"
    WITH_QUEUE = "with-queue"
    SERVICE_TIME = "service-time"
    UNKNOWN_TIME = "unknown-time"
    OTHER_STATISTIC = "other-statistic"
    OTHER_DEVICES = "other-devices"
    UNKNOWN_DEVICES = "unknown-devices"


PRECEDENCE = {reason: place for place, reason in enumerate(LeftOut)}


@dataclass(frozen=True)
class ComparableDrive:
    """One drive with its fastest result of a group: `share` in billionths of a percent, `tps` of one device or system.

    `model` is maker and model, by which the capacities of one model are found.
    """

    slug: str
    name: str
    model: tuple[str, str]
    category: str
    tps: int
    share: int
    share_text: str
    capacity_gb: int | None
    endurance_dwpd: Decimal | None

    @cached_property
    def figures(self) -> Figures:
        """Return what the rules compare, in whole numbers: thousands of fractions would take a tenth of a second."""
        return Figures(self.slug, self.tps, self.share, self.rated_writes, self.endurance, self.capacity_gb)

    @cached_property
    def rated_writes(self) -> int | None:
        """Return what the rating allows to write, in hundredths of GB a day; None if it is not known.

        The sustained speed is in proportion to it, so both give the same order.
        """
        if self.endurance_dwpd is None or self.capacity_gb is None:
            return None
        return int(self.endurance_dwpd * RATING_PARTS) * self.capacity_gb or None

    @property
    def sustained(self) -> Fraction | None:
        """Return the speed that the rating allows, tps."""
        return sustained_tps(self.endurance_dwpd, self.capacity_gb)

    @property
    def endurance(self) -> EnduranceClass:
        """Return the class of the endurance rating."""
        return endurance_class(self.endurance_dwpd)


@dataclass(frozen=True)
class Comparison:
    """A drive's result among those of its group.

    `others` are the other drives of the category with the same historical mark; `everywhere` those of all categories of
    drives without historical ones, from which better drives come. `left_out` counts the drives of the category that
    have no result of this group within the limits.
    """

    group: ComparisonGroup
    this: ComparableDrive
    others: tuple[ComparableDrive, ...]
    everywhere: tuple[ComparableDrive, ...]
    left_out: Mapping[LeftOut, int]


Pool = dict[str, ComparableDrive]  # by slug


class DriveComparer:
    """Comparisons under the limits of a reader, from one state of the register."""

    def __init__(self, store: ColumnStore, limits: YourLimits) -> None:
        self.store, self.limits = store, limits
        self.check = LimitCheck(store, limits)
        self.threshold_us = limits.fields[0].threshold_us if limits.fields else 1000

    def comparison(self, product: Product, run: Run) -> Comparison | None:
        """Return the comparison of a product's run; None if the run is not ranked, or not within the limits."""
        group = group_of(run)
        rows = self.store.rows_by_product.get(product.slug, ())
        row = next((each for each in rows if self.store.runs[each] == run.public_id), None)
        if not group.is_ranked or row is None or not self.check.passes >> row & 1:
            return None
        this = self._drive(row)
        if this is None:
            return None
        same = self._pool(group.code, product.category, is_historical=product.historical)
        others = tuple(drive for slug, drive in same.items() if slug != product.slug)
        everywhere = tuple(
            drive
            for category in self._compared_categories(product.category)
            for slug, drive in self._pool(group.code, category, is_historical=False).items()
            if slug != product.slug
        )
        return Comparison(group, this, others, everywhere, self._left_out(group, product, same))

    @staticmethod
    def _compared_categories(category: str) -> Iterable[str]:
        return (category,) if category in SYSTEMS else (each.value for each in Category if each in OF_DRIVES)

    def _current(self, category: str, *, is_historical: bool) -> Rows:
        columns = self.store.columns
        marked = columns["historical"].of("yes" if is_historical else "no")
        return current_rows(self.store) & on_drives(self.store) & columns["category"].of(category) & marked

    def _pool(self, code: str, category: str, *, is_historical: bool) -> Pool:
        """Return the drives of one category and group, each with its fastest result within the limits."""

        def make() -> Pool:
            rows = self._current(category, is_historical=is_historical) & self.check.passes
            found: Pool = {}
            for row in rows_of(rows & self.store.columns["comparison_group"].of(code)):
                drive = self._drive(row)
                if drive and (drive.slug not in found or _is_faster(drive, found[drive.slug])):
                    found[drive.slug] = drive
            return found

        key = ("comparable", code, category, is_historical, *self.limits.profile_by_threshold.items())
        return make() if self.limits.is_own else self.store.cached(key, make)

    def _drive(self, row: int) -> ComparableDrive | None:
        """Return the drive of a row with the row's figures; None without a speed or a share."""
        columns, category = self.store.columns, self.store.columns["category"].word(row)
        speed = columns["tps" if category in SYSTEMS else "device_tps"].value(row)
        shares = columns[share_code(self.threshold_us)]
        share = shares.value(row)
        if not speed or share is None:
            return None
        capacity, rating = columns["capacity_gb"].value(row), columns["endurance_dwpd"].word(row)
        return ComparableDrive(
            slug=self.store.slugs[row],
            name=name_of(self.store, row),
            model=(columns["vendor"].word(row), columns["model"].word(row)),
            category=category,
            tps=round(speed),
            share=int(share),
            share_text=shares.word(row),
            capacity_gb=None if capacity is None else int(capacity),
            endurance_dwpd=Decimal(rating.replace(",", "")) if rating else None,
        )

    def shown_row(self, row: int) -> tuple[str, tuple[object, ...]]:
        """Return the category of a current result, and all that pages of other drives show of it."""
        columns, code = self.store.columns, self.store.columns["comparison_group"].word(row)
        passes, is_over = bool(self.check.passes >> row & 1), bool(self.check.over >> row & 1)
        drive = self._drive(row) if passes and group_of_code(code).is_ranked else None
        names = (self.store.slugs[row], code, passes, is_over, columns["historical"].word(row))
        return columns["category"].word(row), (*names, drive)

    def _left_out(self, group: ComparisonGroup, product: Product, compared: Pool) -> Mapping[LeftOut, int]:
        """Return the number of other drives of the category without a compared result, by reason."""

        def make() -> dict[str, LeftOut]:
            found: dict[str, LeftOut] = {}
            for row in rows_of(self._current(product.category, is_historical=product.historical)):
                slug = self.store.slugs[row]
                if slug not in compared:
                    reason = self._left_out_reason(row, group)
                    found[slug] = min(found.get(slug, reason), reason, key=PRECEDENCE.__getitem__)
            return found

        profile = self.limits.profile_by_threshold
        key = ("left out", group.code, product.category, product.historical, *profile.items())
        found = make() if self.limits.is_own else self.store.cached(key, make)
        return Counter(reason for slug, reason in found.items() if slug != product.slug)

    def _left_out_reason(self, row: int, compared: ComparisonGroup) -> LeftOut:
        """Return why a row represents no drive among the results of a group."""
        group = group_of_code(self.store.columns["comparison_group"].word(row))
        if group != compared:
            return other_group_reason(group, compared)
        if self.check.over >> row & 1:
            return LeftOut.OVER_LIMITS
        return LeftOut.NO_FIGURE if self.check.passes >> row & 1 else LeftOut.NOT_PASSED


def _is_faster(one: ComparableDrive, other: ComparableDrive) -> bool:
    """Return whether a result represents a drive better than another: faster, or as fast with fewer slow reads."""
    return (one.tps, -one.share) > (other.tps, -other.share)


def other_group_reason(group: ComparisonGroup, compared: ComparisonGroup) -> LeftOut:
    """Return why a result of a group is not compared with those of another group.

    >>> one, other = (ComparisonGroup(ReadTime.SERVICE, "worst-slice", False, count) for count in (1, None))
    >>> other_group_reason(other, one).value
    'unknown-devices'
    """
    if group.is_compressible:
        return LeftOut.COMPRESSIBLE
    if group.time != compared.time:
        times = {ReadTime.WITH_QUEUE: LeftOut.WITH_QUEUE, ReadTime.SERVICE: LeftOut.SERVICE_TIME}
        return times[group.time] if group.time else LeftOut.UNKNOWN_TIME
    if group.statistic != compared.statistic:
        return LeftOut.OTHER_STATISTIC
    return LeftOut.UNKNOWN_DEVICES if group.device_count is None else LeftOut.OTHER_DEVICES


def category_digests(store: ColumnStore, limits: YourLimits) -> dict[str, str]:
    """Return for each category a text that changes whenever a product's page may show other drives differently.

    All categories of drives have the same text, because better drives come from all of them.
    """

    def make() -> dict[str, str]:
        comparer = DriveComparer(store, limits)
        found: dict[str, list[object]] = {category: [] for category in Category.values}
        for row in rows_of(current_rows(store) & on_drives(store)):
            category, shown = comparer.shown_row(row)
            for each in OF_DRIVES if category in OF_DRIVES else (category,):
                found[each].append(shown)
        return {category: sha256(repr(rows).encode()).hexdigest()[:16] for category, rows in found.items()}

    return store.cached(("category digests", *limits.profile_by_threshold.items()), make)
