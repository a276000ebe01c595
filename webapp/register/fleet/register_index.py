"""The register's products as a fleet check asks for them: by the words of a model number, with what stands for each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from results.models import Certificate, Product, Run, Tier

WORD = re.compile(r"[a-z0-9]+")
# Words of a model number that name the maker: they tell nothing of the model.
MAKERS = {"wd": "western digital", "wdc": "western digital", "hgst": "western digital", "sk": "sk hynix"}
CAPACITY_OFF_PCT = 3  # makers round: 3,200 GB are sold as 3.2 TB
ROUNDED_OFF_PCT = 8  # lsblk prints two digits
SHORTEST_NAME = 3  # a model of two letters is found in anything


@dataclass
class Listed:
    """One product with its certificates and the kinds of its runs that stand: neither withdrawn nor superseded."""

    product: Product
    certificates: list[Certificate] = field(default_factory=list)
    tiers: set[str] = field(default_factory=set)
    standing_runs: int = 0

    @property
    def is_only_published(self) -> bool:
        """Whether all that stands for it are figures of a publication."""
        return self.tiers == {Tier.PUBLISHED}


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case.

    >>> words_of("INTEL SSDPE2KE016T8"), words_of("DC SN861")
    (('intel', 'ssdpe2ke016t8'), ('dc', 'sn861'))
    """
    return tuple(WORD.findall(text.casefold()))


class RegisterIndex:
    """Public products by part number and by the words of their model."""

    def __init__(self, listed: Iterable[Listed]) -> None:
        self.by_part: dict[tuple[str, ...], list[Listed]] = {}
        self.by_model: dict[tuple[str, ...], list[Listed]] = {}
        for each in listed:
            if part := words_of(each.product.part_number):
                self.by_part.setdefault(part, []).append(each)
            for name in {words_of(each.product.model), _without_family(words_of(each.product.model))}:
                if sum(map(len, name)) >= SHORTEST_NAME and any(map(_has_digit, name)):
                    self.by_model.setdefault(name, []).append(each)
        self.makers = {
            word for same in self.by_model.values() for each in same for word in _makers(words_of(each.product.vendor))
        }
        self.longest = max((len(name) for name in (*self.by_part, *self.by_model)), default=0)

    def find(self, vendor: str, model: str, capacity_gb: float | None, *, is_rounded: bool) -> list[Listed]:
        """Return the products that a model number can mean: by part number, else by the longest run of model words.

        With a capacity only those of that size; without, all of the model.
        """
        words = words_of(model)
        fitting = [each for each in self._named(words) if _is_size(each.product, capacity_gb, is_rounded=is_rounded)]
        by_size = _nearest(fitting, capacity_gb)
        makers = _makers(words_of(vendor) + words)
        same_maker = [each for each in by_size if _makers(words_of(each.product.vendor)) & makers]
        return same_maker or ([] if _names_a_maker(makers, self) else by_size)

    def _named(self, words: tuple[str, ...]) -> list[Listed]:
        for length in range(min(self.longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                part = words[start : start + length]
                if found := self.by_part.get(part) or self.by_model.get(part):
                    return found
        return []


def _names_a_maker(makers: set[str], index: RegisterIndex) -> bool:
    """Whether a list names a maker at all, so that a product of another maker with that model name is none of it."""
    return bool(makers & index.makers)


def _makers(words: tuple[str, ...]) -> set[str]:
    return {part for word in words for part in MAKERS.get(word, word).split()}


def _without_family(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a model's words without those before the first that has a digit: "DC SN861" is called SN861, too."""
    at = next((place for place, word in enumerate(words) if _has_digit(word)), 0)
    return words[at:]


def _has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def _is_size(product: Product, capacity_gb: float | None, *, is_rounded: bool) -> bool:
    if capacity_gb is None or product.capacity_gb is None:
        return True
    allowed = ROUNDED_OFF_PCT if is_rounded else CAPACITY_OFF_PCT
    return abs(capacity_gb - product.capacity_gb) * 100 <= allowed * product.capacity_gb


def _nearest(found: list[Listed], capacity_gb: float | None) -> list[Listed]:
    """Return those of the nearest capacity, where one is told: a register may have 1,900 and 1,920 GB of one model."""
    known = [each.product.capacity_gb for each in found if each.product.capacity_gb is not None]
    if capacity_gb is None or not known:
        return found
    nearest = min(known, key=lambda gigabytes: abs(gigabytes - capacity_gb))
    return [each for each in found if each.product.capacity_gb == nearest]


def register_index() -> RegisterIndex:
    """Return the index, in three queries whatever the number of products."""
    listed = {product.pk: Listed(product) for product in Product.objects.public().order_by("pk")}
    for certificate in Certificate.objects.order_by("-nx_load", "pk").defer("document"):
        if certificate.product_id in listed:
            listed[certificate.product_id].certificates.append(certificate)
    runs = Run.objects.standing().rated().values_list("product_id", "tier")  # of a drive, not of a database
    for product_id, tier in runs:
        if each := listed.get(product_id or 0):
            each.standing_runs += 1
            each.tiers.add(tier)
    return RegisterIndex(listed.values())
