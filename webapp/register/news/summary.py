"""The summary of a month: its changes counted in a sentence, and listed by group, from the events."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from results.access.withholding import REEVALUATED
from results.catalogue.claims import CLAIM_CHANGED, CLAIMS_RECOMPUTED
from results.history import PUBLISHED
from results.models import Event
from results.rules.plural import listed
from webapp.register.news.changes import Change, changes_of
from webapp.register.news.events import CatalogueImport, between, catalogue_imports, newest_first, public_changes
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
    CLAIMS_RECOMPUTED: ("checked the claims of", "publication", "publications"),
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


def summary_of(month: Month, first: Event | None) -> Summary:
    """Return the summary of a month, in a fixed number of queries; `first` is the first change of the register."""
    changes = newest_first(between(public_changes(), month.start, month.end))
    found, imports, lines = list(changes.values_list("pk", "kind")), _imports(first, month), category_lines(month)
    totals = Counter(kind for _, kind in found)
    opening_count = sum(imports[pk].results_count for pk, _ in found if pk in imports and imports[pk].is_opening)
    return Summary(month, _sentence(month, totals, lines, opening_count), lines, _sections(found, imports))


def _imports(first: Event | None, month: Month) -> dict[int, CatalogueImport]:
    return catalogue_imports(first, month.start, month.end - timedelta(days=1))


def _sections(found: Sequence[tuple[int, str]], imports: Mapping[int, CatalogueImport]) -> list[Section]:
    """Return the groups that have changes, from the ids and kinds of the changes of the month, the newest first."""
    by_group = {group: [pk for pk, kind in found if KINDS[kind].group is group] for group in Group}
    shown = [pk for ids in by_group.values() for pk in ids[:SHOWN_IN_GROUP]]
    places = {pk: place for place, (pk, _) in enumerate(found)}
    events = sorted(Event.objects.filter(pk__in=shown), key=lambda event: places[event.pk])
    changes = changes_of(events, imports)
    return [
        Section(group, GROUP_TITLES[group], len(ids), [change for change in changes if change.group is group])
        for group, ids in by_group.items()
        if ids
    ]


def _sentence(month: Month, totals: Counter[str], lines: Sequence[CategoryLine], opening_count: int) -> str:
    """Return the month in one or two sentences; the opening has its own."""
    if not totals.total():
        return f"The register {'had' if month.is_over else 'has had'} no public change in {month.title}."
    published, from_logs = (sum(getattr(line, name) for line in lines) for name in ("published_count", "logs_count"))
    counts = [("published", from_logs, "result from a log", "results from logs")]
    counts.append(("added", published - opening_count, "published result", "published results"))
    counts += [(verb, totals[kind], one, more) for kind, (verb, one, more) in VERBS.items()]
    others = sum(number for kind, number in totals.items() if kind not in {*VERBS, PUBLISHED})
    counts.append(("made", others, "other change", "other changes"))
    parts = [f"{verb} {number_of(number, one, more)}" for verb, number, one, more in counts if number > 0]
    counted = f"In {month.title}, the register {listed(parts)}."
    if not opening_count:
        return counted
    opening = f"The register opened with {number_of(opening_count, 'published result', 'published results')}."
    return f"{opening} {counted}" if parts else opening
