"""List pages: their rows, in three formats."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.tables.exports import tables_as_csv, tables_as_json
from webapp.register.tables.parameters import ListQuery
from webapp.register.tables.tables import Table


@dataclass(frozen=True)
class Listing:
    """The content of a list page."""

    name: str
    tables: Sequence[Table]
    query: ListQuery

    @property
    def shown_sentence(self) -> str:
        """The number of rows; all are shown."""
        shown = sum(len(table.rows) for table in self.tables)
        return f"{shown} of {shown} shown."

    @property
    def csv_address(self) -> str:
        """The same rows as CSV."""
        return self.query.address(form="csv")

    @property
    def json_address(self) -> str:
        """The same rows as JSON."""
        return self.query.address(form="json")


def listing_response(request: HttpRequest, listing: Listing, template: str, context: dict[str, Any]) -> HttpResponse:
    """Return the page in the requested format."""
    if listing.query.form == "csv":
        return tables_as_csv(listing.name, listing.tables)
    if listing.query.form == "json":
        return tables_as_json(listing.name, listing.query.sort.parameter, listing.tables)
    return render(request, template, {"section": "drives", "listing": listing} | context)
