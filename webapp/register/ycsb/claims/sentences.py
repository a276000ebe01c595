"""Sentences of a claim: statement, recomputation, formula, favoured side, other computations, and citation."""

import math
from fractions import Fraction

from django.utils.text import capfirst

from results.rules.plural import counted, listed
from results.rules.ycsb import claim_terms
from results.rules.ycsb.claim_analysis import Alternative, Computation, Favoured, Side, alternatives, favoured
from results.rules.ycsb.claims import AT_A_FIXED, MEAN_OF_GAINS, PEAKS, Basis
from results.rules.ycsb.gains import Better, better
from results.rules.ycsb.statements import Outcome, Status, Taken, places_of, printed
from webapp.register.ycsb.claims.entries import LABELS, NO_DOCUMENT, ClaimEntry, vendors
from webapp.register.ycsb.gains import digits
from webapp.register.ycsb.impossible_results import CheckedResult
from webapp.register.ycsb.publications import metric_words

MEANINGS = {
    Status.REPRODUCES: "The publication's own figures give the claimed number, correctly rounded.",
    Status.TRUNCATED: "The publication cut off the decimals of the claimed number, for example from 29.9 to 29.",
    Status.ROUNDED_UP: "The publication rounded the claimed number up, although the lower number is nearer.",
    Status.AS_READ: "The figures were read from a chart, to one digit; the claimed number is in their range.",
    Status.AT_POINTS: "The chart is too imprecise to check the claim, but its values give the claimed number.",
    Status.NOT_DECIDABLE: "The chart is too imprecise to check the claim; its values give another number.",
    Status.CONTRADICTS: "The publication's own figures give another number than the claimed one.",
    Status.IN_WORDS: "The claim has no number. The register shows the number that the figures give.",
    Status.CANNOT_BE_CHECKED: "The publication does not print the figures from which the claim was computed.",
}

IMPOSSIBLE_INPUT_MEANING = "The figures give the claimed number, but one of their results cannot be true."
EQUAL_NUMBERS = "An equal number does not prove that the publication computed the claim in this way."
# Without line breaks, so that a formula is read in one line as far as possible.
LESS_1, DIVIDED_BY = "\N{NO-BREAK SPACE}-\N{NO-BREAK SPACE}1", "\N{NO-BREAK SPACE}÷\N{NO-BREAK SPACE}"


def title(entry: ClaimEntry) -> str:
    """Return the title of a claim's page: who states what about which drive, and what the figures give."""
    return f"{entry.assertion}. {result(entry)}"


def result(entry: ClaimEntry) -> str:
    """Return what the figures of a claim give, and whether that confirms it."""
    if entry.recomputed and entry.impossible_results and not entry.row.check.span:
        return f"{gives(entry)[:-1]}, from a result that cannot be true."
    if entry.outcome is Outcome.CONFIRMED and entry.recomputed:
        return f"{gives(entry)[:-1]}: {LABELS[entry.status]}."
    return gives(entry)


def gives(entry: ClaimEntry) -> str:
    """Return what the figures of a claim give, without the outcome, for places that name it."""
    if entry.row.check.span:
        return f"Its own chart allows {entry.recomputed}."
    return f"Its own table gives {entry.recomputed}." if entry.recomputed else "Its figures are not published."


def impossible_sentences(entry: ClaimEntry) -> list[str]:
    """Return a sentence on each impossible result whose figures the claim uses."""
    return [
        f"The claim uses a result that cannot be true: the throughput and the mean latency of the {each.check.model}, "
        f"workload {each.check.workload}, contradict each other: they mean {each.in_flight} requests at "
        f"once, but {each.check.law.threads} threads can have at most one each, so {each.excess_pct} % more than "
        f"possible. {whom_it_favours(entry, each)}"
        for each in entry.impossible_results
    ]


def whom_it_favours(entry: ClaimEntry, found: CheckedResult) -> str:
    """Return whose drive has an impossible result of a claim, and whom each of its two figures can favour.

    More requests at once than threads mean that the throughput or a mean latency is too high. A throughput that is
    too high favours the drive itself; a mean latency that is too high favours the other drive.
    """
    claim, model, publisher = entry.row.check.claim, found.check.model, entry.source.publisher or "the publication"
    other = claim.against if model == claim.device else claim.device
    own_maker, other_maker = _makers(entry)
    if model == claim.device:
        whose = f"the drive that {publisher} praises"
    elif own_maker and other_maker and own_maker != other_maker:
        whose = f"the competitor's drive in the publication of {publisher}"
    else:
        whose = f"the drive with which {publisher} compares the {other}"
    return (
        f"The {model} is {whose}. At least one of the two figures is too high: the throughput, which "
        f"favours the {model}, or the mean latency, which favours the {other}."
    )


