"""State of each drive of a list: certified, other firmware, tested, published, withdrawn, other capacity or unknown."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import TextChoices
from django.urls import reverse
from django.utils.text import capfirst

from results.models import Certificate, Product
from results.rules.plural import counted
from webapp.register.fleet.listed_drive import ListedDrive, named_size_gb
from webapp.register.fleet.matching import Match, Matcher, matched_sentence, unknown_sentence
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_MARK, VIRTUAL_DEVICE_REASON
from webapp.register.products.model_index import Listed, RegisterIndex, publications_of
from webapp.register.tables.sentences import product_name
from webapp.register.ycsb.publications import publication_of
from webapp.templatetags import units

NAMED_AT_MOST = 4  # products in one sentence


class State(TextChoices):
    """The state of a drive in the register, the strongest first."""

    CERTIFIED = "certified", "certified"
    OTHER_FIRMWARE = "other-firmware", "certified with different firmware"
    TESTED = "tested", "tested without a certificate"
    PUBLISHED = "published", "as published"
    WITHDRAWN = "withdrawn", "withdrawn"
    OTHER_CAPACITY = "other-capacity", "known, other capacity"
    UNKNOWN = "unknown", "unknown"


MEANINGS = {
    State.CERTIFIED: "This model has a current certificate for this capacity and firmware. If the list has no capacity "
    "for a drive and the register has only one capacity of the model, this capacity is assumed.",
    State.OTHER_FIRMWARE: "This model has a current certificate for this capacity, but with another firmware.",
    State.TESTED: "The register has logs of tests of this drive, but no certificate.",
    State.PUBLISHED: "The register has only figures that a publication states, without a log or a certificate.",
    State.WITHDRAWN: "The certificate of the drive was withdrawn, or all its results were.",
    State.OTHER_CAPACITY: "The register has this model, but not in this capacity. A result or a certificate is for one "
    "capacity only; the nearest capacity is linked.",
    State.UNKNOWN: "The register does not have this model or part number. The state unknown does not mean that the "
    "drive is bad.",
}


# The state of a drive that the register knows is also "unknown" in files: their codes do not change.
NO_RESULT, NO_CAPACITY = "known, no result", "known, capacity missing"
WORDS = {
    **{str(state.label): MEANINGS[state] for state in State if state != State.UNKNOWN},
    NO_RESULT: "The register has this model, but no current ACT result, or only runs on virtual devices.",
    NO_CAPACITY: "The register has this model in several capacities, and the list has no capacity for the drive.",
    str(State.UNKNOWN.label): MEANINGS[State.UNKNOWN],
}


class NextStep(TextChoices):
    """What the reader of an answer can do next, after links to the products that it names."""

    VIEW = "view-results", ""
    TEST_FIRMWARE = "test-firmware", "Test this firmware and submit the log."
    VIEW_REASON = "view-reason", "Read there why it was withdrawn."
    CHOOSE = "name-capacity", "Add the capacity of the drive to the list."
    NEAREST = "view-nearest", "Or test this drive and submit the log."
    SUBMIT = "submit", "Test this drive and submit the log."
    NAME = "name-model", "Send the model: run nvme list, lsblk -o NAME,MODEL,SIZE,REV, or smartctl -i on the device."


STEPS = {
    State.CERTIFIED: NextStep.VIEW,
    State.OTHER_FIRMWARE: NextStep.TEST_FIRMWARE,
    State.TESTED: NextStep.VIEW,
    State.PUBLISHED: NextStep.VIEW,
    State.WITHDRAWN: NextStep.VIEW_REASON,
    State.OTHER_CAPACITY: NextStep.NEAREST,
}
TO_SUBMIT = {NextStep.TEST_FIRMWARE, NextStep.NEAREST, NextStep.SUBMIT}


@dataclass(frozen=True)
class FleetAnswer:
    """The answer for one row of a list; `publications` are slugs of publications with YCSB figures."""

    drive: ListedDrive
    state: State
    sentence: str
    products: Sequence[Product]
    is_historical: bool = False
    matched_by: str = ""
    nearest: Sequence[Product] = ()
    publications: Sequence[str] = ()

    @property
    def pages(self) -> list[tuple[str, str]]:
        """Return links to details: URLs with the names of drives, and with the titles of publications."""
        drives = [(reverse("product", args=[one.slug]), product_name(one)) for one in (*self.products, *self.nearest)]
        return drives + [
            (reverse("ycsb-publication", args=[slug]), publication_of(slug).title) for slug in self.publications
        ]

    @property
    def next_step(self) -> NextStep:
        """Return what to do next about this drive."""
        if self.state in STEPS:
            return STEPS[self.state]
        if not self.drive.model:
            return NextStep.NAME
        if len(self.products) > 1:
            return NextStep.CHOOSE
        return NextStep.NEAREST if self.nearest else NextStep.SUBMIT

    @property
    def word(self) -> str:
        """Return the state in words, which also tell a drive that the register knows from one that it does not."""
        if self.state != State.UNKNOWN or not self.products:
            return str(self.state.label)
        return NO_CAPACITY if len({product.capacity_gb for product in self.products}) > 1 else NO_RESULT

    @property
    def is_to_submit(self) -> bool:
        """Return whether the next step can be to submit a log."""
        return self.next_step in TO_SUBMIT

    @property
    def capacity(self) -> str:
        """Return the capacity from the list or from the model's name."""
        return "" if self.drive.capacity_gb is None else units.capacity(round(self.drive.capacity_gb))


