"""Atom feeds: events on results (all, of a category, a vendor or a product), and news in sentences."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from django.contrib.syndication.views import Feed
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.xmlutils import SimplerXMLGenerator

from results.history import event_label, for_everyone
from results.models import Category, Certificate, Event, Product, Run
from results.models.querysets import RunQuerySet
from webapp.register.drives.runs import public_vendors
from webapp.register.http.former_slugs import follows_renames
from webapp.register.http.responses import public_page
from webapp.register.news import objection_sentences
from webapp.register.news.changes import Change, changes_page
from webapp.register.news.objection_sentences import objection_sentence
from webapp.register.syndication.product_status import public_product
from webapp.register.syndication.site import plain_text, site_address
from webapp.register.tables.makers import vendor_slug
from webapp.register.tables.sentences import product_name

ENTRIES_MAX = 50


Found = tuple[str, str, RunQuerySet]  # the name of some results, the path of their page, and their runs
Context = dict[str, Any]


class _AtomFeed(Atom1Feed):
    """A feed whose bytes depend only on its entries. Django would date an empty feed to the time of the request."""

    def latest_post_date(self) -> datetime:
        return super().latest_post_date() if self.items else datetime.fromtimestamp(0, UTC)

    def root_attributes(self) -> dict[str, str]:
        return {"xmlns": self.ns}  # without a language: names and reasons may be in any

    def add_item_elements(self, handler: SimplerXMLGenerator, item: dict[str, Any]) -> None:
        """Write an entry. Its picture has no length, which Atom does not need and only drawing it would show."""
        super().add_item_elements(handler, item | {"enclosures": []})
        for picture in item["enclosures"]:
            link = {"rel": "enclosure", "type": picture.mime_type, "href": picture.url}
            handler.addQuickElement("link", "", link)


class ResultsFeed(Feed):  # type: ignore[type-arg]  # generic for the type checker only
    """The newest events on some results, with URLs of the register's public address."""

    feed_type = _AtomFeed
    author_name = "Drivecert"
    item_enclosure_mime_type = "image/png"
    description = ""

    def __init__(self, find_results: Callable[..., Found]) -> None:
        self.find_results = find_results

    def get_object(self, request: HttpRequest, **names: str) -> Context:
        name, page, runs = self.find_results(**names)
        return {"name": name, "page": page, "feed": request.path, "runs": runs}

    def title(self, subject: Context) -> str:
        return plain_text(f"Drivecert: {subject['name']}")

    def link(self, subject: Context) -> str:
        return site_address(subject["page"])

    def feed_url(self, subject: Context) -> str:
        return site_address(subject["feed"])

    feed_guid = feed_url

    def items(self, subject: Context) -> Iterable[Context]:
        return _entries(subject["runs"])

    def item_title(self, entry: Context) -> str:
        return plain_text(f"{entry['subject']}: {event_label(entry['event'].kind)}")

    def item_description(self, entry: Context) -> str:
        event = entry["event"]
        if event.kind not in objection_sentences.NEWS_KINDS:
            return plain_text(event.reason)
        sentence = objection_sentence(event.kind, event.details, event.subject_id)
        return plain_text(f"{sentence} {event.reason}")

    def item_link(self, entry: Context) -> str:
        return site_address(entry["page"])

    def item_enclosure_url(self, entry: Context) -> str:
        """Return the chart of the category of the result."""
        return site_address(reverse("category-picture", args=[entry["category"]]))

    def item_guid(self, entry: Context) -> str:
        return f"{site_address(entry['first_page'])}#event-{entry['event'].pk}"

    def item_pubdate(self, entry: Context) -> datetime:
        at: datetime = entry["event"].at
        return at

    item_updateddate = item_pubdate