def statement(entry: ClaimEntry) -> str:
    """Return what the title does not say: by how much a contradicted claim is wrong, or what the status means."""
    check, found = entry.row.check, favoured(entry.row.check)
    if not entry.is_contradicted or found.side not in {Side.DEVICE, Side.AGAINST}:
        claim = check.claim
        return f"The claim compares the {claim.device} with the {claim.against}. {MEANINGS[entry.status]}"
    gives = "The mean of its table is" if check.claim.formula == MEAN_OF_GAINS else "Its figures give"
    return (
        f"{gives} {entry.recomputed}, so the claim is {_too_far(entry, found)}. That {_favoured_words(entry, found)}."
    )


def recomputed_note(entry: ClaimEntry) -> str:
    """Return the exact value with its roundings, or the reason why there is none."""
    check = entry.row.check
    places = places_of(check.claim.stated_value)
    if check.reason:
        return missing_figures(entry)
    if check.span or len(check.values) > 1 or places is None:
        return ""
    (value,) = check.values
    scaled = value * 10**places
    rounded, cut = (printed(Fraction(number, 10**places), places) for number in (round(scaled), math.trunc(scaled)))
    if printed(value, places) == digits(value):
        return "exactly this number"
    return f"exactly {printed(value, places + 2)}; rounds to {rounded}, cut off to {cut}"


def missing_figures(entry: ClaimEntry) -> str:
    """Return why the claim could not be recomputed; empty if it was."""
    reason = entry.row.check.reason
    return reason.sentence(metric_words) if reason else ""


def favours(entry: ClaimEntry) -> str:
    """Return whether the difference of the stated number favours the publisher or its competitor, and its size."""
    check, found = entry.row.check, favoured(entry.row.check)
    unknown = "has no number" if check.values else "cannot be recomputed"
    unfavoured = {
        Side.NEITHER: "Favours neither side: rounding explains the difference.",
        Side.UNDECIDED: "Favoured side not decided: the chart is not precise enough.",
        Side.UNKNOWN: f"Favoured side not known: the claim {unknown}.",
    }
    return unfavoured.get(found.side) or f"Stated {_too_far(entry, found)}: {_favoured_words(entry, found)}."


def source_sentences(entry: ClaimEntry) -> str:
    """Return where a reader gets the publication of a contradicted claim, and what the register copied from it.

    Empty if the register has its address, and for other claims.
    """
    if entry.is_source_on_file or not entry.is_contradicted:
        return ""
    source = entry.source
    printed_title = (
        f"“{source.printed_title}”" if source.printed_title else f"{source.title} (its own title is not recorded)"
    )
    date = f"dated {source.published_on}" if source.published_on else "date not recorded"
    rows = [row for basis in entry.row.check.basis for row in basis.rows]
    figures = sum(side is not None for row in rows for side in (row.a, row.b))
    copied = [f"the stated {entry.stated}", *([counted(figures, "figure") + " of the table below"] if figures else [])]
    return (
        f"It also has no address of the publication. Ask {source.publisher or 'its publisher'} for it: "
        f"{printed_title}, {date}. The register copied from it {listed(copied)}."
    )


def contradiction_facts(entry: ClaimEntry) -> list[str]:
    """Return by how much a contradicted claim is over- or understated, and what else gives its number, as clauses."""
    return [fact for fact in (overstatement(entry), *explanations(entry)[:1]) if fact]


def overstatement(entry: ClaimEntry) -> str:
    """Return by how much a contradicted claim is over- or understated; empty if that is not known."""
    found = favoured(entry.row.check)
    if found.side not in {Side.DEVICE, Side.AGAINST}:
        return ""
    points = _difference(entry, found.difference, of_percent="points")
    return f"{'over' if found.side is Side.DEVICE else 'under'}stated by {points}"


