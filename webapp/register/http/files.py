"""Rows of a page as CSV and JSON files to download (docs/reference/exports.md)."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from tempfile import SpooledTemporaryFile
from typing import IO

from django.http import FileResponse, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

CSV_TYPE = "text/csv; charset=utf-8"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # text that spreadsheets run as a formula
PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
IN_MEMORY_BYTES = 1024**2  # of one response; a longer one goes through a temporary file

Value = str | int | bool | None


def plain(number: Decimal | None) -> str | None:
    """Return a decimal's digits without an exponent and without the zeros that only the column's scale adds."""
    if number is None:
        return None
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def csv_cell(value: Value) -> str:
    """Return a cell as text; text that a spreadsheet would run as a formula gets an apostrophe before it.

    A plain number is no formula, also if it is negative.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = "" if value is None else str(value)
    is_formula = isinstance(value, str) and text.startswith(FORMULA_STARTS) and not PLAIN_NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def write_csv(file: IO[str] | HttpResponse, header: Iterable[str], rows: Iterable[Iterable[Value]]) -> None:
    """Write rows as CSV, with formulas escaped."""
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows([csv_cell(value) for value in row] for row in rows)


def csv_response(filename: str, header: Iterable[str], rows: Iterable[Iterable[Value]]) -> HttpResponse:
    """Return rows as a CSV file to download."""
    response = HttpResponse(content_type=CSV_TYPE)
    response["Content-Disposition"] = f'attachment; filename="{filename}.csv"'
    write_csv(response, header, rows)
    return response


def long_csv_response(name: str, header: Iterable[str], rows: Iterable[Iterable[Value]]) -> HttpResponseBase:
    """Return rows as a CSV file to download; very many rows are streamed from a temporary file."""
    file = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - the response closes it
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    write_csv(text, header, rows)
    text.detach()
    length = file.tell()
    file.seek(0)
    if length > IN_MEMORY_BYTES:
        return FileResponse(file, as_attachment=True, filename=f"{name}.csv", content_type=CSV_TYPE)
    with file:
        disposition = f'attachment; filename="{name}.csv"'
        return HttpResponse(file.read(), CSV_TYPE, headers={"Content-Disposition": disposition})


def rows_response(
    form: str, name: str, schema: str, fields: Sequence[str], rows: Sequence[Mapping[str, Value]]
) -> HttpResponse:
    """Return rows as a CSV file or as JSON, with the same names in the same order."""
    if form == "csv":
        return csv_response(name, fields, ([row[field] for field in fields] for row in rows))
    return JsonResponse({"schema": schema, "list": name, "rows": list(rows)})