def answers(drives: Iterable[ListedDrive], index: RegisterIndex) -> list[FleetAnswer]:
    """Return an answer for every drive, in the list's order."""
    matcher = Matcher(index)
    # The capacity in its model's name counts if the list has none.
    sized = (
        drive if drive.capacity_gb is not None else replace(drive, capacity_gb=named_size_gb(drive.model))
        for drive in drives
    )
    return [_answer(drive, matcher.match(drive)) for drive in sized]


def counts(found: Sequence[FleetAnswer]) -> dict[str, int]:
    """Return the number of drives by the code of each state, including states without drives."""
    counted_states: Counter[State] = Counter()
    for each in found:
        counted_states[each.state] += each.drive.count
    return {state.value: counted_states[state] for state in State}


def counts_by_word(found: Sequence[FleetAnswer]) -> list[tuple[str, int]]:
    """Return the number of drives for each word of a state that occurs, in the order of the states."""
    counted_words: Counter[str] = Counter()
    for each in found:
        counted_words[each.word] += each.drive.count
    return [(word, counted_words[word]) for word in WORDS if counted_words[word]]


def _answer(drive: ListedDrive, match: Match) -> FleetAnswer:
    found = match.found
    if not found:
        return _not_found(drive, match)
    products = [each.product for each in found]
    if len({product.capacity_gb for product in products}) > 1:
        return _several(drive, products)
    state, sentence = _state(drive, found)
    sentence += matched_sentence(match) if match.part else _capacity_taken(drive, products[0])
    return FleetAnswer(drive, state, sentence, products, any(product.historical for product in products), match.by)


def _not_found(drive: ListedDrive, match: Match) -> FleetAnswer:
    state, sentence = State.UNKNOWN, unknown_sentence(drive, match)
    if match.is_other_capacity:
        first = match.nearest[0]
        nearest = FleetAnswer(drive, _state(drive, [first.listed])[0], "", [first.product])
        state, sentence = State.OTHER_CAPACITY, f"{sentence} State of {product_name(first.product)}: {nearest.word}."
    publications = publications_of(match.figured)
    products = [each.product for each in match.nearest]
    return FleetAnswer(drive, state, sentence, (), nearest=products, publications=publications)


def _capacity_taken(drive: ListedDrive, product: Product) -> str:
    if drive.capacity_gb is not None or product.capacity_gb is None:
        return ""
    return (
        f" The list has no capacity; {units.capacity(product.capacity_gb)}, the only one in the register, is assumed."
    )


def _several(drive: ListedDrive, products: Sequence[Product]) -> FleetAnswer:
    """Return the answer for a drive without a capacity: a certificate is for one capacity, so none is claimed."""
    names = [product_name(product) for product in products]
    more = f" and {len(names) - NAMED_AT_MOST} more" if len(names) > NAMED_AT_MOST else ""
    sentence = f"The list has no capacity for this drive; the register has {', '.join(names[:NAMED_AT_MOST])}{more}."
    return FleetAnswer(drive, State.UNKNOWN, sentence, products)


def _state(drive: ListedDrive, found: Sequence[Listed]) -> tuple[State, str]:
    certificates = [certificate for each in found for certificate in each.certificates]
    current = [each for each in certificates if each.state == Certificate.State.STANDING]
    if current:
        return _certified(drive, current)
    withdrawn = [each for each in certificates if each.state == Certificate.State.WITHDRAWN]
    if withdrawn:
        return State.WITHDRAWN, f"Certificate {withdrawn[0].public_id} was withdrawn."
    runs = sum(each.current_runs for each in found)
    virtual = sum(each.virtual_runs for each in found)
    if not runs:
        return _without_current_runs(found, virtual)
    more = f" {capfirst(VIRTUAL_DEVICE_MARK)}: {virtual} more." if virtual else ""
    results = counted(runs, "result")
    if all(each.is_only_published for each in found if each.current_runs):
        return (
            State.PUBLISHED,
            f"The drive has {results} from publications, without a log and without a certificate.{more}",
        )
    return State.TESTED, f"The drive has {results}, some with logs, but no certificate.{more}"


def _without_current_runs(found: Iterable[Listed], virtual: int) -> tuple[State, str]:
    if any(each.has_withdrawn for each in found):
        return State.WITHDRAWN, "The results of this drive were withdrawn."
    if virtual:
        return State.UNKNOWN, f"{counted(virtual, 'result')}, {VIRTUAL_DEVICE_MARK}: {VIRTUAL_DEVICE_REASON}."
    return State.UNKNOWN, "The register has no current ACT result of this drive."


def _certified(drive: ListedDrive, current: Sequence[Certificate]) -> tuple[State, str]:
    same = [each for each in current if each.firmware and each.firmware.casefold() == drive.firmware.casefold()]
    if same:
        best = same[0]
        return State.CERTIFIED, f"Certificate {best.public_id} at {units.nx(best.nx_load)}, firmware {best.firmware}."
    others = ", ".join(dict.fromkeys(each.firmware or "not reported" for each in current))
    if not drive.firmware:
        return State.OTHER_FIRMWARE, f"Certified with firmware {others}; the list has no firmware for this drive."
    return State.OTHER_FIRMWARE, f"Certified with firmware {others}, not {drive.firmware}."