def _too_far(entry: ClaimEntry, found: Favoured) -> str:
    """Return by how much the stated number is too high or too low."""
    return f"{_difference(entry, found.difference)} too {'high' if found.side is Side.DEVICE else 'low'}"


def _favoured_words(entry: ClaimEntry, found: Favoured) -> str:
    """Return which side a number favours. If it is too low, the publisher's own older drive is no competitor."""
    if found.side is Side.DEVICE:
        return f"favours the publisher{_named(entry.source.publisher)}"
    own, other = _makers(entry)
    if own and own == other:
        return f"is to the disadvantage of the publisher{_named(entry.source.publisher)}"
    return f"favours the {'competitor' if own and other else 'other drive'}, the {entry.row.check.claim.against}"


def _named(name: str) -> str:
    return f", {name}" if name else ""


def makers(entry: ClaimEntry) -> str:
    """Return whether both drives are of one maker."""
    own, other = _makers(entry)
    if not own or not other:
        return "The makers of the drives are not reported."
    return f"Both drives are from {own}." if own == other else "The two drives are from different makers."


def _makers(entry: ClaimEntry) -> tuple[str, str]:
    """Return the makers of the praised drive and of the other one; empty if not reported."""
    claim = entry.row.check.claim
    own, other = (vendors().get((entry.slug, drive), "") for drive in (claim.device, claim.against))
    return own, other


def _difference(entry: ClaimEntry, difference: Fraction | None, of_percent: str = "percentage points") -> str:
    size = abs(difference or Fraction(0))
    text = printed(size, 1 if size >= Fraction(1, 10) else 2)
    return f"{text} {of_percent}" if entry.unit == "%" else f"{text} {entry.unit}".rstrip()


def other_computations(entry: ClaimEntry) -> list[str]:
    """Return what other computations give from the same figures, one line each, without those that lead the facts."""
    return [_alternative(entry, each) for each in alternatives(entry.row.check) if not _leads(entry, each)]


def explanations(entry: ClaimEntry) -> list[str]:
    """Return the other computations that give the stated number of a contradicted claim, as clauses."""
    return [_clause(entry, each) for each in alternatives(entry.row.check) if _leads(entry, each)]


def _clause(entry: ClaimEntry, found: Alternative) -> str:
    """Return what another computation gives, as a clause."""
    number = f"{_alternative_number(entry, found)} {found.unit}".rstrip()
    if found.computation is Computation.WITHOUT:
        return f"without the row of {found.threads} threads, the mean is {number}"
    name = _alternative_name(entry, found)
    return f"{name[:1].lower()}{name[1:]}: {number}"


def _leads(entry: ClaimEntry, found: Alternative) -> bool:
    return entry.is_contradicted and found.gives_stated


def other_computations_note(entry: ClaimEntry) -> str:
    """Return what the other computations show, and what a result that gives the stated number does not show."""
    has_equal = any(each.gives_stated and not _leads(entry, each) for each in alternatives(entry.row.check))
    return f"They use the same figures.{f' {EQUAL_NUMBERS}' if has_equal else ''}"


def _alternative_name(entry: ClaimEntry, found: Alternative) -> str:
    names = {
        Computation.MEDIAN: "Median of the gains",
        Computation.GEOMETRIC_MEAN: "Geometric mean",
        Computation.OF_SUMS: "All thread counts summed",
        Computation.OF_PEAKS: "Peak against peak",
        Computation.MEAN: "Mean over thread counts",
        Computation.AT_PEAK: f"At {found.threads} threads, the peak of the {entry.row.check.claim.device}",
        Computation.WITHOUT: f"Mean without the row of {found.threads} threads",
        Computation.OTHER_BASE: f"Relative to the {entry.row.check.claim.device} instead",
        Computation.AS_SHARE: "As percent less",
    }
    return names[found.computation]


def _alternative_number(entry: ClaimEntry, found: Alternative) -> str:
    return printed(found.value, max(1, places_of(entry.row.check.claim.stated_value) or 0))


def _alternative(entry: ClaimEntry, found: Alternative) -> str:
    gives = f", which rounds to the stated {entry.row.check.claim.stated_value}" if found.gives_stated else ""
    name, number = _alternative_name(entry, found), _alternative_number(entry, found)
    return f"{name}: {number} {found.unit}{gives}."


