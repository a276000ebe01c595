"""Atom feeds of events on results: of all results, a category, a vendor or a product."""

from collections.abc import Iterable
from datetime import UTC, datetime

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from results.access.history import for_everyone
from results.history import event_label
from results.models import Category, Certificate, Event, Product, Run
from results.models.querysets import RunQuerySet
from webapp.register.http.responses import public_page
from webapp.register.syndication.product_status import public_product
from webapp.register.syndication.site import plain_text, site_address
from webapp.register.tables.makers import vendor_slug
from webapp.register.tables.sentences import product_name

ENTRIES_MAX = 50
ATOM = "application/atom+xml; charset=utf-8"


@public_page
def all_feed(_request: HttpRequest) -> HttpResponse:
    """Send the feed of all results."""
    return _feed("all results", "/", reverse("feed"), Run.objects.public())


@public_page
def category_feed(_request: HttpRequest, category: str) -> HttpResponse:
    """Send the feed of a category, including historical products."""
    if category not in Category.values:
        raise Http404(f"There is no category {category}.")
    title, page = Category(category).label, reverse("category", args=[category])
    return _feed(title, page, reverse("category-feed", args=[category]), Run.objects.public().in_category(category))


@public_page
def vendor_feed(_request: HttpRequest, vendor: str) -> HttpResponse:
    """Send the feed of a vendor or cloud provider."""
    names = Product.objects.public().order_by("vendor").values_list("vendor", flat=True).distinct()
    named = [name for name in names if vendor_slug(name) == vendor]
    if not named:
        raise Http404(f"There is no vendor {vendor}.")
    runs = Run.objects.public().filter(product__vendor__in=named)
    return _feed(", ".join(named), "/", reverse("vendor-feed", args=[vendor]), runs)


@public_page
def product_feed(_request: HttpRequest, slug: str) -> HttpResponse:
    """Send the feed of a product."""
    product = public_product(slug)
    page, runs = reverse("product", args=[slug]), Run.objects.public().filter(product=product)
    return _feed(product_name(product), page, reverse("product-feed", args=[slug]), runs)


class _Feed(Atom1Feed):
    """A feed whose bytes depend only on its entries. Django would date an empty feed to the time of the request."""

    def latest_post_date(self) -> datetime:
        return super().latest_post_date() if self.items else datetime.fromtimestamp(0, UTC)


def _feed(what: str, page: str, own: str, runs: RunQuerySet) -> HttpResponse:
    feed = _Feed(
        title=plain_text(f"Drivecert: {what}"),
        link=site_address(page),
        description="",
        feed_url=site_address(own),
        feed_guid=site_address(own),
        author_name="Drivecert",
    )
    for event, subject, address in _entries(runs):
        feed.add_item(
            title=plain_text(f"{subject}: {event_label(event.kind)}"),
            link=site_address(address),
            description=plain_text(event.reason),
            unique_id=f"{site_address(address)}#event-{event.pk}",
            pubdate=event.at,
            updateddate=event.at,
        )
    return HttpResponse(feed.writeString("utf-8"), content_type=ATOM)


def _entries(runs: RunQuerySet) -> Iterable[tuple[Event, str, str]]:
    """Yield the newest events with the name and URL of their subjects, in four queries for any number of rows."""
    of_runs = Q(subject_type="run", subject_id__in=runs.values("public_id"))
    certificates = Certificate.objects.filter(product__in=runs.values("product"))
    of_certificates = Q(subject_type="certificate", subject_id__in=certificates.values("public_id"))
    public = for_everyone(Event.objects.filter(of_runs | of_certificates))
    events = list(public.order_by("-at", "-pk")[:ENTRIES_MAX])
    ids = [event.subject_id for event in events]
    named = {run.public_id: run.product for run in runs.filter(public_id__in=ids).select_related("product")}
    named |= {each.public_id: each.product for each in certificates.filter(public_id__in=ids).select_related("product")}
    for event in events:
        product = named[event.subject_id]
        if product is not None:  # public runs have a product, although the column is nullable
            yield event, f"{product_name(product)}, {event.subject_type} {event.subject_id}", _address(event, product)


def _address(event: Event, product: Product) -> str:
    if event.subject_type == "run":
        return reverse("run-detail", args=[event.subject_id])
    return f"{reverse('product', args=[product.slug])}#{event.subject_id}"
