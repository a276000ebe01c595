"""Index of the register's products by part number and by the words of a model, with the current results of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from results.models import Certificate, Product, PublishedFigure, Run, Tier, Visibility
from results.rules.capacity import TOLERANCE_PCT
from webapp.register.http.query_params import words_of
from webapp.register.products.name_search import SHORTEST_CORRECTED
from webapp.register.tables.other_names import MAKERS

UNNAMED = "Other"  # the maker of drives that a publication does not name
WORDS_AT_MOST = 24  # in a model string; the longest model numbers have eight
ROUNDED_OFF_PCT = 8  # lsblk prints two digits
SHORTEST_NAME = 3  # a model of two letters would match almost any text


@dataclass(frozen=True)
class Figured:
    """One drive of one publication; `publication` is its slug."""

    vendor: str
    model: str
    publication: str

    @property
    def name(self) -> str:
        """Return maker and model as one text."""
        return f"{self.vendor} {self.model}"


def figured_drives() -> list[Figured]:
    """Return the drives with published YCSB figures, once for each publication."""
    named = PublishedFigure.objects.exclude(vendor=UNNAMED).order_by("publication", "vendor", "model")
    return [Figured(*values) for values in named.values_list("vendor", "model", "publication").distinct()]


def figured_sentence(figured: Iterable[Figured]) -> str:
    """Return a sentence with the drives that have published YCSB figures; empty if there are none."""
    names = list(dict.fromkeys(each.name for each in figured))
    return f" Published YCSB figures (through a database) exist for {', '.join(names)}." if names else ""


def publications_of(figured: Iterable[Figured]) -> Sequence[str]:
    """Return the slugs of the publications, each once."""
    return tuple(dict.fromkeys(each.publication for each in figured))


@dataclass
class Listed:
    """One product with its certificates and its current runs, which are neither withdrawn nor superseded.

    `virtual_runs` are current runs on virtual devices; they are no evidence about the product and are not counted
    elsewhere. `has_withdrawn`: one of its runs on real drives was withdrawn.
    """

    product: Product
    certificates: list[Certificate] = field(default_factory=list)
    tiers: set[str] = field(default_factory=set)
    current_runs: int = 0
    virtual_runs: int = 0
    has_withdrawn: bool = False

    @property
    def is_only_published(self) -> bool:
        """Return whether all its current results come from publications."""
        return self.tiers == {Tier.PUBLISHED}


def name_words(text: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, at most WORDS_AT_MOST.

    >>> name_words("INTEL SSDPE2KE016T8"), name_words("DC SN861")
    (('intel', 'ssdpe2ke016t8'), ('dc', 'sn861'))
    """
    return tuple(words_of(text)[:WORDS_AT_MOST])


def is_distinctive(word: str) -> bool:
    """Return whether a word can identify a model: it has a digit, and is long enough for a typing error."""
    return len(word) >= SHORTEST_CORRECTED and _has_digit(word)


