"""The forms in which tables of drives are answered: the page, CSV and JSON of every row kept, and the data file."""

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from results.models import Run
from webapp.register.drives.below_table import beside
from webapp.register.drives.form import DrivesForm
from webapp.register.drives.headline import headline_of
from webapp.register.drives.page import DrivesPage, Room, context_of
from webapp.register.drives.query import read_drives_question
from webapp.register.drives.store.column_store import current_shelf
from webapp.register.limits.profile import current_limits
from webapp.register.tables.columns import Column
from webapp.register.tables.exports import rows_as_csv, rows_as_json
from webapp.register.tables.tables import Row, build_row


def answer_drives(request: HttpRequest, room: Room, template: str) -> HttpResponse:
    """Return a page of tables of drives as it was asked for."""
    shelf, profile = current_shelf(), current_limits()
    question = read_drives_question(request.GET, room.askable(profile), shelf)
    page = DrivesPage(room, shelf, question, profile)
    if question.form == "csv":
        return rows_as_csv(room.name, rows_of(page))
    if question.form == "json":
        return rows_as_json(room.name, question.sort.parameter, rows_of(page))
    told = {"form": DrivesForm(page), "headline": headline_of(page), "beside": beside(page)}
    return render(request, template, {**context_of(page), **told})


def rows_of(page: DrivesPage) -> Iterable[Row]:
    """Return every row that the page keeps, of all its pages, in their order."""
    wanted = [page.shelf.runs[row] for row in page.rows]
    runs = {run.public_id: run for run in Run.objects.filter(public_id__in=wanted).for_table()}
    places: dict[Column, int] = {}
    return [build_row(runs[public_id], places, {}) for public_id in wanted if public_id in runs]
