"""Endpoints of the claims of vendors' publications, with the figures that each is recomputed from."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from webapp.api.authentication import ReadThrottle
from webapp.api.payloads import list_schema
from webapp.api.views import View
from webapp.register.http.query_params import read_parameters
from webapp.register.ycsb.claims.entries import entry_of
from webapp.register.ycsb.claims.listing import FIELDS, OUTCOMES, ClaimQuery, claim_parameters, claim_values, selected
from webapp.register.ycsb.claims.page import FIGURE_FIELDS, figure_values


def _text_fields(names: tuple[str, ...]) -> dict[str, Any]:
    return {name: serializers.CharField(allow_null=True) for name in names}


CLAIM = inline_serializer("Claim", _text_fields(FIELDS))
THREADS = {"threads": serializers.IntegerField(allow_null=True)}
FIGURE = inline_serializer("ClaimFigure", _text_fields(FIGURE_FIELDS) | THREADS)


class ClaimList(View):
    """GET returns the claims of publications, with the filters of /ycsb/claims/."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]
    parameters = None

    @extend_schema(
        operation_id="claims_list",
        summary="List published claims",
        description=(
            "GET returns the claims of publications, each with the stated and the recomputed value and its outcome. "
            "Numbers are text as printed. The catalogue is part of a release, so all claims are on one page."
        ),
        parameters=[OpenApiParameter("outcome", str, enum=OUTCOMES), OpenApiParameter("brief", str)],
        responses=list_schema("ClaimList", CLAIM, count=serializers.IntegerField()),
    )
    def get(self, request: Request) -> Response:
        query = ClaimQuery("json", **read_parameters(request.query_params, claim_parameters()))
        results = claim_values(selected(query))
        return Response({"count": len(results), "results": results})


class ClaimDetail(View):
    """GET returns one claim with the figures that it was recomputed from."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]

    @extend_schema(
        summary="Read a published claim",
        responses=inline_serializer(
            "ClaimDetail", _text_fields(FIELDS) | {"figures": serializers.ListField(child=FIGURE)}
        ),
    )
    def get(self, _request: Request, publication: str, name: str) -> Response:
        entry = entry_of(publication, name)
        if entry is None:
            raise NotFound(f"There is no claim {name} of the publication {publication}. /api/v1/claims/ lists all.")
        return Response(claim_values([entry])[0] | {"figures": figure_values(entry)})
