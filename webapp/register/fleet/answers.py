"""What the register says of each drive of a list: certified, other firmware, withdrawn, tested, published, unknown."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.urls import reverse
from django.utils.text import capfirst

from results.models import Certificate, Product
from results.rules.plural import counted
from webapp.register.fleet.drives import ListedDrive, named_size_gb
from webapp.register.fleet.matching import Match, Matcher, matched_sentence, unknown_sentence
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_MARK, VIRTUAL_DEVICE_REASON
from webapp.register.products.model_index import Listed, RegisterIndex, publications_of
from webapp.register.tables.sentences import product_name
from webapp.register.ycsb.publications import publication_of
from webapp.templatetags import units

NAMED_AT_MOST = 4  # products in one sentence


class State(StrEnum):
    """What a drive is to the register, best known first."""

    CERTIFIED = "certified"
    OTHER_FIRMWARE = "other-firmware"
    TESTED = "tested"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"
    UNKNOWN = "unknown"


WORDS = {
    State.CERTIFIED: "certified",
    State.OTHER_FIRMWARE: "other firmware",
    State.TESTED: "tested without a certificate",
    State.PUBLISHED: "as published",
    State.WITHDRAWN: "withdrawn",
    State.UNKNOWN: "unknown",
}
MEANINGS = {
    State.CERTIFIED: "a certificate stands for this model, capacity and firmware; a capacity that is not told is taken "
    "to be the only one here, which is said",
    State.OTHER_FIRMWARE: "a certificate stands, and not for this firmware",
    State.TESTED: "runs with logs stand, and no certificate",
    State.PUBLISHED: "only figures of a publication stand for it, without a log: no certificate",
    State.WITHDRAWN: "what stood for it was withdrawn",
    State.UNKNOWN: "not recognised: the register knows no product by this name or part number, or none of this "
    "capacity; or no run of it was on drives alone; that says nothing of the drive",
}


@dataclass(frozen=True)
class FleetAnswer:
    """The answer for one row of a list; `publications` (of YCSB figures) are slugs."""

    drive: ListedDrive
    state: State
    sentence: str
    products: Sequence[Product]
    is_historical: bool = False
    matched_by: str = ""
    nearest: Sequence[Product] = ()
    publications: Sequence[str] = ()

    @property
    def word(self) -> str:
        """The state as people read it."""
        return WORDS[self.state]

    @property
    def pages(self) -> list[tuple[str, str]]:
        """Where more is told: addresses with the names of drives, and with the titles of publications."""
        drives = [
            (reverse("product", args=[each.slug]), product_name(each)) for each in (*self.products, *self.nearest)
        ]
        return drives + [
            (reverse("ycsb-publication", args=[slug]), publication_of(slug).title) for slug in self.publications
        ]

    @property
    def capacity(self) -> str:
        """The capacity that the list tells, or the model's name."""
        return "" if self.drive.capacity_gb is None else units.capacity(round(self.drive.capacity_gb))


def answers(drives: Iterable[ListedDrive], index: RegisterIndex) -> list[FleetAnswer]:
    """Return an answer for every drive, in the list's order."""
    matcher = Matcher(index)
    sized = [_with_named_size(drive) for drive in drives]
    return [_answer(drive, matcher.match(drive)) for drive in sized]


def _with_named_size(drive: ListedDrive) -> ListedDrive:
    """Return a drive with the capacity that its model's name tells, where the list has none of its own."""
    return drive if drive.capacity_gb is not None else replace(drive, capacity_gb=named_size_gb(drive.model))


def counts(found: Sequence[FleetAnswer]) -> list[tuple[State, str, int, str]]:
    """Return how many drives are in each state, all states told."""
    counted_states: Counter[State] = Counter()
    for each in found:
        counted_states[each.state] += each.drive.count
    return [(state, WORDS[state], counted_states[state], MEANINGS[state]) for state in State]


def _answer(drive: ListedDrive, match: Match) -> FleetAnswer:
    found = match.found
    if not found:
        nearest = [each.product for each in match.nearest]
        publications = publications_of(match.figured)
        sentence = unknown_sentence(drive, match)
        return FleetAnswer(drive, State.UNKNOWN, sentence, (), nearest=nearest, publications=publications)
    sizes = {each.product.capacity_gb for each in found}
    if len(sizes) > 1:
        return _several(drive, found)
    state, sentence = _state(drive, found)
    products = [each.product for each in found]
    sentence += matched_sentence(match) if match.part else _capacity_taken(drive, found[0].product)
    return FleetAnswer(drive, state, sentence, products, any(each.product.historical for each in found), match.by)


def _capacity_taken(drive: ListedDrive, product: Product) -> str:
    if drive.capacity_gb is not None or product.capacity_gb is None:
        return ""
    return f" Capacity not told: the only one here, {units.capacity(product.capacity_gb)}, is taken for it."


def _several(drive: ListedDrive, found: Sequence[Listed]) -> FleetAnswer:
    """Answer for a list that does not tell the capacity: a certificate holds for one capacity, so none is claimed."""
    names = [product_name(each.product) for each in found]
    more = f" and {len(names) - NAMED_AT_MOST} more" if len(names) > NAMED_AT_MOST else ""
    sentence = f"The list does not tell its capacity; the register has {', '.join(names[:NAMED_AT_MOST])}{more}."
    return FleetAnswer(drive, State.UNKNOWN, sentence, [each.product for each in found])


def _state(drive: ListedDrive, found: Sequence[Listed]) -> tuple[State, str]:
    certificates = [certificate for each in found for certificate in each.certificates]
    standing = [each for each in certificates if each.state == Certificate.State.STANDING]
    if standing:
        return _certified(drive, standing)
    withdrawn = [each for each in certificates if each.state == Certificate.State.WITHDRAWN]
    if withdrawn:
        return State.WITHDRAWN, f"Certificate {withdrawn[0].public_id} was withdrawn."
    runs = sum(each.standing_runs for each in found)
    aside = sum(each.runs_on_no_drive for each in found)
    if not runs and aside and not any(each.has_withdrawn for each in found):
        return State.UNKNOWN, f"{counted(aside, 'result')}, {VIRTUAL_DEVICE_MARK}: {VIRTUAL_DEVICE_REASON}."
    if not runs:
        return State.WITHDRAWN, "Its results were withdrawn."
    more = f" {capfirst(VIRTUAL_DEVICE_MARK)}: {aside} more." if aside else ""
    if all(each.is_only_published for each in found if each.standing_runs):
        return State.PUBLISHED, f"{counted(runs, 'result')} as published, without a log; never certified here.{more}"
    return State.TESTED, f"{counted(runs, 'result')}, some with logs; no certificate.{more}"


def _certified(drive: ListedDrive, standing: Sequence[Certificate]) -> tuple[State, str]:
    same = [each for each in standing if each.firmware and each.firmware.casefold() == drive.firmware.casefold()]
    if same:
        best = same[0]
        return State.CERTIFIED, f"Certificate {best.public_id} at {units.nx(best.nx_load)}, firmware {best.firmware}."
    others = ", ".join(dict.fromkeys(each.firmware or "not stated" for each in standing))
    if not drive.firmware:
        return State.OTHER_FIRMWARE, f"Certified with firmware {others}; the list does not tell this drive's."
    return State.OTHER_FIRMWARE, f"Certified with firmware {others}, not {drive.firmware}."
