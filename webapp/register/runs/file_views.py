"""Files that are made of a run when they are asked for: its histograms as tables, its configuration."""

from tempfile import SpooledTemporaryFile

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from results.access.intervals import is_withheld
from results.models import Run
from webapp.register.http.responses import conditional_response, public_page
from webapp.register.runs import page as runs_page
from webapp.register.runs.histograms.rows import CONTENT_TYPES, SCHEMA, WRITERS, rows_of
from webapp.register.runs.reproduce import reproduction_of
from webapp.register.runs.views import find_run, guarded, withheld

IN_MEMORY_BYTES = 8 * 1024**2


@public_page
def histograms(request: HttpRequest, public_id: str, form: str) -> HttpResponseBase:
    """Send all counts that are kept of a run; `form` is csv, json or parquet."""
    run = find_run(request, public_id)
    if is_withheld(run):
        return withheld(request, run, "What was counted slice by slice")
    if form not in WRITERS or not run.histograms.exists():
        raise Http404(
            f"Run {public_id} has no histograms as {form}: expected a run with a log, and csv, json or parquet."
        )
    return guarded(run, conditional_response(request, run, (SCHEMA, form), lambda: _file(run, form)))


def _file(run: Run, form: str) -> FileResponse:
    file = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - the answer closes it
    WRITERS[form](run, rows_of(run), file)
    file.seek(0)
    name = f"{run.public_id}-histograms.{form}"
    return FileResponse(file, as_attachment=True, filename=name, content_type=CONTENT_TYPES[form])


@public_page
def configuration(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Send the configuration that a run can be made again with."""
    run = find_run(request, public_id)
    if is_withheld(run):
        return withheld(request, run, "The configuration that the log prints")
    again = reproduction_of(run, runs_page.evidence_of(run))
    if again is None:
        raise Http404(f"Run {public_id} cannot be made again from here: no log of it prints its configuration.")
    response = HttpResponse(again.text, content_type="text/plain; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{again.name}"'
    return guarded(run, response)
