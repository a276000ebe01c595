"""Changes as readers see them: public events with their subject, a sentence, the reason and an address."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.db.models import Q
from django.urls import reverse

from results.access.withholding import visible_events
from results.history import PUBLISHED
from results.models import Certificate, Event, Run, Visibility
from webapp.register.http.query_params import ParameterError
from webapp.register.news.events import CatalogueImport, catalogue_imports, public_changes
from webapp.register.news.months import month_of
from webapp.register.news.past_results import PastResults
from webapp.register.news.sentences import KINDS, Facts, Group
from webapp.register.tables.sentences import number_of, product_name, run_name
from webapp.register.ycsb.publications import publication_of

CHANGES_PER_PAGE = 50
STATES_SINCE = {Visibility.WITHDRAWN: "later withdrawn", Visibility.SUPERSEDED: "later superseded"}


@dataclass(frozen=True)
class Change:
    """One change: what it is about, and a sentence on it.

    `mark` says what became of a new result later. The rest of a change never depends on later events.
    """

    event_id: int
    at: datetime
    group: Group
    label: str
    name: str
    page: str
    sentence: str
    reason: str = ""  # with its label
    mark: str = ""

    @property
    def title(self) -> str:
        """Return the change in one line."""
        return f"{self.label}: {self.name}"

    @property
    def day(self) -> date:
        """Return its day in UTC."""
        return self.at.astimezone(UTC).date()


@dataclass(frozen=True)
class ChangesPage:
    """Changes, newest first, and the event before which the next page begins; None at the end."""

    changes: Sequence[Change]
    older_than: int | None


def changes_page(before: int | None = None) -> ChangesPage:
    """Return the newest changes, or those before an event. Raises ParameterError if that event is no public change."""
    events = public_changes()
    if before is not None:
        last = events.filter(pk=before).first()
        if last is None:
            expected = "expected the number of a change, as the link to older changes has it"
            raise ParameterError("before", expected, str(before))
        events = events.filter(Q(at__lt=last.at) | Q(at=last.at, pk__lt=last.pk))
    found = list(events.order_by("-at", "-pk")[: CHANGES_PER_PAGE + 1])
    shown = found[:CHANGES_PER_PAGE]
    return ChangesPage(changes_of(shown), shown[-1].pk if len(found) > len(shown) else None)


def changes_of(events: Iterable[Event]) -> list[Change]:
    """Return the changes of public events in their order, in a fixed number of queries."""
    visible, imports = visible_events(events), catalogue_imports()
    ids = {event.subject_id for event in visible}
    runs = {run.public_id: run for run in Run.objects.public().filter(public_id__in=ids).select_related("product")}
    known = Certificate.objects.filter(public_id__in=ids).select_related("product", "profile")
    certificates = {certificate.public_id: certificate for certificate in known}
    past = PastResults(runs.values())
    changes = []
    for event in visible:
        if event.pk in imports:
            changes.append(_import_change(event, imports[event.pk]))
        elif (run := runs.get(event.subject_id)) is not None:
            changes.append(_run_change(Facts(event, run, past.at(run, event.at)), run))
        elif (certificate := certificates.get(event.subject_id)) is not None:
            changes.append(_certificate_change(Facts(event, certificate=certificate), certificate))
        else:
            changes.append(_claim_change(Facts(event)))
    return changes


def _import_change(event: Event, found: CatalogueImport) -> Change:
    results = number_of(found.results_count, "published result", "published results")
    verb = "opened with" if found.is_opening else "added"
    month = month_of(event.at)
    return Change(
        event_id=event.pk,
        at=event.at,
        group=Group.RESULTS,
        label="New results" if found.results_count > 1 else "New result",
        name=results,
        page=reverse("news-month", args=[month.code]),
        sentence=f"The register {verb} {results}. Their figures come from publications, without logs.",
    )


def _run_change(facts: Facts, run: Run) -> Change:
    mark = STATES_SINCE.get(Visibility(run.visibility), "") if facts.event.kind == PUBLISHED else ""
    return _change(facts, run_name(run), reverse("run-detail", args=[run.public_id]), mark)


def _certificate_change(facts: Facts, certificate: Certificate) -> Change:
    return _change(facts, product_name(certificate.product), reverse("certificate", args=[certificate.public_id]))


def _claim_change(facts: Facts) -> Change:
    publication = facts.details.get("publication") or facts.subject
    return _change(facts, publication_of(publication).title, f"{reverse('ycsb-claims')}#{publication}")


def _change(facts: Facts, name: str, page: str, mark: str = "") -> Change:
    event, kind = facts.event, KINDS[facts.event.kind]
    reason = f"{kind.reason_label}: {event.reason}" if kind.reason_label and event.reason else ""
    return Change(event.pk, event.at, kind.group, kind.label, name, page, kind.sentence(facts), reason, mark)
