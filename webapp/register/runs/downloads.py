"""Downloads of a run: stored files, slices, histograms, the configuration, status lines and earlier results."""

from tempfile import SpooledTemporaryFile

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from results.access.mirrored_runs import missing_log_message
from results.access.withholding import has_withheld_file, is_file_withheld, is_withheld, visible_name
from results.models import YCSB, Companion, Evidence, Run
from webapp.register.http.evidence_files import send_evidence
from webapp.register.http.files import long_csv_response, plain
from webapp.register.http.responses import conditional_response
from webapp.register.runs import page as runs_page
from webapp.register.runs.histograms import HISTOGRAMS_SCHEMA, WRITERS, rows_of
from webapp.register.runs.reproduce import reproduction_of
from webapp.register.runs.slices import slice_lines
from webapp.register.runs.views import run_page, withheld

ROWS_AT_ONCE = 2_000
IN_MEMORY_BYTES = 8 * 1024**2


@run_page
def histograms(request: HttpRequest, run: Run, form: str) -> HttpResponseBase:
    """Send all stored counts of a run; `form` is csv, json or parquet."""
    if is_withheld(run):
        return withheld(request, run, "The counts by slice", runs_page.evidence_of(run))
    if form not in WRITERS or not run.histograms.exists():
        raise Http404(
            f"Run {run.public_id} has no histograms as {form}: expected a run with a log, and csv, json or parquet."
        )
    return conditional_response(request, run, (HISTOGRAMS_SCHEMA, form), lambda: _file(run, form))


def _file(run: Run, form: str) -> FileResponse:
    file = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - the answer closes it
    content_type, write = WRITERS[form]
    write(run, rows_of(run), file)
    file.seek(0)
    name = f"{run.public_id}-histograms.{form}"
    return FileResponse(file, as_attachment=True, filename=name, content_type=content_type)


@run_page
def configuration(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Send the configuration that reproduces a run."""
    if is_withheld(run):
        return withheld(request, run, "The configuration in the log", runs_page.evidence_of(run))
    reproduction = reproduction_of(run, runs_page.evidence_of(run))
    if reproduction is None:
        raise Http404(f"Run {run.public_id} cannot be reproduced: its log does not print its configuration.")
    headers = {"Content-Disposition": f'attachment; filename="{reproduction["name"]}"'}
    return HttpResponse(reproduction["text"], "text/plain; charset=utf-8", headers=headers)


@run_page
def log(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Send the log's bytes as they were received."""
    evidence = runs_page.evidence_of(run)
    if evidence is None:
        raise Http404(missing_log_message(run))
    return _as_received(request, run, evidence)


@run_page
def side_file(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Send the side file of drivetest: identity, intervals and exact figures."""
    evidence = run.submission.side_file if run.submission else None
    if evidence is None:
        raise Http404(f"Run {run.public_id} has no side file: only runs dispatched by a lab have one.")
    return _as_received(request, run, evidence)


@run_page
def companion(request: HttpRequest, run: Run, sha256: str) -> HttpResponseBase:
    """Send a file that came with the log, by its hash."""
    companions = Companion.objects.none() if run.submission is None else run.submission.companions.all()
    found = companions.filter(evidence__sha256=sha256).select_related("evidence").first()
    if found is None or found.evidence.hidden:  # the same response, which does not confirm the hash of a hidden file
        raise Http404(f"Run {run.public_id} has no file with the hash {sha256} that came with its log.")
    return _as_received(request, run, found.evidence)


def _as_received(request: HttpRequest, run: Run, evidence: Evidence) -> HttpResponseBase:
    if is_file_withheld(run, evidence):
        return withheld(request, run, visible_name(evidence) or "A file", evidence)
    return send_evidence(request, run, evidence)


@run_page
def earlier(request: HttpRequest, run: Run, number: int) -> HttpResponseBase:
    """Send the result of an earlier reading of the run with its verdict (docs/decisions/0005)."""
    if has_withheld_file(run):  # a result includes the run's minutes, and data from files that came with the log
        return withheld(request, run, "The earlier result")
    found = run.earlier_results.select_related("reading", "verdict").filter(number=number).first()
    if found is None:
        raise Http404(f"Run {run.public_id} has no earlier result {number}.")
    document = {"schema": "drivecert.earlier-result/1", "run": run.public_id, "number": number}
    document |= {"reader_version": found.reading.reader_version, "replaced_at": found.public_since}
    document |= {"verdict": found.verdict.document if found.verdict else None, "result": found.document}
    return JsonResponse(document)


@run_page
def slices_csv(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Send all slices of a run as CSV."""
    lines = slice_lines(run, run.verdicts.select_related("profile").first())
    if lines is None:
        raise Http404(f"Run {run.public_id} has no slices, because it has no histogram of reads.")
    return long_csv_response(f"{run.public_id}-slices", *lines)


@run_page
def status_lines_csv(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Send the status lines of a YCSB output as CSV."""
    if has_withheld_file(run):
        return withheld(request, run, "The YCSB output with its status lines")
    if run.workload != YCSB or not run.ycsb.intervals.exists():
        raise Http404(f"Run {run.public_id} has no status lines. Only YCSB outputs made with -s have them.")
    header = ["elapsed_s", "done_ops_count", "ops_per_s"]
    intervals = run.ycsb.intervals.defer("operations").iterator(chunk_size=ROWS_AT_ONCE)
    lines = ([each.elapsed_s, each.done_ops_count, plain(each.ops_per_s)] for each in intervals)
    return long_csv_response(f"{run.public_id}-status-lines", header, lines)