class NewsFeed(Feed):  # type: ignore[type-arg]  # generic for the type checker only
    """The newest changes of the register, with the sentences of the page of news."""

    feed_type = _AtomFeed
    author_name = "Drivecert"
    item_enclosure_mime_type = "image/png"
    title = "Drivecert: what changed"
    description = ""

    def link(self) -> str:
        return site_address(reverse("news"))

    def feed_url(self) -> str:
        return site_address(reverse("news-feed"))

    feed_guid = feed_url

    def items(self) -> Iterable[Change]:
        return changes_page().changes

    def item_title(self, change: Change) -> str:
        return plain_text(change.title)

    def item_description(self, change: Change) -> str:
        contradicted = " ".join(f"Contradicted: {name}." for name, _ in change.contradicted)
        return plain_text(f"{change.sentence} {contradicted} {change.reason}")

    def item_link(self, change: Change) -> str:
        return site_address(change.page)

    def item_enclosure_url(self, change: Change) -> str:
        """Return the chart of the category of the result; empty if the change is not about one."""
        return site_address(change.picture) if change.picture else ""

    def item_guid(self, change: Change) -> str:
        return f"{site_address(reverse('news'))}#event-{change.event_id}"

    def item_pubdate(self, change: Change) -> datetime:
        return change.at

    item_updateddate = item_pubdate


def _all_results() -> Found:
    return "all results", "/", Run.objects.public()


def _results_of_category(category: str) -> Found:
    """Return the results of a category, including those of historical products."""
    if category not in Category.values:
        raise Http404(f"There is no category {category}.")
    return Category(category).label, reverse("category", args=[category]), Run.objects.public().in_category(category)


def _results_of_vendor(vendor: str) -> Found:
    """Return the results of a vendor or cloud provider."""
    named = [name for name in public_vendors() if vendor_slug(name) == vendor]
    if not named:
        raise Http404(f"There is no vendor {vendor}.")
    return ", ".join(named), "/", Run.objects.public().filter(product__vendor__in=named)


def _results_of_product(slug: str) -> Found:
    product = public_product(slug)
    return product_name(product), reverse("product", args=[slug]), Run.objects.public().filter(product=product)


def _entries(runs: RunQuerySet) -> Iterable[Context]:
    """Yield the newest events with their subjects, in five queries for any number of rows.

    Events of runs and of certificates have one query each. For one query with OR, PostgreSQL would read all runs.
    """
    certificates = Certificate.objects.filter(product__in=runs.values("product"))
    of_runs = Event.objects.filter(subject_type="run", subject_id__in=runs.values("public_id"))
    of_certificates = Event.objects.filter(subject_type="certificate", subject_id__in=certificates.values("public_id"))
    found = [
        event
        for events in (of_runs, of_certificates)
        for event in for_everyone(events).order_by("-at", "-pk")[:ENTRIES_MAX]
    ]
    events = sorted(found, key=lambda event: (event.at, event.pk), reverse=True)[:ENTRIES_MAX]
    ids = [event.subject_id for event in events]
    named = {run.public_id: run.product for run in runs.filter(public_id__in=ids).select_related("product")}
    named |= {each.public_id: each.product for each in certificates.filter(public_id__in=ids).select_related("product")}
    for event in events:
        product = named[event.subject_id]
        if product is not None:  # public runs have a product, although the column is nullable
            subject = f"{product_name(product)}, {event.subject_type} {event.subject_id}"
            addresses = {"page": _address(event), "first_page": _first_address(event, product)}
            yield {"event": event, "subject": subject, "category": product.category} | addresses


def _first_address(event: Event, product: Product) -> str:
    """Return the address of which ids of entries are made. Certificates had no page of their own at first."""
    if event.subject_type == "run":
        return _address(event)
    return f"{reverse('product', args=[product.slug])}#{event.subject_id}"


def _address(event: Event) -> str:
    return reverse("run-detail" if event.subject_type == "run" else "certificate", args=[event.subject_id])


def _page(feed: ResultsFeed | NewsFeed) -> Callable[..., HttpResponseBase]:
    """Return the view of a feed. It sends no date, because a withheld result changes a feed without a newer event."""

    def send(request: HttpRequest, **names: str) -> HttpResponse:
        return _send(feed, request, **names)

    return public_page(send)


def _send(feed: ResultsFeed | NewsFeed, request: HttpRequest, **names: str) -> HttpResponse:
    response = feed(request, **names)
    del response.headers["Last-Modified"]
    return response


@public_page
@follows_renames
def product_feed(request: HttpRequest, slug: str) -> HttpResponse:
    """Send the feed of a product's results."""
    return _send(ResultsFeed(_results_of_product), request, slug=slug)


all_feed = _page(ResultsFeed(_all_results))
category_feed = _page(ResultsFeed(_results_of_category))
vendor_feed = _page(ResultsFeed(_results_of_vendor))
news_feed = _page(NewsFeed())
