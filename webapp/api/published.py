"""Endpoints of what the register publishes besides tables of drives: YCSB figures and loads, news, and objections."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import Objection
from webapp.api.authentication import ReadThrottle
from webapp.api.catalogue import ObjectionSerializer, PublicList
from webapp.api.pagination import NewestAdmittedFirst
from webapp.api.payloads import list_schema
from webapp.api.views import View
from webapp.register.http.query_params import read_parameters, text
from webapp.register.news.changes import changes_page
from webapp.register.news.views import BEFORE, EVENT_MAX, FIELDS, change_values
from webapp.register.ycsb.exports import FIGURE_FIELDS, POINT_FIELDS, figure_values, point_values
from webapp.register.ycsb.loads import LOAD_KEY_DIGITS, load_of
from webapp.register.ycsb.publications import by_publication

INTEGERS = frozenset({"event", "capacity_gb", "threads", "at_ops_per_s", "ops_count", "over_provisioned_to_gb"})
NO_PUBLICATION = "The register has no publication {}. It has: {}."
NO_LOAD = "No public YCSB run has the load {}. The field sweep_key of a run begins with the name of its load."


def _row(name: str, fields: tuple[str, ...]) -> Any:
    kinds = {field: serializers.IntegerField if field in INTEGERS else serializers.CharField for field in fields}
    return inline_serializer(name, {field: kind(allow_null=True) for field, kind in kinds.items()})


class PublishedFigureList(View):
    """GET returns the YCSB figures of publications with their digits as printed."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]
    parameters = None

    @extend_schema(
        summary="List published YCSB figures",
        description=(
            "GET returns the YCSB figures of all publications, or of one. The catalogue is part of a release, so all "
            "figures are on one page. Numbers are text as printed; exactness says if they were read from a chart."
        ),
        parameters=[OpenApiParameter("publication", str)],
        responses=list_schema(
            "PublishedFigureList", _row("PublishedFigure", FIGURE_FIELDS), count=serializers.IntegerField()
        ),
    )
    def get(self, request: Request) -> Response:
        named = read_parameters(request.query_params, [text("publication", "Publication")])["publication"]
        found = by_publication(**({"publication": named} if named else {}))
        if named and not found:
            known = ", ".join(each.publication for each in by_publication())
            raise NotFound(NO_PUBLICATION.format(named, known))
        results = figure_values(found)
        return Response({"count": len(results), "results": results})


class YcsbLoad(View):
    """GET returns the points of a YCSB load: each operation of each public run that has it."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]

    @extend_schema(
        summary="Read the points of a YCSB load",
        responses=list_schema("YcsbLoad", _row("YcsbPoint", POINT_FIELDS), count=serializers.IntegerField()),
    )
    def get(self, _request: Request, key: str) -> Response:
        found = load_of(key) if len(key) == LOAD_KEY_DIGITS else None
        if found is None:
            raise NotFound(NO_LOAD.format(key))
        results = point_values(found)
        return Response({"count": len(results), "results": results})


class News(View):
    """GET returns the changes of the register in words, newest first."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]
    parameters = None

    @extend_schema(
        summary="List changes of the register",
        description=(
            "GET returns the changes that /news/ shows, newest first: new results, verdicts of a new rule, "
            "withdrawals, objections and recomputed claims. With the number of an event in before, it returns the "
            "changes before that event."
        ),
        parameters=[OpenApiParameter("before", {"type": "integer", "minimum": 1, "maximum": EVENT_MAX})],
        responses=list_schema("News", _row("Change", FIELDS), next=serializers.URLField(allow_null=True)),
    )
    def get(self, request: Request) -> Response:
        page = changes_page(read_parameters(request.query_params, [BEFORE])["before"])
        following = None
        if page.older_than is not None:
            following = request.build_absolute_uri(f"{request.path}?before={page.older_than}")
        return Response({"next": following, "results": [change_values(change) for change in page.changes]})


class PublicObjectionSerializer(ObjectionSerializer):
    """An admitted objection with the address of the run that it is about."""

    run = serializers.SlugRelatedField[Any](slug_field="public_id", read_only=True)
    run_url = serializers.SerializerMethodField()

    class Meta(ObjectionSerializer.Meta):
        """Fields of the objection of a run, and its run."""

        fields = [*ObjectionSerializer.Meta.fields, "run", "run_url"]

    def get_run_url(self, objection: Objection) -> str:
        return reverse("run-detail", args=[objection.run.public_id])


@extend_schema_view(get=extend_schema(summary="List objections"))
class ObjectionList(PublicList):
    """GET returns the admitted objections to public results, the last admitted first."""

    queryset = Objection.objects.admitted().select_related("run")
    serializer_class = PublicObjectionSerializer
    pagination_class = NewestAdmittedFirst
