"""Endpoints of the tables of drives: their rows, the data of their charts, and the size of a cluster.

Each reads its parameters with the code of the page, so that a query gives the same rows in both.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import Profile, Statistic
from webapp.api.authentication import ReadThrottle
from webapp.api.payloads import list_schema
from webapp.api.views import CURSOR, View
from webapp.register.drives.landscape import charted_page
from webapp.register.drives.layouts import ALL_CATEGORIES_LAYOUT, INCLUDED
from webapp.register.drives.page import DrivesPage
from webapp.register.drives.query import THRESHOLDS_US, DrivesQuery, drives_parameters
from webapp.register.drives.runs import runs_of
from webapp.register.drives.store.charted_rows import ChartedRows
from webapp.register.drives.store.column_store import current_store
from webapp.register.http.query_params import ParameterError, read_parameters, text
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import limit_name
from webapp.register.sizing import query as sizing_query
from webapp.register.sizing.page import FIELDS as SIZING_FIELDS
from webapp.register.sizing.page import sizing_values
from webapp.register.sizing.views import answer_of
from webapp.register.tables.exports import FIELDS, exported_fields

ROWS_A_PAGE = 100
POINTS_A_PAGE = 1000
LAYOUT = ALL_CATEGORIES_LAYOUT
OF_PAGES = frozenset({"page", "format"})
OF_CHARTS = frozenset({"threshold", "statistic"})
OF_TABLES = frozenset({"sort", "columns"})
INTEGERS = frozenset({
    "capacity_gb", "over_provisioned_to_gb", "device_count", "device_gb", "total_gb", "device_tps", "compress_pct",
    "duration_s", "slice_length_s",
    "drives", "nodes", "working_drives", "by_throughput", "by_capacity", "by_endurance", "at_least_drives",
    "at_least_nodes",
})  # fmt: skip
BOOLEANS = frozenset({"historical", "sole_tenant", "is_on_no_drive"})
NULLABLE_BOOLEANS = frozenset({"sole_tenant", "is_on_no_drive"})
Field = serializers.Field[Any, Any, Any, Any]


def _value(name: str) -> Field:
    """Return the schema of an exported value. Decimals are text, so that no digit is lost."""
    if name in BOOLEANS:
        return serializers.BooleanField(allow_null=name in NULLABLE_BOOLEANS, required=False)
    kind = serializers.IntegerField if name in INTEGERS else serializers.CharField
    return kind(allow_null=True, required=False)


def _query(names: Iterable[str]) -> list[OpenApiParameter]:
    return [OpenApiParameter(name, str) for name in names]


FILTERS = (
    *("q", *(each.name for each in LAYOUT.filters)),
    *(limit_name(threshold_us) for threshold_us in THRESHOLDS_US.values()),
    *("within", *INCLUDED),
)
OF_FIGURE: dict[str, Field] = {"is_within_limits": serializers.BooleanField()}
FIGURE = inline_serializer("Figure", {name: _value(name) for name in FIELDS} | OF_FIGURE)
POINT = inline_serializer(
    "LandscapePoint",
    {
        "run": serializers.CharField(),
        "product": serializers.CharField(),
        "tps": serializers.FloatField(),
        "share_pct": serializers.FloatField(),
        "group": serializers.CharField(),
        "is_within_limits": serializers.BooleanField(),
        "is_answer": serializers.BooleanField(),
        "is_on_frontier": serializers.BooleanField(),
    },
)


def _pages(name: str, row: Any, **more: Field) -> Any:
    paging: dict[str, Field] = {"count": serializers.IntegerField(), "next": serializers.URLField(allow_null=True)}
    return list_schema(name, row, **more, **paging)


class FigureList(View):
    """GET returns the rows of the tables of drives: one per result, with the filters, limits and order of /drives/."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]
    parameters = None

    @extend_schema(
        summary="List figures of drives",
        description=(
            "GET returns the rows of the tables of drives, with the filters, limits and order of the pages at "
            "/drives/. A parameter with several codes has ~ between them. Decimals are text with the digits of their "
            "source. The field columns reduces a row to the fields of some columns."
        ),
        parameters=_query((*FILTERS, "sort", "columns", CURSOR)),
        responses=_pages("FigureList", FIGURE),
    )
    def get(self, request: Request) -> Response:
        page, cursor = _read(request, OF_PAGES | OF_CHARTS)
        rows, following = _slice(page, page.rows, cursor, ROWS_A_PAGE)
        fields = exported_fields(page.query.columns)
        within = {page.store.runs[row]: bool(page.limit_check.passes >> row & 1) for row in rows}
        results = [
            {field: FIELDS[field](run) for field in fields} | {"is_within_limits": within[run.public_id]}
            for run in runs_of(page.store, rows)
        ]
        return Response({"count": len(page.rows), "next": _next(request, following), "results": results})


