"""Matching of listed drives with products: by part number, otherwise by model words; with the nearest products."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from results.models import Category
from results.models.categories import OF_DRIVES
from webapp.register.drives.search import CAPACITY
from webapp.register.fleet.listed_drive import NVME, SCSI, ListedDrive
from webapp.register.fleet.nearest import (
    NEAREST_AT_MOST,
    Likeness,
    Near,
    has_capacity,
    nearest_sentence,
    neighbours,
    warning,
)
from webapp.register.products import model_index
from webapp.register.products.model_index import Figured, Listed, RegisterIndex, name_words
from webapp.register.products.name_search import one_error_away
from webapp.register.products.part_numbers import Part, part_of
from webapp.templatetags import units

BY_MODEL, BY_PART = "model", "part-number"
KINDS: dict[str, Collection[str]] = {
    NVME: {Category.NVME_3DXPOINT, Category.NVME_FLASH, Category.M2_FLASH},
    SCSI: {Category.SATA_SAS_FLASH, Category.M2_FLASH},
    "": OF_DRIVES,
}  # categories of the products that can be neighbours of a drive, by its interface
COMPARED_AT_MOST = 500  # distinct unknown models of one list that are compared with the names of all products


NOT_COMPARED = (
    f" Not compared with similar names: the list has more than {COMPARED_AT_MOST} unknown models. "
    "Split the list and check the parts."
)


@dataclass(frozen=True)
class Match:
    """The match of one drive; `part` is the known part number in its model string.

    `is_other_capacity` is set if `nearest` are the other capacities of the drive's own model, the nearest one first.
    `figured` are similar drives with published YCSB figures, for a drive that was not found. `is_not_compared` is set
    if the list has too many unknown models for a search for similar names.
    """

    found: Sequence[Listed]
    part: Part | None = None
    nearest: Sequence[Near] = ()
    is_stated_part: bool = False
    is_other_capacity: bool = False
    is_not_compared: bool = False
    figured: Sequence[Figured] = ()

    @property
    def by(self) -> str:
        """Return the way in which the products were found; empty if none was found."""
        if not self.found:
            return ""
        return BY_PART if self.part or self.is_stated_part else BY_MODEL


@dataclass
class Matcher:
    """Finds the products of listed drives."""

    index: RegisterIndex
    nearest: dict[tuple[str, str, str, float | None], list[Near]] = field(default_factory=dict)

    def match(self, drive: ListedDrive) -> Match:
        """Return the products of a drive, or similar ones if there are none."""
        match = self._match(drive)
        if match.found or not drive.model:
            return match
        return replace(match, figured=self.index.figured_as(drive.vendor, drive.model))

    def _match(self, drive: ListedDrive) -> Match:
        """Match by part number before words, because it also has the capacity."""
        is_stated = self.index.knows_part(drive.model)
        part = None if is_stated else part_of(drive.model)
        if part and part.capacity_gb:
            return self._match_part(drive, part, part.capacity_gb)
        found = self.index.find(drive.vendor, drive.model, drive.capacity_gb, is_rounded=drive.capacity_is_rounded)
        if found or not drive.model:
            return Match(found, is_stated_part=is_stated)
        others = self.index.find(drive.vendor, drive.model, None, is_rounded=False)
        if others and drive.capacity_gb is not None:
            return Match((), part, _by_nearness(others, drive.capacity_gb), is_other_capacity=True)
        nearest = self._nearest(drive, part)
        return Match((), part, nearest, is_not_compared=_model_key(drive) not in self.nearest)

    def _match_part(self, drive: ListedDrive, part: Part, capacity_gb: float) -> Match:
        """Match by a part number with its capacity; a list with another capacity contradicts it."""
        find = partial(self.index.find, part.vendor, part.model, is_rounded=False)
        agrees = _agrees(drive, part)
        if agrees and (found := find(capacity_gb)):
            return Match(found, part)
        if others := find(None):
            return Match((), part, _by_nearness(others, capacity_gb), is_other_capacity=agrees)
        nearest = self._nearest(drive, part)
        return Match((), part, nearest, is_not_compared=_model_key(drive) not in self.nearest)

    def _nearest(self, drive: ListedDrive, part: Part | None) -> Sequence[Near]:
        """Return models with the listed words and more, otherwise one letter away, otherwise as the search finds."""
        key = _model_key(drive)
        if key not in self.nearest and len(self.nearest) < COMPARED_AT_MOST:
            self.nearest[key] = (
                _near(drive, () if part else self._with_more_words(drive), Likeness.LONGER_NAME)
                or _near(drive, () if part else self._one_error_away(drive), Likeness.SPELLING)
                or neighbours(drive, part, _same_kind(drive, self.index.listed))
            )
        return self.nearest.get(key, ())

    def _with_more_words(self, drive: ListedDrive) -> list[Listed]:
        """Return models of the named maker that have every listed word and more: 9300 Max for 9300.

        Words of makers and capacities do not count, and models without current results are left out.
        """
        makers = set(self.index.named_vendors(drive.vendor, drive.model))
        typed = set(name_words(CAPACITY.sub(" ", drive.model))) - self.index.makers
        candidates = self.index.by_word.get(next(filter(model_index.is_distinctive, typed), ""), ())
        names = (name for name in candidates if typed < set(name))
        named = {each.product.pk: each for name in names for each in self.index.by_model[name]}
        return [each for each in named.values() if each.current_runs and each.product.vendor.casefold() in makers]

    def _one_error_away(self, drive: ListedDrive) -> list[Listed]:
        """Return the models that a misspelt word can mean. A plain number matches only models of a named maker.

        9000 differs from 3000 by one digit, but is not a typing error of it.
        """
        makers = set(self.index.named_vendors(drive.vendor, drive.model))
        found: dict[int, Listed] = {}  # each product once: DC SN861 is also called SN861
        for word in filter(model_index.is_distinctive, name_words(drive.model)):
            known = one_error_away(word, list(self.index.by_word))
            names = (name for part in known for name in self.index.by_word[part])
            for each in (each for name in names for each in self.index.by_model[name]):
                if not word.isdigit() or each.product.vendor.casefold() in makers:
                    found[each.product.pk] = each
        return list(found.values())


def _near(drive: ListedDrive, found: Iterable[Listed], likeness: Likeness) -> list[Near]:
    """Return the first models of the drive's kind, those with its capacity before others."""
    ordered = sorted(_same_kind(drive, found), key=lambda each: not has_capacity(drive, each.product))
    return [Near(each, likeness) for each in ordered[:NEAREST_AT_MOST]]


