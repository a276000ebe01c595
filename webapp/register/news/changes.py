"""Changes as readers see them: public events with their subject, a sentence, the reason and an address."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from urllib.parse import urlencode

from django.urls import reverse

from results.access.withholding import visible_events
from results.catalogue.claims import CLAIM_CHANGED
from results.history import PUBLISHED
from results.models import Certificate, Event, Product, ProductAddress, Run, Tier, Visibility
from results.naming.addresses import current_product
from results.rules.ycsb.claim_terms import claim_id
from results.rules.ycsb.statements import Outcome
from webapp.register.http.query_params import ParameterError
from webapp.register.news.events import (
    PRODUCT,
    CatalogueImport,
    catalogue_imports,
    first_change,
    newest_first,
    older_than,
    public_changes,
)
from webapp.register.news.past_results import PastResults
from webapp.register.news.sentences import KINDS, Facts, Group
from webapp.register.tables.columns import product_of
from webapp.register.tables.sentences import number_of, product_name, run_name
from webapp.register.ycsb.claims.entries import entries_of, entry_of
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
    picture: str = ""  # the address of the chart of its category
    contradicted: Sequence[tuple[str, str]] = ()  # name and page of each contradicted claim that the change counts
    contradicted_page: str = ""  # the list of the contradicted claims, if the change counts such claims
    impossible_page: str = ""  # the list of impossible results, if the change counts claims that use them

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
    """Changes, newest first; the last event of the page, None at the end; and the first change of all."""

    changes: Sequence[Change]
    older_than: int | None
    first: Event | None


def changes_page(before: int | None = None) -> ChangesPage:
    """Return the newest changes, or those after an event in their order.

    Raises ParameterError if that event is no public change.
    """
    events = newest_first(public_changes())
    if before is not None:
        last = events.filter(pk=before).first()
        if last is None:
            expected = "expected the number of a change, as the link to older changes has it"
            raise ParameterError("before", expected, str(before))
        events = older_than(events, last)
    found = list(events[: CHANGES_PER_PAGE + 1])
    shown, first = found[:CHANGES_PER_PAGE], first_change()
    imports = catalogue_imports(first, shown[-1].at, shown[0].at) if shown else {}
    changes = changes_of(shown, imports)
    return ChangesPage(changes, shown[-1].pk if len(found) > len(shown) else None, first)


def changes_of(events: Iterable[Event], imports: Mapping[int, CatalogueImport]) -> list[Change]:
    """Return the changes of public events in their order, in a fixed number of queries."""
    visible = visible_events(events)
    ids = {event.subject_id for event in visible}
    runs = {run.public_id: run for run in Run.objects.public().filter(public_id__in=ids).select_related("product")}
    known = Certificate.objects.filter(public_id__in=ids).select_related("product", "profile")
    certificates = {certificate.public_id: certificate for certificate in known}
    products = _products_by_slug(event.subject_id for event in visible if event.subject_type == PRODUCT)
    past = PastResults(runs.values())
    changes = []
    for event in visible:
        if event.pk in imports:
            changes.append(_import_change(event, imports[event.pk]))
        elif (run := runs.get(event.subject_id)) is not None:
            result = past.at(run, event.at)
            changes.append(_run_change(Facts(event, result), result.run))
        elif (certificate := certificates.get(event.subject_id)) is not None:
            changes.append(_certificate_change(Facts(event, certificate=certificate), certificate))
        elif event.subject_type == PRODUCT:
            changes.append(_product_change(Facts(event), products[event.subject_id]))
        else:
            changes.append(_claim_change(Facts(event)))
    return changes


def _products_by_slug(slugs: Iterable[str]) -> dict[str, Product]:
    """Return the products that some slugs mean or meant; a merged product under its own name."""
    wanted = set(slugs)
    if not wanted:
        return {}
    former = ProductAddress.objects.filter(slug__in=wanted).select_related("product")
    present = {product.slug: product for product in Product.objects.filter(slug__in=wanted)}
    return {address.slug: address.product for address in former} | present


def _product_change(facts: Facts, product: Product) -> Change:
    page = reverse("product", args=[current_product(product).slug])
    return _change(facts, product_name(product), page, picture=_picture_of(product))


def _import_change(event: Event, found: CatalogueImport) -> Change:
    results = number_of(found.results_count, "published result", "published results")
    verb = "opened with" if found.is_opening else "added"
    return Change(
        event_id=event.pk,
        at=event.at,
        group=Group.RESULTS,
        label="New results" if found.results_count > 1 else "New result",
        name=results,
        page=f"{reverse('drives')}?{urlencode({'tier': Tier.PUBLISHED.value, 'historical': 'include'})}",
        sentence=f"The register {verb} {results}. Their figures come from publications, without logs.",
    )


def _run_change(facts: Facts, run: Run) -> Change:
    mark = STATES_SINCE.get(Visibility(run.visibility), "") if facts.event.kind == PUBLISHED else ""
    objection = facts.details.get("objection")
    page = reverse("objection", args=[objection]) if objection else reverse("run-detail", args=[run.public_id])
    return _change(facts, run_name(run), page, mark, _picture_of(product_of(run)))


def _certificate_change(facts: Facts, certificate: Certificate) -> Change:
    page, product = reverse("certificate", args=[certificate.public_id]), certificate.product
    return _change(facts, product_name(product), page, picture=_picture_of(product))


def _picture_of(product: Product) -> str:
    return reverse("category-picture", args=[product.category])


def _claim_change(facts: Facts) -> Change:
    """Return the change of a publication's claims, or of one claim, with the page of it unless a release removed it."""
    publication = facts.details.get("publication") or facts.subject
    page = f"{reverse('ycsb-claims')}#{publication}"
    if facts.event.kind == CLAIM_CHANGED:
        entry = entry_of(publication, claim_id(facts.details["claim"], facts.details["workload"]))
        page = entry.address if entry else page
    change = _change(facts, publication_of(publication).title, page)
    if facts.details.get("impossible_claims"):
        change = replace(change, impossible_page=reverse("ycsb-impossible"))
    count = facts.details.get("outcomes", {}).get(Outcome.CONTRADICTED.value)
    if not count:
        return change
    query = urlencode({"outcome": Outcome.CONTRADICTED.value, "brief": publication})
    # The event has only the number: if a later release has another one, it is not known which claims the event means.
    wrong = [(entry.assertion, entry.address) for entry in entries_of(publication) if entry.is_contradicted]
    named = wrong if len(wrong) == count else ()
    return replace(change, contradicted=named, contradicted_page=f"{reverse('ycsb-claims')}?{query}")


def _change(facts: Facts, name: str, page: str, mark: str = "", picture: str = "") -> Change:
    event, kind = facts.event, KINDS[facts.event.kind]
    reason = f"{kind.reason_label}: {event.reason}" if kind.reason_label and event.reason else ""
    return Change(event.pk, event.at, kind.group, kind.label, name, page, kind.sentence(facts), reason, mark, picture)
