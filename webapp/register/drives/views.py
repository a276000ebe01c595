"""The tables of drives: a page per category, one for all, one for historical products, their data file."""

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from results.models import Category
from webapp.register.drives.below_table import below_table
from webapp.register.drives.cloud import best_per_provider
from webapp.register.drives.devices_table import devices_table
from webapp.register.drives.filters import CATEGORY
from webapp.register.drives.form import chosen_categories, form_context
from webapp.register.drives.headline import page_headline
from webapp.register.drives.landscape import landscape_svg, page_charts, switches_html
from webapp.register.drives.layouts import ALL_CATEGORIES_LAYOUT, HISTORICAL_LAYOUT, PageLayout, category_layout
from webapp.register.drives.nearest_result import nearest_result
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.query import drives_parameters, export_name, is_current, read_drives_query
from webapp.register.drives.runs import runs_of
from webapp.register.drives.store.column_store import current_store
from webapp.register.drives.store.data_file import current_file
from webapp.register.http.query_params import labelled_errors, refuse_unknown
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.svg.png import render_png
from webapp.register.tables import categories
from webapp.register.tables.exports import runs_response


@public_page
def category(request: HttpRequest, category: str) -> HttpResponse:
    if category not in Category.values:
        raise Http404(f"No category of drives is named {category}.")
    layout = category_layout(categories.SPECS[Category(category)])
    return drives_response(request, layout, "register/drives/category.html")


@public_page
def landscape_picture(request: HttpRequest, category: str) -> HttpResponse:
    """Send the chart of a category as a share image, drawn once per state of the register and profile."""
    if category not in Category.values:
        raise Http404(f"No category of drives is named {category}.")
    refuse_unknown(request.GET, ())
    store, profile = current_store(), current_limits()
    layout = category_layout(categories.SPECS[Category(category)])
    query = read_drives_query(request.GET, drives_parameters(layout, profile, store))
    page = DrivesPage(layout, store, query, profile)
    key = ("share image", layout.name, page.profile)
    return HttpResponse(store.cached(key, lambda: render_png(landscape_svg(page))), content_type="image/png")


@public_page
def all_categories(request: HttpRequest) -> HttpResponse:
    return drives_response(request, ALL_CATEGORIES_LAYOUT, "register/drives/all_categories.html")


@public_page
def historical(request: HttpRequest) -> HttpResponse:
    return drives_response(request, HISTORICAL_LAYOUT, "register/drives/historical.html")


@public_page
def data(request: HttpRequest) -> HttpResponse:
    refuse_unknown(request.GET, ())
    is_compressed = "gzip" in request.headers.get("Accept-Encoding", "")
    file = current_file(is_compressed=is_compressed)
    response = HttpResponse(file.content, content_type="application/json")
    response["ETag"] = file.etag
    response["Vary"] = "Accept-Encoding"
    if is_compressed:
        response["Content-Encoding"] = "gzip"
    return response


def drives_response(request: HttpRequest, layout: PageLayout, template: str) -> HttpResponse:
    """Return a page of tables of drives in the requested format."""
    store, profile = current_store(), current_limits()
    parameters = drives_parameters(layout, profile, store)
    with labelled_errors(parameters):
        query = read_drives_query(request.GET, parameters)
        return _page_response(request, DrivesPage(layout, store, query, profile), template)


def _page_response(request: HttpRequest, page: DrivesPage, template: str) -> HttpResponse:
    """Return a page in the format of its query. Raises ParameterError for a page number that the rows do not reach."""
    query, layout = page.query, page.layout
    if query.form == "html" and not is_current(request.GET, query):
        return redirect(f"{request.path}{query.address}")
    if query.form != "html":
        name = export_name(layout.name, query)
        return runs_response(
            query.form, layout.name, query.sort, runs_of(page.store, page.rows), codes=query.columns, file_name=name
        )
    return render(request, template, _context(page))


def _context(page: DrivesPage) -> dict[str, Any]:
    query, charts = page.query, page_charts(page)
    chosen = dict(query.choices).get(CATEGORY.name, ())
    return {
        "section": "drives",
        "page": page,
        "form": form_context(page),
        "categories": chosen_categories(page),
        "cloud_notes": categories.EVERY_CLOUD_NOTES[:2],
        "lists_cloud": not chosen or Category.CLOUD in chosen,
        "headline": page_headline(page),
        "providers": _providers(page) if page.layout.has_only_instances else [],
        "nearest": nearest_result(page),
        "charts": charts,
        "chart_switches": switches_html(query, charts),
        "below_table": below_table(page),
        "devices_table": devices_table(page) if page.layout.has_only_instances else "",
        "limits": page.limits,
        "limits_sentence": page.limits_sentence,
        "profile_address": replace(query, limits=YourLimits()).address,
        "csv_address": replace(query, form="csv", page=1).address,
        "json_address": replace(query, form="json", page=1).address,
    }


def _providers(page: DrivesPage) -> list[dict[str, Any]]:
    key = ("best per provider", page.profile)
    return page.store.cached(key, lambda: best_per_provider(page.store, page.limit_check))
