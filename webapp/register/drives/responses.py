"""The formats of the tables of drives: the page, and CSV and JSON of every row that matches."""

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from results.models import Run
from webapp.register.drives.below_table import below_table
from webapp.register.drives.form import DrivesForm
from webapp.register.drives.headline import page_headline
from webapp.register.drives.page import DrivesPage, PageLayout, context_of
from webapp.register.drives.query import read_drives_query
from webapp.register.drives.store.column_store import current_store
from webapp.register.limits.profile import current_limits
from webapp.register.tables.columns import Column
from webapp.register.tables.exports import rows_as_csv, rows_as_json
from webapp.register.tables.tables import Row, build_row


def drives_response(request: HttpRequest, layout: PageLayout, template: str) -> HttpResponse:
    """Return a page of tables of drives in the requested format."""
    store, profile = current_store(), current_limits()
    query = read_drives_query(request.GET, layout.allowed(profile), store)
    page = DrivesPage(layout, store, query, profile)
    if query.form == "csv":
        return rows_as_csv(layout.name, rows_of(page))
    if query.form == "json":
        return rows_as_json(layout.name, query.sort.parameter, rows_of(page))
    parts = {"form": DrivesForm(page), "headline": page_headline(page), "below_table": below_table(page)}
    return render(request, template, {**context_of(page), **parts})


def rows_of(page: DrivesPage) -> Iterable[Row]:
    """Return every row that matches, of all pages, in order."""
    wanted = [page.store.runs[row] for row in page.rows]
    runs = {run.public_id: run for run in Run.objects.filter(public_id__in=wanted).for_table()}
    places: dict[Column, int] = {}
    return [build_row(runs[public_id], places, {}) for public_id in wanted if public_id in runs]
