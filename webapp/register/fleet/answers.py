"""What the register says of each drive of a list: certified, other firmware, withdrawn, tested, published, unknown."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from results.models import Certificate, Product
from results.rules.words import counted
from webapp.register.fleet.drives import ListedDrive
from webapp.register.fleet.register_index import Listed, RegisterIndex
from webapp.register.sentences import product_name
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
    State.UNKNOWN: "no product of the register has this model and capacity",
}


@dataclass(frozen=True)
class FleetAnswer:
    """The answer for one drive; `products` are slugs."""

    drive: ListedDrive
    state: State
    sentence: str
    products: Sequence[str]
    is_historical: bool = False

    @property
    def word(self) -> str:
        """The state as people read it."""
        return WORDS[self.state]

    @property
    def capacity(self) -> str:
        """The capacity that the list tells."""
        return "" if self.drive.capacity_gb is None else units.capacity(round(self.drive.capacity_gb))


def answers(drives: Iterable[ListedDrive], index: RegisterIndex) -> list[FleetAnswer]:
    """Return an answer for every drive, in the list's order."""
    return [_answer(drive, index) for drive in drives]


def counts(found: Sequence[FleetAnswer]) -> list[tuple[State, str, int, str]]:
    """Return how many drives are in each state, all states told."""
    counted_states = Counter(each.state for each in found)
    return [(state, WORDS[state], counted_states[state], MEANINGS[state]) for state in State]


def _answer(drive: ListedDrive, index: RegisterIndex) -> FleetAnswer:
    found = index.find(drive.vendor, drive.model, drive.capacity_gb, is_rounded=drive.capacity_is_rounded)
    if not found:
        return FleetAnswer(drive, State.UNKNOWN, _unknown(drive), ())
    sizes = {each.product.capacity_gb for each in found}
    if len(sizes) > 1:
        return _several(drive, found)
    state, sentence = _state(drive, found)
    slugs = [each.product.slug for each in found]
    sentence += _capacity_taken(drive, found[0].product)
    return FleetAnswer(drive, state, sentence, slugs, any(each.product.historical for each in found))


def _capacity_taken(drive: ListedDrive, product: Product) -> str:
    if drive.capacity_gb is not None or product.capacity_gb is None:
        return ""
    return f" Capacity not told: the only one here, {units.capacity(product.capacity_gb)}, is taken for it."


def _unknown(drive: ListedDrive) -> str:
    if not drive.model:
        return "The list does not tell its model."
    return "No product of the register has this model and capacity."


def _several(drive: ListedDrive, found: Sequence[Listed]) -> FleetAnswer:
    """Answer for a list that does not tell the capacity: a certificate holds for one capacity, so none is claimed."""
    names = [product_name(each.product) for each in found]
    more = f" and {len(names) - NAMED_AT_MOST} more" if len(names) > NAMED_AT_MOST else ""
    sentence = f"The list does not tell its capacity; the register has {', '.join(names[:NAMED_AT_MOST])}{more}."
    return FleetAnswer(drive, State.UNKNOWN, sentence, [each.product.slug for each in found])


def _state(drive: ListedDrive, found: Sequence[Listed]) -> tuple[State, str]:
    certificates = [certificate for each in found for certificate in each.certificates]
    standing = [each for each in certificates if each.state == Certificate.State.STANDING]
    if standing:
        return _certified(drive, standing)
    withdrawn = [each for each in certificates if each.state == Certificate.State.WITHDRAWN]
    if withdrawn:
        return State.WITHDRAWN, f"Certificate {withdrawn[0].public_id} was withdrawn."
    runs = sum(each.standing_runs for each in found)
    if not runs:
        return State.WITHDRAWN, "Its results were withdrawn."
    if all(each.is_only_published for each in found if each.standing_runs):
        return State.PUBLISHED, f"{counted(runs, 'result')} as published, without a log; never certified here."
    return State.TESTED, f"{counted(runs, 'result')}, some with logs; no certificate."


def _certified(drive: ListedDrive, standing: Sequence[Certificate]) -> tuple[State, str]:
    same = [each for each in standing if each.firmware and each.firmware.casefold() == drive.firmware.casefold()]
    if same:
        best = same[0]
        return State.CERTIFIED, f"Certificate {best.public_id} at {units.nx(best.nx_load)}, firmware {best.firmware}."
    others = ", ".join(dict.fromkeys(each.firmware or "not stated" for each in standing))
    if not drive.firmware:
        return State.OTHER_FIRMWARE, f"Certified with firmware {others}; the list does not tell this drive's."
    return State.OTHER_FIRMWARE, f"Certified with firmware {others}, not {drive.firmware}."
