"""The intervals of a run: minutes as they are stored, seconds read again from the log, status lines of YCSB."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.functional import SimpleLazyObject
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from results.access import intervals as seconds
from results.access.intervals import intervals
from results.access.withholding import is_sequestered, refuse_withheld, refuse_withheld_file
from results.models import YCSB, Run
from results.reader import process as reader_process
from webapp.accounts.models import Scope
from webapp.api.authentication import IntervalsThrottle, token_of
from webapp.api.permissions import is_reviewer
from webapp.api.views import View
from webapp.register.http.access import is_public, require_access
from webapp.register.http.files import plain
from webapp.register.http.responses import PRIVATE, PUBLIC

SCHEMA = "drivecert.intervals/1"
WINDOW_MAX_S = {1: 3_600, 60: 7 * 86_400}
SECONDS_MAX = 10**9  # the latest second that drivetest believes
CELLS_MAX = 200_000  # intervals times histograms: some 10 MB of JSON


class WindowSerializer(serializers.Serializer[Any]):
    """The requested intervals, as query parameters."""

    from_s = serializers.IntegerField(min_value=0, max_value=SECONDS_MAX, default=0)
    to_s = serializers.IntegerField(min_value=1, max_value=SECONDS_MAX, required=False)
    every_s = serializers.ChoiceField([(60, "60"), (1, "1")], default=60)
    histogram = serializers.IntegerField(min_value=0, max_value=32_767, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        longest_s = WINDOW_MAX_S[attrs["every_s"]]
        to_s = attrs.setdefault("to_s", attrs["from_s"] + longest_s)
        if not attrs["from_s"] < to_s <= attrs["from_s"] + longest_s:
            raise ValidationError(
                {"to_s": f"Expected from_s < to_s, and at most {longest_s} s in intervals of {attrs['every_s']} s."}
            )
        return attrs


@dataclass(frozen=True)
class Window:
    """The requested intervals after validation."""

    from_s: int
    to_s: int
    every_s: int
    histogram: int | None = None


class RunIntervals(View):
    """GET returns the counts of a run for each interval from from_s to to_s, in seconds since the start of the run.

    With every_s=60 each interval is a minute, and the register answers from its database. With every_s=1 each
    interval is a second, and the register reads the stored log again. A request with every_s=1 can cover at most
    one hour of the run; its response is 429 while the register reads too many logs. Each interval has the counts by
    bucket of each histogram, or null if its counts are not known. For a YCSB run, the intervals are the status
    lines that YCSB printed. Everyone who may see a run may see its intervals; if the log of the run is withheld,
    the response is 451 for everyone, or 404 if it is hidden on request of its sender. The parameter key is the key in
    the secret link of a run that is not public.
    """

    permission_classes = [AllowAny]
    throttle_classes = [IntervalsThrottle]
    parameters = (*WindowSerializer().fields, "key")

    @extend_schema(
        summary="Counts of a run by minute or second",
        parameters=[WindowSerializer, OpenApiParameter("key", str)],
        responses={200: OpenApiTypes.OBJECT},
    )
    def get(self, request: Request, public_id: str) -> HttpResponseBase:
        run = find_run(request, public_id)
        # Before any answer about cached copies. Status lines may come from a companion file.
        (refuse_withheld_file if run.workload == YCSB else refuse_withheld)(run)
        query = WindowSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        window = Window(**query.validated_data)
        etag = _etag(run, window)
        answer = get_conditional_response(request._request, etag=etag) or Response(_answer(run, window))
        answer.headers["ETag"] = etag
        answer.headers["Cache-Control"] = PUBLIC if is_public(run) else PRIVATE
        return answer


def find_run(request: Request, public_id: str) -> Run:
    """Return a run that is public, or that the token, the session or the link's key opens. Raise 404 otherwise."""
    runs = Run.objects.filter(public_id=public_id)
    run = runs.select_related("submission").first()
    is_sender = bool(request.auth) and _is_of_sender(request, run)
    if not is_sender or run is None or is_sequestered(run):
        asker = request._request
        # From the session, because the API authenticates by token only; needed only if the run is not public.
        asker.user = SimpleLazyObject(lambda: get_user(asker))  # type: ignore[assignment]
        require_access(asker, public_id, run)
    return runs.select_related("submission__organisation", "reading__evidence__submission", "product", "ycsb").get()


def _is_of_sender(request: Request, run: Run | None) -> bool:
    token = token_of(request)
    is_own = run is not None and run.submission and run.submission.organisation_id == token.organisation_id
    return bool(is_own and Scope.READ_OWN in token.scopes) or is_reviewer(request)


def _etag(run: Run, window: Window) -> str:
    """Return the ETag without computing the response: the reading of a log by one reader version does not change."""
    reader = reader_process.reader_version() if window.every_s == 1 else ""
    parts = [run.public_id, run.reading_id, reader, window.from_s, window.to_s, window.every_s, window.histogram]
    return '"' + "-".join(str(part) for part in parts) + '"'


def _answer(run: Run, window: Window) -> dict[str, Any]:
    document = {"schema": SCHEMA, "run": run.public_id, "from_s": window.from_s, "to_s": window.to_s}
    if run.workload == YCSB:
        return document | {"read_from": "database", "intervals": _status_lines(run, window)}
    histograms = run.histograms.defer("counts")
    if window.histogram is not None:
        histograms = histograms.filter(ordinal=window.histogram)
    if not histograms:
        raise NotFound(f"Run {run.public_id} has no such histogram.")
    is_read_again = window.every_s == 1
    series = seconds.seconds_of(run, window.from_s, window.to_s) if is_read_again else seconds.minutes_of(run)
    count = (window.to_s - window.from_s) // series.interval_s
    if min(count, series.intervals_count) * len(histograms) > CELLS_MAX:
        raise ValidationError(
            {"histogram": f"Expected at most {CELLS_MAX} intervals times histograms; name one, or less."}
        )
    ordinals = range(histograms[0].ordinal, histograms[len(histograms) - 1].ordinal + 1)
    return document | {
        "read_from": "evidence" if is_read_again else "database",
        "interval_s": series.interval_s,
        "histograms": [{"ordinal": each.ordinal, "name": each.name, "unit": each.unit} for each in histograms],
        "intervals": [vars(each) for each in intervals(series, window.from_s, window.to_s, ordinals)],
    }


def _status_lines(run: Run, window: Window) -> list[dict[str, Any]]:
    lines = run.ycsb.intervals.filter(elapsed_s__gte=window.from_s, elapsed_s__lt=window.to_s)
    rows = lines.values("elapsed_s", "done_ops_count", "ops_per_s", "operations")
    return [row | {"ops_per_s": plain(row["ops_per_s"])} for row in rows]
