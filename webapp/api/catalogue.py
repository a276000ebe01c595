"""What is public: products and their runs."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import Product, Run, Statistic
from webapp.api.history import RunDetailSerializer
from webapp.api.ladders import ProductDetailSerializer
from webapp.api.serializers import ProductSerializer, RunSerializer
from webapp.api.submissions import NewestFirst
from webapp.api.throttles import ReadThrottle

PUBLIC_RUNS = (
    Run.objects.public()
    .with_withheld_flag()
    .select_related("product", "superseded_by", "reading__evidence")
    .prefetch_related("shares", "verdicts", "ycsb__operations")
)


class HoldingSerializer(serializers.Serializer[Any]):
    """Runs by a share: at most so many percent over a threshold, both or neither."""

    over_us = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    at_most_pct = serializers.DecimalField(max_digits=12, decimal_places=9, min_value=0, max_value=100, required=False)
    statistic = serializers.ChoiceField(Statistic.choices, default=Statistic.WORST_SLICE)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("over_us" in attrs) != ("at_most_pct" in attrs):
            raise serializers.ValidationError("Expected over_us and at_most_pct together: a time and a percentage.")
        return attrs


class RunList(ListAPIView[Run]):
    """The public runs, newest first; a superseded or withdrawn one stays, with its visibility."""

    queryset = PUBLIC_RUNS
    serializer_class = RunSerializer
    pagination_class = NewestFirst
    throttle_classes = [ReadThrottle]

    @extend_schema(parameters=[HoldingSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Answer all, or those with at most `at_most_pct` percent over `over_us` microseconds in the statistic."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Run]:
        query = HoldingSerializer(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        parameters = query.validated_data
        if "over_us" not in parameters:
            return PUBLIC_RUNS.all()
        return PUBLIC_RUNS.holding(parameters["over_us"], parameters["at_most_pct"], parameters["statistic"])


class RunDetail(RetrieveAPIView[Run]):
    """One public run, with its history."""

    queryset = PUBLIC_RUNS
    serializer_class = RunDetailSerializer
    throttle_classes = [ReadThrottle]
    lookup_field = "public_id"


class ProductList(ListAPIView[Product]):
    """The products that have a public run."""

    queryset = Product.objects.public()
    serializer_class = ProductSerializer
    pagination_class = NewestFirst
    throttle_classes = [ReadThrottle]


class ProductDetail(RetrieveAPIView[Product]):
    """One product with a public run, by its slug, with the ladders of its runs."""

    queryset = Product.objects.public()
    serializer_class = ProductDetailSerializer
    throttle_classes = [ReadThrottle]
    lookup_field = "slug"
