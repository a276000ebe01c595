"""What list pages have in common: the rows asked for, and the three forms of an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.tables.exports import tables_as_csv, tables_as_json
from webapp.register.tables.parameters import Question
from webapp.register.tables.tables import Table


@dataclass(frozen=True)
class Listing:
    """A list page, ready for its three forms."""

    name: str
    tables: Sequence[Table]
    question: Question

    @property
    def shown_sentence(self) -> str:
        """How many rows are shown: every one."""
        shown = sum(len(table.rows) for table in self.tables)
        return f"{shown} of {shown} shown."

    @property
    def csv_address(self) -> str:
        """The same rows as CSV."""
        return self.question.address(form="csv")

    @property
    def json_address(self) -> str:
        """The same rows as JSON."""
        return self.question.address(form="json")


def answer(request: HttpRequest, listing: Listing, template: str, context: dict[str, Any]) -> HttpResponse:
    """Return the page as it was asked for."""
    if listing.question.form == "csv":
        return tables_as_csv(listing.name, listing.tables)
    if listing.question.form == "json":
        return tables_as_json(listing.name, listing.question.sort.parameter, listing.tables)
    return render(request, template, {"section": "drives", "listing": listing} | context)
