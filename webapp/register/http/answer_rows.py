"""Rows of any page as CSV and JSON, with a schema of their own (docs/exports.md)."""

from collections.abc import Mapping, Sequence

from django.http import HttpResponse, JsonResponse

from webapp.register.tables.exports import Value, csv_response


def answer_rows(
    form: str, name: str, schema: str, fields: Sequence[str], rows: Sequence[Mapping[str, Value]]
) -> HttpResponse:
    """Return rows as a CSV file or as JSON, with the same names in the same order."""
    if form == "csv":
        return csv_response(name, fields, ([row[field] for field in fields] for row in rows))
    return JsonResponse({"schema": schema, "list": name, "rows": list(rows)})
