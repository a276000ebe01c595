"""`/data/`: the list of dumps and their downloads. It needs no database."""

from datetime import datetime

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from webapp.register.dumps.store import MANIFEST, Dump, DumpFile, dumps, find_dump
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page, response_with_etag
from webapp.templatetags import units

FORMS = {"csv.gz": "CSV", "json.gz": "JSON", "parquet": "Parquet"}
PERMANENT = "public, max-age=3600"


@public_page
def data(request: HttpRequest) -> HttpResponse:
    """Show the newest dump with its files, and earlier dumps."""
    given_of(request.GET, ())
    available = dumps()
    newest = available[0] if available else None
    context = {
        "newest": newest,
        "written": units.moment(datetime.fromisoformat(newest.written_at)) if newest else "",
        "lines": _lines(newest) if newest else {},
        "earlier": available[1:],
        "licence": settings.DATA_LICENCE,
        "retention_days": settings.DUMP_KEPT_DAYS,
    }
    return render(request, "register/dumps/dumps.html", context)


def _lines(dump: Dump) -> dict[str, list[tuple[str, DumpFile]]]:
    """Return the files of each table of a dump, with their forms."""
    lines: dict[str, list[tuple[str, DumpFile]]] = {}
    for file in dump.files:
        name, _, ending = file.name.partition(".")
        if file.rows_count is not None and ending in FORMS:
            lines.setdefault(name, []).append((FORMS[ending], file))
    return lines


@public_page
def dump_file(request: HttpRequest, day: str, name: str) -> HttpResponseBase:
    """Send a file of a dump. Only files in its manifest have a URL."""
    dump = find_dump(day)
    file = dump.file(name) if dump else None
    if dump is None or (file is None and name != MANIFEST):
        raise Http404(
            f"There is no file {name} in a dump of {day}. Dumps are deleted after {settings.DUMP_KEPT_DAYS} days."
        )
    path = dump.directory / name

    def make() -> FileResponse:
        headers = {"Cache-Control": PERMANENT}
        return FileResponse(path.open("rb"), as_attachment=True, filename=f"drivecert-{day}-{name}", headers=headers)

    return response_with_etag(request, file.sha256 if file else dump.written_at, make)