class RegisterIndex:
    """Public products by part number and by the words of their model, and drives with published YCSB figures."""

    def __init__(self, listed: Iterable[Listed], figured: Iterable[Figured] = ()) -> None:
        self.listed = list(listed)
        self.figured = [(_makers(name_words(each.vendor)), _numbers(name_words(each.model)), each) for each in figured]
        self.by_part: dict[tuple[str, ...], list[Listed]] = {}
        self.by_model: dict[tuple[str, ...], list[Listed]] = {}
        self.by_bare_name: dict[tuple[str, ...], list[Listed]] = {}  # a model without a digit can be any word
        for each in self.listed:
            for number in (each.product.part_number, *each.product.part_numbers):
                if part := name_words(number):
                    self.by_part.setdefault(part, []).append(each)
            for name in {name_words(each.product.model), _without_family(name_words(each.product.model))}:
                if sum(map(len, name)) >= SHORTEST_NAME:
                    named = self.by_model if any(map(_has_digit, name)) else self.by_bare_name
                    named.setdefault(name, []).append(each)
        vendors = {each.product.vendor for same in self.by_model.values() for each in same}
        self.makers = {word for vendor in vendors for word in _makers(name_words(vendor))}
        self.longest = max((len(name) for name in (*self.by_part, *self.by_model, *self.by_bare_name)), default=0)

    @cached_property
    def by_vendor(self) -> dict[str, list[Listed]]:
        """Return the products of each maker, by its name in lower case."""
        found: dict[str, list[Listed]] = {}
        for each in self.listed:
            found.setdefault(each.product.vendor.casefold(), []).append(each)
        return found

    @cached_property
    def vendors(self) -> list[tuple[str, set[str]]]:
        """Return the keys of `by_vendor`, each with the words of the name."""
        named = [(vendor, _makers(name_words(vendor))) for vendor in self.by_vendor]
        return [(vendor, words) for vendor, words in named if words]

    @cached_property
    def by_word(self) -> dict[str, list[tuple[str, ...]]]:
        """Return the names of models by each of their distinctive words."""
        found: dict[str, list[tuple[str, ...]]] = {}
        for name in self.by_model:
            for word in filter(is_distinctive, name):
                found.setdefault(word, []).append(name)
        return found

    def find(self, vendor: str, model: str, capacity_gb: float | None, *, is_rounded: bool) -> list[Listed]:
        """Return the products that match a model number, by part number, otherwise by the longest run of model words.

        With a capacity, only products of that size match; without, all capacities of the model. A model without a
        digit matches only if the maker is named as well.
        """
        words = name_words(model)
        makers = _makers(name_words(vendor) + words)
        named = self._named(words, self.by_part, self.by_model) or [
            each for each in self._named(words, self.by_bare_name) if _makers(name_words(each.product.vendor)) <= makers
        ]
        fitting = [each for each in named if is_near(each.product, capacity_gb, is_rounded=is_rounded)]
        by_size = _nearest(fitting, capacity_gb)
        same_maker = [each for each in by_size if _makers(name_words(each.product.vendor)) & makers]
        # If a list names a known maker, products of another maker with that model name do not match.
        return same_maker or ([] if makers & self.makers else by_size)

    def named_vendors(self, vendor: str, model: str) -> list[str]:
        """Return the keys of `by_vendor` for the makers that a list names in full."""
        named = _makers(name_words(vendor) + name_words(model))
        return [maker for maker, words in self.vendors if words <= named]

    def figured_as(self, vendor: str, model: str) -> list[Figured]:
        """Return drives with YCSB figures of the same maker and number: a 7450 MAX is similar to a 7450 PRO."""
        words = name_words(vendor) + name_words(model)
        makers = _makers(words)
        return [each for maker, numbers, each in self.figured if maker <= makers and not numbers.isdisjoint(words)]

    def knows_part(self, model: str) -> bool:
        """Return whether a model string has the part number of a product of the register."""
        words = name_words(model)
        ends = range(1, len(words) + 1)
        return any(words[start:end] in self.by_part for end in ends for start in range(max(0, end - self.longest), end))

    def _named(self, words: tuple[str, ...], *names: Mapping[tuple[str, ...], list[Listed]]) -> list[Listed]:
        for length in range(min(self.longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                part = words[start : start + length]
                if found := next((known[part] for known in names if part in known), None):
                    return found
        return []


def _makers(words: tuple[str, ...]) -> set[str]:
    return {part for word in words for part in MAKERS.get(word, word).split()}


def _numbers(words: tuple[str, ...]) -> set[str]:
    """Return the words with the number of a model: 7450, X100, FL6."""
    return {word for word in words if len(word) >= SHORTEST_NAME and _has_digit(word)}


def _without_family(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a model's words from the first word with a digit on: "DC SN861" is also called SN861."""
    at = next((place for place, word in enumerate(words) if _has_digit(word)), 0)
    return words[at:]


def _has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def is_near(product: Product, capacity_gb: float | None, *, is_rounded: bool) -> bool:
    """Return whether a product has a capacity, within the rounding of makers and lsblk; True if either is unknown."""
    if capacity_gb is None or product.capacity_gb is None:
        return True
    allowed = ROUNDED_OFF_PCT if is_rounded else TOLERANCE_PCT
    return abs(capacity_gb - product.capacity_gb) * 100 <= allowed * product.capacity_gb


def _nearest(found: list[Listed], capacity_gb: float | None) -> list[Listed]:
    """Return the products with the nearest capacity: a register may have 1,900 and 1,920 GB of one model."""
    known = [each.product.capacity_gb for each in found if each.product.capacity_gb is not None]
    if capacity_gb is None or not known:
        return found
    nearest = min(known, key=lambda gigabytes: abs(gigabytes - capacity_gb))
    return [each for each in found if each.product.capacity_gb == nearest]


def register_index() -> RegisterIndex:
    """Return the index, in five queries for any number of products."""
    listed = {product.pk: Listed(product) for product in Product.objects.public().order_by("pk")}
    for certificate in Certificate.objects.order_by("-nx_load", "pk").defer("document"):
        if certificate.product_id in listed:
            listed[certificate.product_id].certificates.append(certificate)
    runs = Run.objects.listed().rated().values_list("product_id", "tier", "is_on_no_drive")  # without YCSB runs
    for product_id, tier, is_on_no_drive in runs:
        if each := listed.get(product_id or 0):
            if is_on_no_drive:
                each.virtual_runs += 1
                continue
            each.current_runs += 1
            each.tiers.add(tier)
    withdrawn = Run.objects.public().rated().on_drives().filter(visibility=Visibility.WITHDRAWN)
    for product_id in withdrawn.values_list("product_id", flat=True).distinct():
        if each := listed.get(product_id or 0):
            each.has_withdrawn = True
    return RegisterIndex(listed.values(), figured_drives())