class Landscape(View):
    """GET returns the data of the chart of speed and slow reads, with the filters and limits of /drives/."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]
    parameters = None

    @extend_schema(
        summary="Data of the landscape chart",
        description=(
            "GET returns the points of the chart of speed and slow reads, fastest first: the speed, and the share of "
            "reads over the threshold. is_answer is true for a result that was tested at the requested speed or more "
            "within the limits, is_on_frontier for one that none of its comparison group beats. The results have one "
            "statistic: the requested one, otherwise that of most results."
        ),
        parameters=[
            *_query(FILTERS),
            OpenApiParameter("threshold", str, enum=tuple(THRESHOLDS_US)),
            OpenApiParameter("statistic", str, enum=Statistic.values),
            *_query([CURSOR]),
        ],
        responses=_pages(
            "Landscape",
            POINT,
            threshold_us=serializers.IntegerField(),
            limit_pct=serializers.FloatField(),
            statistic=serializers.CharField(),
        ),
    )
    def get(self, request: Request) -> Response:
        page, cursor = _read(request, OF_PAGES | OF_TABLES)
        charted = charted_page(page)
        rows, following = _slice(page, charted.ordered, cursor, POINTS_A_PAGE)
        return Response(
            {
                "threshold_us": charted.threshold_us,
                "limit_pct": charted.limit_pct,
                "statistic": charted.shown_statistic,
                "count": len(charted.ordered),
                "next": _next(request, following),
                "results": _points(charted, rows),
            }
        )


def _points(charted: ChartedRows, rows: Iterable[int]) -> list[dict[str, Any]]:
    store = charted.store
    edges = {row for frontier in charted.frontiers for row, _, _ in frontier.edges}
    groups, shares = store.columns["comparison_group"], charted.shares
    return [
        {
            "run": store.runs[row],
            "product": store.slugs[row],
            "tps": charted.speeds[row],
            "share_pct": shares[row],
            "group": groups.word(row),
            "is_within_limits": bool(charted.passes >> row & 1),
            "is_answer": bool(charted.answers >> row & 1),
            "is_on_frontier": row in edges,
        }
        for row in rows
    ]


def _read(request: Request, left_out: frozenset[str]) -> tuple[DrivesPage, str]:
    """Return the page of tables that a query selects, and the cursor. Raises ParameterError."""
    store, profile = current_store(), current_limits()
    cursor = text(CURSOR, "Cursor")
    own = [each for each in drives_parameters(LAYOUT, profile, store) if not left_out & each.labels.keys()]
    found = read_parameters(request.query_params, [*own, cursor])
    start = found.pop(cursor.key)
    return DrivesPage(LAYOUT, store, DrivesQuery(**found), profile), start


def _slice(page: DrivesPage, rows: Sequence[int], cursor: str, count: int) -> tuple[Sequence[int], str]:
    """Return the rows from the one that the cursor names, and the cursor after them; empty at the end.

    Raises ParameterError if the row is not among them: the data or the query have changed.
    """
    start = 0
    if cursor:
        places = {page.store.runs[row]: place for place, row in enumerate(rows)}
        if cursor not in places:
            raise ParameterError(CURSOR, "expected the cursor of an earlier page of the same query", cursor)
        start = places[cursor]
    following = page.store.runs[rows[start + count]] if start + count < len(rows) else ""
    return rows[start : start + count], following


def _next(request: Request, cursor: str) -> str | None:
    if not cursor:
        return None
    query = request.query_params.copy()
    query[CURSOR] = cursor
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


SIZE = inline_serializer("SizingRow", {name: _value(name) for name in SIZING_FIELDS})
OF_SIZING = (
    *(field.name for field in (*sizing_query.FIELDS, *sizing_query.RESTRICTIONS)),
    *("vendor", "of", "sort", *(limit_name(threshold_us) for threshold_us in THRESHOLDS_US.values())),
)


class Sizing(View):
    """GET returns how many drives or instances a load needs, with the parameters of /sizing/."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]
    parameters = None

    @extend_schema(
        summary="Size a cluster",
        description=(
            "GET returns for each drive or instance within the limits how many of them a load needs, the smallest "
            "cluster of the largest comparison group first. Parameters and rules are those of /sizing/. A parameter "
            "price-SLUG sets the price of one drive."
        ),
        parameters=_query(OF_SIZING),
        responses=list_schema("Sizing", SIZE, count=serializers.IntegerField()),
    )
    def get(self, request: Request) -> Response:
        if "format" in request.query_params:
            raise ParameterError("format", "the API answers in JSON", request.query_params["format"])
        _, page = answer_of(request.query_params, Profile.current().document)
        results = [sizing_values(row) for row in page["rows"]]
        return Response({"count": len(results), "results": results})
