"""The page that sets 2 to 6 drives or runs side by side."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from results.models import Product, Run
from webapp.register.columns import product_of
from webapp.register.compare.choice import choose
from webapp.register.compare.forms import as_csv, as_json
from webapp.register.compare.page import comparison_of
from webapp.register.compare.question import MOST, Chosen, read_chosen
from webapp.register.profile import current_limits
from webapp.register.public_page import public_page
from webapp.register.sentences import product_name

LISTED_DRIVES = 500  # names that the form's fields offer; of more the search finds them


@public_page
def compare(request: HttpRequest) -> HttpResponse:
    chosen = read_chosen(request.GET)
    if not chosen.is_enough:
        return render(request, "register/compare/choose.html", _choosing(chosen))
    limits = current_limits()
    told = comparison_of(choose(chosen, limits), limits)
    if chosen.form != "html":
        return as_csv(told) if chosen.form == "csv" else as_json(told)
    addresses = {"csv_address": chosen.address("csv"), "json_address": chosen.address("json")}
    return render(
        request, "register/compare/compare.html", {"section": "compare", "told": told, "chosen": chosen} | addresses
    )


def _choosing(chosen: Chosen) -> dict[str, object]:
    """Return what the form shows: a chosen run is taken for its drive."""
    slugs = list(chosen.names) if chosen.kind == "drive" else _drives_of(chosen.names)
    products = Product.objects.public().order_by("vendor", "model", "capacity_gb")[:LISTED_DRIVES]
    return {
        "section": "compare",
        "fields": [*slugs, *([""] * (MOST - len(slugs)))],
        "drives": [(product.slug, product_name(product)) for product in products],
        "was_alone": bool(chosen.names),
    }


def _drives_of(names: tuple[str, ...]) -> list[str]:
    return [product_of(run).slug for run in Run.objects.public().filter(public_id__in=names).select_related("product")]
