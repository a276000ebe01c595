"""Claims as pages name them: id, address, stated and recomputed number, outcome, and the claims of one publication.

All claims come from files of the release, so that they are read once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from django.urls import reverse

from results.catalogue.claims import CheckedRow, check_published_claims, published_vendors
from results.catalogue.rows import PublishedSource, published_sources
from results.models.ids import derived_id
from results.rules.plural import counted
from results.rules.ycsb.claim_terms import claim_id
from results.rules.ycsb.claims import OF_TWO
from results.rules.ycsb.statements import Outcome, Status, outcome_of, places_of
from webapp.register.ycsb.gains import span
from webapp.register.ycsb.impossible_results import CheckedResult, impossible_results_of
from webapp.register.ycsb.publications import Publication, publication_of

# The label of a status begins with the words of its outcome, so that rows, counts and filter have the same words.
LABELS: dict[str, str] = {
    Status.REPRODUCES: "confirmed",
    Status.TRUNCATED: "confirmed, truncated",
    Status.ROUNDED_UP: "confirmed, rounded up",
    Status.AS_READ: "read from a chart, consistent",
    Status.AT_POINTS: "read from a chart, too imprecise; values agree",
    Status.NOT_DECIDABLE: "read from a chart, too imprecise; values differ",
    Status.CONTRADICTS: "contradicted",
    Status.IN_WORDS: "cannot be checked, no number",
    Status.CANNOT_BE_CHECKED: "cannot be checked",
}
OUTCOME_LABELS = {
    Outcome.CONTRADICTED: "Contradicted",
    Outcome.CONFIRMED: "Confirmed",
    Outcome.IMPOSSIBLE_INPUT: "One of its inputs cannot be true",
    Outcome.FROM_CHART: "Read from a chart",
    Outcome.UNCHECKED: "Cannot be checked",
}

NO_DOCUMENT = "the register does not have the document"
ONLY_FIGURES = "the register has the figures, but not the document"


@dataclass(frozen=True)
class ClaimEntry:
    """One claim of a publication with the result of its check."""

    row: CheckedRow

    @cached_property
    def claim_id(self) -> str:
        """Return its name in URLs, unique in its publication."""
        return claim_id(self.row.check.claim.claim, self.row.check.claim.workload)

    @cached_property
    def public_id(self) -> str:
        """Return its short id, unique among all claims, which follows from its publication and its name."""
        return derived_id("pc", f"{self.slug}/{self.claim_id}")

    @property
    def slug(self) -> str:
        """Return the name of its publication in URLs."""
        return self.row.check.claim.publication

    @property
    def address(self) -> str:
        """Return the path of its page."""
        return reverse("ycsb-claim", args=[self.slug, self.claim_id])

    @property
    def picture(self) -> str:
        """Return the path of its share image."""
        return reverse("ycsb-claim-picture", args=[self.slug, self.claim_id])

    @property
    def publication(self) -> Publication:
        """Return its publication."""
        return publication_of(self.slug)

    @property
    def source(self) -> PublishedSource:
        """Return what was recorded about the origin of its publication."""
        return published_sources().get(self.slug) or PublishedSource(self.slug, self.publication.title, "", "", "")

    @property
    def status(self) -> Status:
        """Return the status of the exact value."""
        return self.row.check.status

    @property
    def label(self) -> str:
        """Return its status in words; a claim that agrees only with an impossible result has words of its own."""
        is_input_impossible = self.outcome is Outcome.IMPOSSIBLE_INPUT
        return OUTCOME_LABELS[self.outcome].lower() if is_input_impossible else LABELS[self.status]

    @property
    def status_line(self) -> str:
        """Return its status in words, and whether another status follows from an impossible result."""
        is_stated = self.outcome is Outcome.IMPOSSIBLE_INPUT or not self.impossible_results
        return self.label if is_stated else f"{self.label}, but a result that it uses cannot be true"

    @property
    def verdict(self) -> str:
        """Return its status as the sentence of its page, which also says that the arithmetic is right if it is."""
        is_input_impossible = self.outcome is Outcome.IMPOSSIBLE_INPUT
        return f"the arithmetic is right, but {self.label}" if is_input_impossible else self.status_line

    @property
    def outcome(self) -> Outcome:
        """Return the group of its status."""
        return outcome_of(self.status, uses_impossible=bool(self.impossible_results))

    @property
    def is_checkable(self) -> bool:
        """Return whether its publication prints all figures that decide it."""
        return self.outcome not in {Outcome.FROM_CHART, Outcome.UNCHECKED}

    @property
    def is_source_on_file(self) -> bool:
        """Return whether the register has the address at which its publication can be read."""
        return bool(self.source.address)

    @property
    def document_note(self) -> str:
        """Return what the register has of its publication instead of the document; empty if it has the address."""
        if self.is_source_on_file:
            return ""
        return ONLY_FIGURES if self.row.check.basis else NO_DOCUMENT

    @property
    def is_contradicted(self) -> bool:
        """Return whether the figures of its own publication contradict it."""
        return self.outcome is Outcome.CONTRADICTED

    @cached_property
    def impossible_results(self) -> list[CheckedResult]:
        """Return the impossible results whose figures it uses."""
        return impossible_results_of(self.row.check)

    @property
    def workloads(self) -> str:
        """Return its workloads in words; empty if it names none."""
        workload = self.row.check.claim.workload
        return f"workload{'s' if '-' in workload else ''} {workload}" if workload else ""

    @property
    def text(self) -> str:
        """Return the text of the claim with its workloads."""
        return ", ".join(part for part in (self.row.check.claim.claim, self.workloads) if part)

    @property
    def subject(self) -> str:
        """Return who states the claim and about which drive, as titles begin."""
        return f"{self.source.publisher or 'The publication'} on the {self.row.check.claim.device}"

    @property
    def assertion(self) -> str:
        """Return who states what about which drive, with the stated number unless it is a word of the text."""
        if self.is_number or not self.row.check.claim.stated_value.isalpha():
            return f"{self.subject}: {self.stated} {self.text}"
        return f"{self.subject}, {self.text}"

    @property
    def stated(self) -> str:
        """Return the stated number with its unit, and with "~" if it was stated so; a stated word is quoted."""
        claim = self.row.check.claim
        is_word, about = claim.stated_value.isalpha(), "~" if self.row.is_approximate else ""
        return f"“{claim.stated_value}”" if is_word else f"{about}{claim.stated_value} {claim.unit}".rstrip()

    @property
    def remark(self) -> str:
        """Return the note of the file, unless the stated number shows it."""
        return "" if self.row.is_approximate else self.row.note

    @property
    def unit(self) -> str:
        """Return the unit of the recomputed number, which a claim in words does not have."""
        formula, claim = OF_TWO.get(self.row.check.claim.formula), self.row.check.claim
        return claim.unit or (formula[1] if formula else "")

    @property
    def recomputed(self) -> str:
        """Return the number that its figures give, with its unit, or the range that chart readings allow."""
        check = self.row.check
        if check.span:
            return span(check.span, self.unit)
        return f"{check.printed} {self.unit}" if check.printed else ""

    @property
    def is_number(self) -> bool:
        """Return whether the claim states a number."""
        return places_of(self.row.check.claim.stated_value) is not None


def impossible_drives(found: Iterable[CheckedResult]) -> str:
    """Return the drives of impossible results, as exports have them."""
    return ", ".join(dict.fromkeys(each.check.model for each in found))


@cache
def entries() -> tuple[ClaimEntry, ...]:
    """Return all claims, publication by publication."""
    return tuple(ClaimEntry(row) for row in check_published_claims())


@cache
def vendors() -> dict[tuple[str, str], str]:
    """Return the vendor of each drive with figures, by publication and drive."""
    return dict(published_vendors())


def entries_of(publication: str) -> list[ClaimEntry]:
    """Return the claims of a publication."""
    return [entry for entry in entries() if entry.slug == publication]


def entry_of(publication: str, name: str) -> ClaimEntry | None:
    """Return the claim with this id; None if there is none."""
    return next((entry for entry in entries_of(publication) if entry.claim_id == name), None)


@dataclass(frozen=True)
class Headline:
    """What the claims of a publication are worth: one sentence, and the other outcomes."""

    sentence: str
    others: str
    is_contradicted: bool
    uses_impossible: bool


def headline_of(found: Sequence[ClaimEntry]) -> Headline:
    """Return the headline of a publication from its claims. A contradiction comes first, however many claims hold.

    Each other outcome comes with the number of its claims that use an impossible result.
    """
    groups: dict[Outcome, list[ClaimEntry]] = {outcome: [] for outcome in Outcome}
    for entry in found:
        groups[entry.outcome].append(entry)
    wrong, confirmed, total = groups[Outcome.CONTRADICTED], groups[Outcome.CONFIRMED], counted(len(found), "claim")
    others = [Outcome.IMPOSSIBLE_INPUT, Outcome.FROM_CHART, Outcome.UNCHECKED]
    if wrong:
        source = "figures" if any(entry.row.check.span for entry in wrong) else "table"
        verb, whose = ("is", "its") if len(wrong) == 1 else ("are", "their")
        sentence = f"{len(wrong)} of {total} {verb} contradicted by {whose} own {source}"
        others = [Outcome.CONFIRMED, *others]
    elif confirmed:
        verb, whose = ("is", "its") if len(confirmed) == 1 else ("are", "their")
        sentence = f"{len(confirmed)} of {total} {verb} confirmed by {whose} own table"
    else:
        sentence = f"None of {total} can be confirmed from the publication's own figures"
    impossible = _impossible_among(wrong)
    return Headline(
        f"{sentence}; {impossible}." if impossible else f"{sentence}.",
        _others(groups, others),
        is_contradicted=bool(wrong),
        uses_impossible=any(entry.impossible_results for entry in found),
    )


def impossible_words(count: int) -> str:
    """Return how many of some claims use an impossible result; empty if none does."""
    return f"{count} of them use{'s' if count == 1 else ''} a result that cannot be true" if count else ""


def _impossible_among(found: Iterable[ClaimEntry]) -> str:
    return impossible_words(sum(1 for entry in found if entry.impossible_results))


_OTHERS = {
    Outcome.CONFIRMED: ("is confirmed", "are confirmed"),
    Outcome.IMPOSSIBLE_INPUT: (
        "agrees with its own table but uses a result that cannot be true",
        "agree with their own table but use a result that cannot be true",
    ),
    Outcome.FROM_CHART: ("is read from a chart", "are read from a chart"),
    Outcome.UNCHECKED: ("cannot be checked", "cannot be checked"),
}


def _others(groups: Mapping[Outcome, Sequence[ClaimEntry]], outcomes: Iterable[Outcome]) -> str:
    parts = []
    for outcome in outcomes:
        count = len(groups[outcome])
        impossible = "" if outcome is Outcome.IMPOSSIBLE_INPUT else _impossible_among(groups[outcome])
        if count:
            parts.append(f"{count} {_OTHERS[outcome][count != 1]}{f' ({impossible})' if impossible else ''}")
    return f"{', '.join(parts)}." if parts else ""


@dataclass(frozen=True)
class StripGroup:
    """The claims of a publication with the same text, one for each workload."""

    claim: str
    entries: Sequence[ClaimEntry]


def strip_of(found: Iterable[ClaimEntry]) -> list[StripGroup]:
    """Return the claims of a publication in groups, in the order of the file."""
    groups: dict[str, list[ClaimEntry]] = {}
    for entry in found:
        groups.setdefault(entry.row.check.claim.claim, []).append(entry)
    return [StripGroup(claim, same) for claim, same in groups.items()]