def computation(entry: ClaimEntry) -> str:
    """Return the formula with the names and the figures of both drives; empty if no computation is known.

    The figures of a mean, and those of several workloads, are only in the tables of the claim.
    """
    check, claim = entry.row.check, entry.row.check.claim
    basis = check.basis[0] if len(check.basis) == 1 else None
    metric = basis.metric if basis else claim_terms.metric(claim.claim)
    words = metric_words(metric) if metric else "figure"
    if claim.formula == PEAKS:
        formula = (
            f"(highest {words} of the {claim.device} over all thread counts ÷ that of the {claim.against}){LESS_1}"
        )
        return f"{formula} = ({_peak(basis, 'a')}{DIVIDED_BY}{_peak(basis, 'b')}){LESS_1}" if basis else formula
    if claim.formula == MEAN_OF_GAINS:
        ratio = f"{words} of the {claim.device} ÷ that of the {claim.against}"
        is_lower_better = metric is not None and better(metric, entry.slug) is Better.LOWER
        return f"mean over all thread counts of {f'1 - ({ratio})' if is_lower_better else f'({ratio}){LESS_1}'}"
    a, b = (f"{drive}{_figure(basis, side)}" for drive, side in ((claim.device, "a"), (claim.against, "b")))
    formulas = {"a / b - 1": f"({a} ÷ {b}){LESS_1}", "1 - a / b": f"1 - ({a} ÷ {b})", "b / a": f"{b} ÷ {a}"}
    if claim.formula not in formulas:
        return ""
    fixed = claim.computation.partition(AT_A_FIXED)[2]
    return f"{words}{f' at the same {fixed}' if fixed else ''}: {formulas[claim.formula]}"


def _peak(basis: Basis, side: str) -> str:
    """Return the highest value of a side of a sweep."""
    return digits(max(taken.value for row in basis.rows if (taken := getattr(row, side))))


def _figure(basis: Basis | None, side: str) -> str:
    """Return the value of a side of a single run with its unit, after a blank."""
    taken: Taken | None = getattr(basis.rows[0], side) if basis else None
    return f" {digits(taken.value)} {basis.unit}" if basis and taken else ""


def card_headlines(entry: ClaimEntry) -> list[tuple[str, str]]:
    """Return the two labels of the share image with their large words."""
    stated = (f"{entry.subject}: stated", entry.stated)
    if entry.row.check.span:
        return [stated, ("Its own chart allows", entry.recomputed)]
    if entry.recomputed:
        is_confirmed = entry.outcome is Outcome.CONFIRMED
        gives = "Confirmed: its own table gives" if is_confirmed else "Its own table gives"
        return [stated, (gives, entry.recomputed)]
    return [stated, ("Recomputed", "not possible")]


def card_foot(entry: ClaimEntry) -> list[str]:
    """Return the claim and its publication with the date, as the share image names them."""
    date = entry.source.published_on or "date not recorded"
    is_noted = entry.is_source_on_file or card_note(entry)
    return [capfirst(entry.text), f"{entry.source.title}; {date}{'' if is_noted else '; document not available'}"]


def card_note(entry: ClaimEntry) -> str:
    """Return what qualifies a contradiction, as the share image has it below its remark; empty for other claims."""
    if not entry.is_contradicted:
        return ""
    facts = [*explanations(entry)[:1], *([] if entry.is_source_on_file else [NO_DOCUMENT])]
    return " ".join(f"{capfirst(fact)}." for fact in facts)


def citation_name(entry: ClaimEntry) -> str:
    """Return the claim as a citation names it."""
    return f"{entry.subject}: {entry.text} (claim {entry.public_id})"


def citation_words(entry: ClaimEntry) -> str:
    """Return the result of the check as a citation states it."""
    impossible = " The claim uses a result that cannot be true." if entry.impossible_results else ""
    return f"Stated {entry.stated}. {result(entry)} Status: {entry.label}.{impossible} {_publication(entry)}"


def _publication(entry: ClaimEntry) -> str:
    """Return title, publisher and date of the publication of a claim, and where it is; or that it is not on file."""
    source = entry.source
    title = source.printed_title or source.title
    publisher = f", by {source.publisher}" if source.publisher else ""
    named = f"Publication: {title}{publisher}, {source.published_on or 'date not recorded'}"
    return f"{named}. {source.address}" if entry.is_source_on_file else f"{named}; {entry.document_note}."
