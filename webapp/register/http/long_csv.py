"""CSV files of very many lines: written as they are read, and to disk where they are long."""

import csv
import io
from collections.abc import Iterable
from tempfile import SpooledTemporaryFile

from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase

from webapp.register.tables.exports import Value, csv_cell

IN_MEMORY_BYTES = 1024**2  # of one answer; what is longer goes through a file without a name
CONTENT_TYPE = "text/csv; charset=utf-8"


def long_csv_response(name: str, header: Iterable[str], rows: Iterable[Iterable[Value]]) -> HttpResponseBase:
    """Return rows as a CSV file to download, whole where it is short, else sent from a file."""
    file = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - the answer closes it
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    text.detach()
    length = file.tell()
    file.seek(0)
    if length > IN_MEMORY_BYTES:
        return FileResponse(file, as_attachment=True, filename=f"{name}.csv", content_type=CONTENT_TYPE)
    with file:
        disposition = f'attachment; filename="{name}.csv"'
        return HttpResponse(file.read(), CONTENT_TYPE, headers={"Content-Disposition": disposition})
