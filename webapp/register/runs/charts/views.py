"""Data of the charts on a run page, fetched when a chart becomes visible."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from results.access.intervals import BusyError, SeriesDamagedError, each_slice, reading_slot
from results.access.withholding import is_file_withheld, is_withheld
from results.models import Histogram, Profile, Run
from webapp.register.http.files import csv_response, long_csv_response
from webapp.register.http.responses import conditional_response
from webapp.register.runs.charts import over_time as time_charts
from webapp.register.runs.charts import telemetry as telemetry_charts
from webapp.register.runs.charts.page import NO_CHARTS_SENTENCES, slice_chart
from webapp.register.runs.page import evidence_of
from webapp.register.runs.slices import ReadLimit, read_limits
from webapp.register.runs.views import run_page, withheld

TELEMETRY_FORMS = ("json", "csv", "every.csv")  # the last one is not reduced
UNREADABLE, PLAIN_TEXT = 503, "text/plain; charset=utf-8"
BUSY = (
    "The server is reading other stored files for their charts. Try again in a few seconds, or download the side file."
)
RETRY_HEADERS = {"Retry-After": "5", "Cache-Control": "no-store"}


@run_page
def over_time(request: HttpRequest, run: Run, form: str) -> HttpResponseBase:
    """Send the reads of a run over its time: as the charts show them (json, csv), or every piece (rates)."""
    if is_withheld(run):
        return withheld(request, run, "The minutes", evidence_of(run))
    histogram = _judged(run)
    what = (time_charts.SCHEMA, form, Profile.current().pk)
    try:
        return conditional_response(request, run, what, lambda: _over_time(run, histogram, form))
    except BusyError:
        return _busy()
    except SeriesDamagedError as error:
        return HttpResponse(f"The minutes of run {run.public_id} cannot be read: {error}.", PLAIN_TEXT, UNREADABLE)


def _over_time(run: Run, histogram: Histogram, form: str) -> HttpResponse:
    if form == "rates":
        return csv_response(f"{run.public_id}-rates", *time_charts.rate_lines(time_charts.pieces_of(run, histogram)))
    reduced = time_charts.over_time(run, histogram)
    seconds = telemetry_charts.page_intervals(run)
    if seconds is telemetry_charts.NoCharts.BUSY:
        raise BusyError  # no cache may keep rates that lack the intervals
    if isinstance(seconds, telemetry_charts.PageIntervals):
        reduced = time_charts.with_interval_rates(reduced, seconds)
    if form == "csv":
        return csv_response(f"{run.public_id}-over-time", *time_charts.csv_lines(histogram, reduced))
    return JsonResponse(time_charts.as_document(run, histogram, reduced, _limits(run, histogram)))


def _limits(run: Run, histogram: Histogram) -> list[ReadLimit]:
    return read_limits(histogram, run.verdicts.select_related("profile").first())


@run_page
def slice_chart_json(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Send the slice chart of a run that has more slices than its page lists."""
    histogram = _judged(run)

    def make() -> HttpResponse:
        slices = run.slices.of_histogram(histogram.ordinal)
        return JsonResponse(slice_chart(each_slice(slices), slices.count(), _limits(run, histogram)))

    return conditional_response(request, run, ("slice-chart", Profile.current().pk), make)


def _judged(run: Run) -> Histogram:
    histogram = run.judged_histogram
    if histogram is None:
        raise Http404(f"Run {run.public_id} has no histogram of reads.")
    return histogram


@run_page
def telemetry(request: HttpRequest, run: Run, form: str) -> HttpResponseBase:
    """Send the host's telemetry during a run; `form` is one of TELEMETRY_FORMS."""
    evidence = run.submission.side_file if run.submission else None
    if evidence is None or form not in TELEMETRY_FORMS:
        expected = f"a run with a side file, and one of {', '.join(TELEMETRY_FORMS)}"
        raise Http404(f"Run {run.public_id} has no telemetry as {form}: expected {expected}.")
    if is_file_withheld(run, evidence):
        return withheld(request, run, "The telemetry", evidence)
    if telemetry_charts.is_too_large(evidence):
        raise Http404(NO_CHARTS_SENTENCES[telemetry_charts.NoCharts.TOO_LARGE])

    def make() -> HttpResponseBase:
        if form == "every.csv":
            header, rows = telemetry_charts.every_line(evidence)
            with reading_slot():
                return long_csv_response(f"{run.public_id}-telemetry-every", header, rows)
        telemetry = telemetry_charts.reduced_intervals(evidence).telemetry
        if form == "csv":
            return csv_response(f"{run.public_id}-telemetry", *telemetry_charts.csv_lines(telemetry))
        return JsonResponse(telemetry_charts.as_document(run.public_id, telemetry))

    try:
        return conditional_response(request, run, (telemetry_charts.SCHEMA, form, evidence.sha256), make)
    except BusyError:
        return _busy()


def _busy() -> HttpResponse:
    return HttpResponse(BUSY, PLAIN_TEXT, UNREADABLE, headers=RETRY_HEADERS)