def _same_kind(drive: ListedDrive, listed: Iterable[Listed]) -> list[Listed]:
    """Return the products that are drives, and of the same interface if it is known; systems are never neighbours."""
    return [each for each in listed if each.product.category in KINDS[drive.interface]]


def _by_nearness(listed: Iterable[Listed], capacity_gb: float) -> list[Near]:
    """Return the first capacities of a model by their distance."""
    by_distance = sorted(listed, key=lambda each: abs((each.product.capacity_gb or 0) - capacity_gb))
    return [Near(each, Likeness.MODEL) for each in by_distance[:NEAREST_AT_MOST]]


def _model_key(drive: ListedDrive) -> tuple[str, str, str, float | None]:
    return drive.vendor, drive.model, drive.interface, drive.capacity_gb


def _agrees(drive: ListedDrive, part: Part) -> bool:
    """Return whether the capacities in the list and in the part number agree; both may be rounded."""
    if drive.capacity_gb is None or part.capacity_gb is None:
        return True
    return abs(drive.capacity_gb - part.capacity_gb) * 100 <= 8 * part.capacity_gb


def matched_sentence(match: Match) -> str:
    """Return the part number by which the drive was found, as a sentence; empty for other matches."""
    if match.by != BY_PART or match.part is None:
        return ""
    # The number of a part has its capacity rounded, 076 for 7.68 TB: the product's is the one to show.
    size = units.capacity(match.found[0].product.capacity_gb) or _size(match.part)
    return f" Its part number {match.part.number} is that of {match.part.name}, {size}."


def unknown_sentence(drive: ListedDrive, match: Match) -> str:
    """Return why a drive was not recognised. An unknown name never means that the product is missing."""
    if not drive.model:
        return "The list has no model for this drive."
    not_compared = NOT_COMPARED if match.is_not_compared else ""
    near = f"{nearest_sentence(drive, match.nearest)}{warning(drive, match.nearest)}"
    return f"{_unknown(drive, match)}{near}{model_index.figured_sentence(match.figured)}{not_compared}"


def _unknown(drive: ListedDrive, match: Match) -> str:
    part = match.part
    if part and part.capacity_gb and not _agrees(drive, part):
        listed = units.capacity(round(drive.capacity_gb or 0))
        return f"The part number {part.number} is that of {part.name}, {_size(part)}, but the list has {listed}."
    if part and part.capacity_gb:
        size = units.capacity(round(drive.capacity_gb or part.capacity_gb))
        return f"The part number {part.number} is that of {part.name}, {size}, which the register does not have."
    if match.is_other_capacity:
        return "The register has this model only with other capacities."
    if part:
        return f"The register does not have the part number {part.number} of {part.vendor}."
    return "The register does not have this model or part number."


def _size(part: Part) -> str:
    return units.capacity(round(part.capacity_gb or 0))
