"""Endpoints of public data: products, their runs and their certificates."""

import re
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import Certificate, Event, Product, Run, Statistic
from webapp.api.authentication import ReadThrottle
from webapp.api.history import EventSerializer, RunDetailSerializer
from webapp.api.ladders import ProductDetailSerializer
from webapp.api.serializers import ProductSerializer, RunSerializer
from webapp.api.submissions import NewestFirst

PUBLIC_RUNS = (
    Run.objects.public()
    .with_withheld_flag()
    .select_related("product", "superseded_by", "reading__evidence")
    .prefetch_related("shares", "verdicts", "ycsb__operations")
)


class HoldingSerializer(serializers.Serializer[Any]):
    """A filter of runs: at most a percentage over a threshold. Set both parameters or neither."""

    over_us = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    at_most_pct = serializers.DecimalField(max_digits=12, decimal_places=9, min_value=0, max_value=100, required=False)
    statistic = serializers.ChoiceField(Statistic.choices, default=Statistic.WORST_SLICE)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("over_us" in attrs) != ("at_most_pct" in attrs):
            raise serializers.ValidationError("Expected over_us and at_most_pct together: a time and a percentage.")
        return attrs


Row = TypeVar("Row", bound=Model)


class PublicList(ListAPIView[Row]):
    """Public rows in pages, newest first."""

    pagination_class = NewestFirst
    throttle_classes = [ReadThrottle]


class PublicDetail(RetrieveAPIView[Row]):
    """One public row by its id."""

    throttle_classes = [ReadThrottle]
    lookup_field = "public_id"


class RunList(PublicList[Run]):
    """The public runs, newest first; a superseded or withdrawn one stays, with its visibility."""

    queryset = PUBLIC_RUNS
    serializer_class = RunSerializer

    @extend_schema(parameters=[HoldingSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return all runs, or those with at most `at_most_pct` percent over `over_us` microseconds in the statistic."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Run]:
        query = HoldingSerializer(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        parameters = query.validated_data
        if "over_us" not in parameters:
            return PUBLIC_RUNS.all()
        return PUBLIC_RUNS.holding(parameters["over_us"], parameters["at_most_pct"], parameters["statistic"])


class RunDetail(PublicDetail[Run]):
    """One public run, with its history."""

    queryset = PUBLIC_RUNS
    serializer_class = RunDetailSerializer


class ProductList(PublicList[Product]):
    """The products that have a public run."""

    queryset = Product.objects.public()
    serializer_class = ProductSerializer


class ProductDetail(PublicDetail[Product]):
    """One product with a public run, by its slug, with the ladders of its runs."""

    queryset = Product.objects.public()
    serializer_class = ProductDetailSerializer
    lookup_field = "slug"


PUBLIC_CERTIFICATES = Certificate.objects.select_related("product", "profile").prefetch_related("runs")
NX_LIMIT = 10**10  # as many digits as the column holds
SLUG = re.compile(r"[-\w]{1,200}", re.ASCII)
FILTERS = ("product", "min_nx", "state", "cursor", "format")


class CertificateSerializer(serializers.ModelSerializer[Certificate]):
    """A certificate: `nx_load` is N of each device with 4 decimals, `exact_nx` the same as a fraction."""

    id = serializers.CharField(source="public_id")
    url = serializers.SerializerMethodField()
    product = serializers.SlugRelatedField[Product](slug_field="slug", read_only=True)
    profile = serializers.StringRelatedField[Any]()
    runs = serializers.SlugRelatedField[Any](slug_field="public_id", many=True, read_only=True)
    document = serializers.DictField(read_only=True)

    class Meta:
        """Fields. `document` has the requirements that were shown, each with its sentence."""

        model = Certificate
        fields = [
            "id", "url", "product", "profile", "state", "device_count", "nx_load", "exact_nx", "firmware", "runs",
            "document", "issued_at", "withdrawn_at",
        ]  # fmt: skip

    def get_url(self, certificate: Certificate) -> str:
        return f"/drive/{certificate.product.slug}/#{certificate.public_id}"


class CertificateDetailSerializer(CertificateSerializer):
    """A certificate with its history."""

    history = serializers.SerializerMethodField()

    class Meta(CertificateSerializer.Meta):
        """Fields of the list, and the history."""

        fields = [*CertificateSerializer.Meta.fields, "history"]

    @extend_schema_field(EventSerializer(many=True))
    def get_history(self, certificate: Certificate) -> Any:
        events = Event.objects.filter(subject_type="certificate", subject_id=certificate.public_id)
        return EventSerializer(events, many=True).data


@extend_schema(
    summary="All certificates with their state, newest first",
    parameters=[
        OpenApiParameter("product", str, description="slug of a product"),
        OpenApiParameter("min_nx", str, description="minimum load of each device, a decimal"),
        OpenApiParameter("state", str, enum=Certificate.State.values),
    ],
)
class CertificateList(PublicList[Certificate]):
    """The certificates of all products, or of one."""

    queryset = PUBLIC_CERTIFICATES
    serializer_class = CertificateSerializer

    def get_queryset(self) -> QuerySet[Certificate]:
        query = self.request.query_params
        unknown = sorted(set(query) - set(FILTERS))
        if unknown:
            raise ValidationError({unknown[0]: f"Expected one of the parameters {', '.join(FILTERS)}."})
        certificates = PUBLIC_CERTIFICATES.all()
        if "product" in query:
            certificates = certificates.filter(product__slug=_slug(query["product"]))
        if "min_nx" in query:
            certificates = certificates.filter(nx_load__gte=_decimal(query["min_nx"]))
        if "state" in query:
            certificates = certificates.filter(state=_state(query["state"]))
        return certificates


class CertificateDetail(PublicDetail[Certificate]):
    """One certificate, with its history."""

    queryset = PUBLIC_CERTIFICATES
    serializer_class = CertificateDetailSerializer


def _slug(text: str) -> str:
    if not SLUG.fullmatch(text):
        raise ValidationError({"product": "Expected the slug of a product: letters, digits, hyphens."})
    return text


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not (number.is_finite() and abs(number) < NX_LIMIT):
        raise ValidationError({"min_nx": f"Expected a decimal such as 30 or 466.67, got {text}."})
    return number


def _state(text: str) -> str:
    if text not in Certificate.State.values:
        raise ValidationError({"state": f"Expected one of {', '.join(Certificate.State.values)}, got {text}."})
    return text
