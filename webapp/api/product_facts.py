"""Changes of a product's facts and list prices by API, with the token of a reviewer.

A change of facts needs the version that was read, so that two editors do not overwrite each other.
"""

from datetime import date
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import ListPrice, Product
from results.naming.addresses import product_of_slug
from results.products.facts import (
    CURRENCY,
    FACTS,
    NO_CURRENCY,
    PART_NUMBER_CHARS,
    PART_NUMBERS_MAX,
    StatedPrice,
    add_price,
    change_facts,
    complaint_about_date,
    current_prices,
)
from webapp.accounts.models import Scope
from webapp.api.authentication import SubmitThrottle, token_of
from webapp.api.permissions import NeedsScope, ReviewersOnly
from webapp.api.problems import Problem
from webapp.api.serializers import ProductSerializer
from webapp.api.views import View

PERMANENT_REDIRECT = 308  # unlike 301, the client repeats the method and the body


class EditorsOnly(ReviewersOnly):
    """Only the token of a reviewer: other tokens submit results, and change no product."""

    message = "Only reviewers change products. This token is of a user who is no reviewer."


class ListPriceSerializer(serializers.ModelSerializer[ListPrice]):
    """A list price with its date and source."""

    currency = serializers.RegexField(CURRENCY, error_messages={"invalid": NO_CURRENCY})
    amount = serializers.DecimalField(max_digits=12, decimal_places=2, min_value=0)

    class Meta:
        """Fields of a price that was not removed."""

        model = ListPrice
        fields = ["amount", "currency", "stated_on", "source_url"]

    def validate_stated_on(self, value: date) -> date:
        """Refuse a date in the future."""
        if complaint := complaint_about_date(value):
            raise ValidationError(complaint)
        return value


class ProductFactsSerializer(ProductSerializer):
    """A product with the version of its facts, and its list prices."""

    list_prices = serializers.SerializerMethodField()

    class Meta(ProductSerializer.Meta):
        """Fields of the list, and those that only the page of one product has."""

        fields = [*ProductSerializer.Meta.fields, "version", "list_prices"]

    @extend_schema_field(ListPriceSerializer(many=True))
    def get_list_prices(self, product: Product) -> list[dict[str, Any]]:
        """Return the prices, the newest date first."""
        return [dict(row) for row in ListPriceSerializer(current_prices(product), many=True).data]


class FactsSerializer(serializers.Serializer[Any]):
    """New facts of a product, all optional, and the reason or source, which everyone reads."""

    endurance_dwpd = serializers.DecimalField(
        max_digits=7, decimal_places=2, min_value=0, required=False, allow_null=True
    )
    pcie_gen = serializers.CharField(max_length=10, required=False, allow_blank=True)
    form_factor = serializers.CharField(max_length=40, required=False, allow_blank=True)
    part_numbers = serializers.ListField(
        child=serializers.CharField(max_length=PART_NUMBER_CHARS), max_length=PART_NUMBERS_MAX, required=False
    )
    historical = serializers.BooleanField(required=False)
    reason = serializers.CharField(max_length=1000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse unknown names, so that no typing error is taken for a change."""
        for name in sorted(set(self.initial_data) - set(self.fields)):
            raise ValidationError({name: f"Expected one of {', '.join(self.fields)}."})
        if not set(attrs) & set(FACTS):
            raise ValidationError(f"Expected at least one of {', '.join(FACTS)}.")
        return attrs


IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description='The version that was read, such as "3".'
)


class ProductFacts(View):
    """PATCH changes the stated facts of a product; facts that are left out stay."""

    permission_classes = [NeedsScope, EditorsOnly]
    read_scope = change_scope = Scope.REVIEW
    parser_classes = [JSONParser]
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Change the facts of a product",
        description=(
            "PATCH changes the facts of a product: endurance, PCIe generation, form factor, further part numbers and "
            "the historical flag. It needs the token of a reviewer, and in If-Match the version that was read. If "
            "the product was changed since, the response is 412 and nothing is changed. Without If-Match, the "
            "response is 428. The history of the product shows the old and the new values with the reason."
        ),
        parameters=[IF_MATCH],
        request=FactsSerializer,
        responses=ProductFactsSerializer,
    )
    def patch(self, request: Request, slug: str) -> Response | HttpResponse:
        product = _product(slug)
        if product.slug != slug:
            return _moved("api-product-facts", product)
        payload = FactsSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        stated = dict(payload.validated_data)
        reason = stated.pop("reason")
        change_facts(product, stated, token_of(request).user, reason, _version(request))
        return Response(ProductFactsSerializer(Product.objects.get(pk=product.pk)).data)


class ProductListPrices(View):
    """POST adds a list price of a product, with its date and source."""

    permission_classes = [NeedsScope, EditorsOnly]
    read_scope = change_scope = Scope.REVIEW
    parser_classes = [JSONParser]
    throttle_classes = [SubmitThrottle]

    @extend_schema(
        summary="Add a list price",
        description=(
            "POST adds a list price of a product with its date and the address of its source. It needs the token of a "
            "reviewer. If the product has a price of that date in that currency, the response is 409."
        ),
        request=ListPriceSerializer,
        responses={201: ProductFactsSerializer},
    )
    def post(self, request: Request, slug: str) -> Response | HttpResponse:
        product = _product(slug)
        if product.slug != slug:
            return _moved("api-product-list-prices", product)
        payload = ListPriceSerializer(data=request.data)
        payload.is_valid(raise_exception=True)
        add_price(product, StatedPrice(**payload.validated_data), token_of(request).user)
        return Response(ProductFactsSerializer(Product.objects.get(pk=product.pk)).data, 201)


def _product(slug: str) -> Product:
    """Return the product of a slug, also of a former one. Reviewers change products before they are public, too."""
    product = product_of_slug(slug)
    if product is None:
        raise NotFound(f"There is no product {slug}.")
    return product


def _moved(name: str, product: Product) -> HttpResponse:
    return HttpResponse(status=PERMANENT_REDIRECT, headers={"Location": reverse(name, args=[product.slug])})


def _version(request: Request) -> int:
    stated = request.headers.get("If-Match", "").strip().strip('"')
    if not stated:
        raise Problem(428, 'Expected the header If-Match with the version of the product that you read, such as "3".')
    if not (stated.isascii() and stated.isdigit() and len(stated) <= 9):
        raise Problem(412, f'Expected a version such as "3" in the header If-Match, got {stated[:40]!r}.')
    return int(stated)
