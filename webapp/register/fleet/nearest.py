"""The nearest drives for a listed drive that the register does not have, the way in which each is near, and a warning.

The drives and their order are those of the search (webapp/register/products/similar_names.py). Drives of the listed
capacity come first, because a result is for one capacity.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path

from django.db.models import TextChoices

from results.models import Product
from webapp.register.drives.search import CAPACITY
from webapp.register.fleet.listed_drive import ListedDrive
from webapp.register.products.model_index import Listed, is_near, name_words
from webapp.register.products.part_numbers import AFTER, BEFORE, LONGEST_TEXT, Part
from webapp.register.products.similar_names import KnownDrive, neighbours_of
from webapp.register.tables.sentences import product_name

CONSUMER_WARNING = (
    "Your drive is from a consumer series, and the register has drives for data centres. "
    "Do not apply their speed and endurance to your drive."
)
CONSUMER_SERIES = Path(__file__).with_name("consumer_series.csv")
NEAREST_AT_MOST = 4


class Likeness(TextChoices):
    """The reason why a drive of the register is near to a listed drive, the strongest first."""

    MODEL = "model", "same model"
    LONGER_NAME = "longer-name", "the model name has more words"
    SPELLING = "spelling", "model name differs by one letter"
    NAME = "name", "similar model name"
    MAKER_AND_NAME = "maker-and-name", "same maker, similar model name"
    MAKER = "maker", "same maker, other model"


@dataclass(frozen=True)
class Near:
    """One of the nearest drives, with the reason."""

    listed: Listed
    likeness: Likeness

    @property
    def product(self) -> Product:
        """Return the product of the drive."""
        return self.listed.product


def neighbours(drive: ListedDrive, part: Part | None, candidates: Iterable[Listed]) -> list[Near]:
    """Return the neighbours that the search would find among the candidates, those of the listed capacity first."""
    by_key = {str(each.product.pk): each for each in candidates if each.current_runs}
    known = [KnownDrive(key, each.product.vendor, each.product.model) for key, each in by_key.items()]
    found = neighbours_of([(word,) for word in _searched_words(drive, part)], known)
    rest, similar = (Likeness.MAKER, Likeness.MAKER_AND_NAME) if found.maker else (Likeness.NAME, Likeness.NAME)
    near = [
        Near(by_key[each.key], similar if place < found.similar else rest) for place, each in enumerate(found.drives)
    ]
    return sorted(near, key=lambda each: not has_capacity(drive, each.product))[:NEAREST_AT_MOST]


def _searched_words(drive: ListedDrive, part: Part | None) -> tuple[str, ...]:
    if part and part.model:
        return name_words(part.name)
    number = part.number if part else ""
    # A part number that only identifies the maker resembles other part numbers only by chance.
    text = drive.model.replace("_", " ").upper().replace(number, " ") if number else drive.model
    return name_words(f"{part.vendor if part else ''} {drive.vendor} {CAPACITY.sub(' ', text)}")


def nearest_sentence(drive: ListedDrive, near: Sequence[Near]) -> str:
    """Return the sentences that name the nearest drives, each with the way in which it is near; empty without one."""
    if not near:
        return ""
    same_text = groupby(near, key=partial(_likeness_text, drive))
    named = [f"{', '.join(product_name(each.product) for each in same)} ({text})" for text, same in same_text]
    return f" Nearest in the register: {'; '.join(named)}."


def _likeness_text(drive: ListedDrive, near: Near) -> str:
    if drive.capacity_gb is None or near.product.capacity_gb is None:
        return near.likeness.label
    capacity = "about the same capacity" if has_capacity(drive, near.product) else "other capacity"
    return f"{near.likeness.label}, {capacity}"


def warning(drive: ListedDrive, near: Sequence[Near]) -> str:
    """Return a warning against taking the results of the nearest drives for those of the listed one; may be empty."""
    if not near:
        return ""
    if is_consumer(drive):
        return f" {CONSUMER_WARNING}"
    if drive.capacity_gb is not None and not any(has_capacity(drive, each.product) for each in near):
        return (
            " None of them is known to have the capacity of your drive, and speed and endurance depend on the capacity."
        )
    return ""


def is_consumer(drive: ListedDrive) -> bool:
    """Return whether a model string is of a consumer series, as far as consumer_series.csv lists them.

    >>> is_consumer(ListedDrive("", "Samsung SSD 990 PRO 2TB")), is_consumer(ListedDrive("", "Samsung PM983"))
    (True, False)
    """
    return is_consumer_name(f"{drive.vendor} {drive.model}")


def is_consumer_name(name: str) -> bool:
    """Return whether a name as a person or a tool writes it is of a consumer series.

    >>> is_consumer_name("samsung 990 pro"), is_consumer_name("micron 9100 pro")
    (True, False)
    """
    text = name[:LONGEST_TEXT].upper().replace("_", " ")
    return any(pattern.search(text) for pattern in _consumer_patterns())


@cache
def _consumer_patterns() -> list[re.Pattern[str]]:
    with CONSUMER_SERIES.open(newline="", encoding="utf-8") as file:
        return [re.compile(f"{BEFORE}(?:{row['pattern']}){AFTER}", re.ASCII) for row in csv.DictReader(file)]


def has_capacity(drive: ListedDrive, product: Product) -> bool:
    """Return whether both capacities are known and equal within the rounding of makers and tools."""
    is_known = drive.capacity_gb is not None and product.capacity_gb is not None
    return is_known and is_near(product, drive.capacity_gb, is_rounded=True)
