"""Certificates: which products are certified at which load, and on which runs each rests."""

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView, RetrieveAPIView

from results.models import Certificate, Event, Product
from webapp.api.history import EventSerializer
from webapp.api.submissions import NewestFirst
from webapp.api.throttles import ReadThrottle

PUBLIC = Certificate.objects.select_related("product", "profile").prefetch_related("runs")
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
        """`document` has the requirements that were shown, each with its sentence."""

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
        """As in the list, and what became of it."""

        fields = [*CertificateSerializer.Meta.fields, "history"]

    @extend_schema_field(EventSerializer(many=True))
    def get_history(self, certificate: Certificate) -> Any:
        events = Event.objects.filter(subject_type="certificate", subject_id=certificate.public_id)
        return EventSerializer(events, many=True).data


@extend_schema(
    summary="The certificates, newest first; a withdrawn one stays, with its state",
    parameters=[
        OpenApiParameter("product", str, description="slug of a product"),
        OpenApiParameter("min_nx", str, description="this load of each device or more, a decimal"),
        OpenApiParameter("state", str, enum=Certificate.State.values),
    ],
)
class CertificateList(ListAPIView[Certificate]):
    """The certificates of all products, or of one."""

    queryset = PUBLIC
    serializer_class = CertificateSerializer
    pagination_class = NewestFirst
    throttle_classes = [ReadThrottle]

    def get_queryset(self) -> QuerySet[Certificate]:
        query = self.request.query_params
        unknown = sorted(set(query) - set(FILTERS))
        if unknown:
            raise ValidationError({unknown[0]: f"Expected one of the parameters {', '.join(FILTERS)}."})
        certificates = PUBLIC.all()
        if "product" in query:
            certificates = certificates.filter(product__slug=_slug(query["product"]))
        if "min_nx" in query:
            certificates = certificates.filter(nx_load__gte=_decimal(query["min_nx"]))
        if "state" in query:
            certificates = certificates.filter(state=_state(query["state"]))
        return certificates


class CertificateDetail(RetrieveAPIView[Certificate]):
    """One certificate, with its history."""

    queryset = PUBLIC
    serializer_class = CertificateDetailSerializer
    throttle_classes = [ReadThrottle]
    lookup_field = "public_id"


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
