"""The summary of a month: its changes counted in a sentence, and listed by group, from the events."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from results.access.withholding import REEVALUATED
from results.catalogue.claims import CLAIM_CHANGED, CLAIMS_RECOMPUTED
from results.history import PUBLISHED
from results.models import Event
from webapp.register.news.changes import Change, changes_of
from webapp.register.news.events import between, catalogue_imports, public_changes
from webapp.register.news.months import Month
from webapp.register.news.new_results import CategoryLine, category_lines
from webapp.register.news.sentences import GROUP_TITLES, KINDS, Group
from webapp.register.tables.sentences import number_of

SHOWN_IN_GROUP = 50
VERBS = {
    "certificate-issued": ("issued", "certificate", "certificates"),
    REEVALUATED: ("re-evaluated", "result", "results"),
    "run-withdrawn": ("withdrew", "result", "results"),
    "run-superseded": ("superseded", "result", "results"),
    "certificate-withdrawn": ("withdrew", "certificate", "certificates"),
    CLAIMS_RECOMPUTED: ("recomputed the claims of", "publication", "publications"),
    CLAIM_CHANGED: ("changed the result of", "claim", "claims"),
}


@dataclass(frozen=True)
class Section:
    """The changes of one group, newest first: at most SHOWN_IN_GROUP of `total`."""

    group: Group
    title: str
    total: int
    changes: Sequence[Change]

    @property
    def older_than(self) -> int | None:
        """Return the event before which the list of all changes continues; None if the section has all."""
        return self.changes[-1].event_id if self.total > len(self.changes) else None


@dataclass(frozen=True)
class Summary:
    """The summary of a month; its sentence can be quoted alone."""

    month: Month
    sentence: str
    lines: Sequence[CategoryLine]
    sections: Sequence[Section]

    @property
    def title(self) -> str:
        """Return the heading of the page."""
        return f"{self.month.title}{'' if self.month.is_over else ' so far'}: what changed in the register"


def summary_of(month: Month) -> Summary:
    """Return the summary of a month, in a fixed number of queries for any number of changes."""
    changes = between(public_changes(), month.start, month.end)
    counted = changes.order_by().values_list("kind").annotate(number=Count("pk"))
    totals = Counter(dict(counted))
    lines = category_lines(month)
    imports = catalogue_imports()
    opening = next((pk for pk, found in imports.items() if found.is_opening), None)
    is_opening = opening is not None and changes.filter(pk=opening).exists()
    sentence = _sentence(month, totals, lines, is_opening=is_opening)
    return Summary(month, sentence, lines, _sections(changes, totals))


def _sections(changes: QuerySet[Event], totals: Counter[str]) -> list[Section]:
    """Return the groups that have changes: one query for each group, and a fixed number for all their subjects."""
    kinds = {group: [kind for kind, words in KINDS.items() if words.group is group] for group in Group}
    events = [
        event
        for group in Group
        for event in changes.filter(kind__in=kinds[group]).order_by("-at", "-pk")[:SHOWN_IN_GROUP]
    ]
    shown = changes_of(events)
    sections = []
    for group in Group:
        total = sum(totals[kind] for kind in kinds[group])
        of_group = [change for change in shown if change.group is group]
        sections.append(Section(group, GROUP_TITLES[group], total, of_group))
    return [section for section in sections if section.changes]


def _sentence(month: Month, totals: Counter[str], lines: Sequence[CategoryLine], *, is_opening: bool) -> str:
    """Return the month in one or two sentences."""
    if not totals.total():
        return f"The register {'had' if month.is_over else 'has had'} no public change in {month.title}."
    published, from_logs = (sum(getattr(line, name) for line in lines) for name in ("published_count", "logs_count"))
    counts = [("published", from_logs, "result from a log", "results from logs")]
    counts += [] if is_opening else [("added", published, "published result", "published results")]
    counts += [(verb, totals[kind], one, more) for kind, (verb, one, more) in VERBS.items()]
    others = sum(number for kind, number in totals.items() if kind not in {*VERBS, PUBLISHED})
    counts.append(("made", others, "other change", "other changes"))
    parts = [f"{verb} {number_of(number, one, more)}" for verb, number, one, more in counts if number]
    counted = f"In {month.title}, the register {listed(parts)}."
    if not is_opening:
        return counted
    opening = f"The register opened with {number_of(published, 'published result', 'published results')}."
    return f"{opening} {counted}" if parts else opening


def listed(parts: Sequence[str]) -> str:
    """Return parts of a sentence as a list in words.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b, and c')
    """
    if len(parts) > 2:
        return f"{', '.join(parts[:-1])}, and {parts[-1]}"
    return " and ".join(parts)
