"""Endpoints of public data: products, their runs and their certificates."""

from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from results.access.withholding import visible_events, visible_verdict
from results.history import (
    details_for_everyone,
    displaced_by,
    event_label,
    for_everyone,
    history_of,
    is_by_reviewer,
    is_by_submitter,
)
from results.models import Annotation, Certificate, Event, Objection, Product, Run, Share, Statistic, Verdict
from results.models.objection import ADMITTED_STATES
from webapp.api.authentication import ReadThrottle
from webapp.api.pagination import NewestFirst, Pages
from webapp.api.problems import Problem
from webapp.api.product_facts import ProductFactsSerializer
from webapp.api.serializers import ProductSerializer, RunSerializer
from webapp.api.views import CURSOR, Deprecation, DetailView, ListView
from webapp.register.fleet.listed_drive import named_size_gb
from webapp.register.http.former_slugs import former_slug_redirect
from webapp.register.limits.profile import current_limits, limits_by_threshold
from webapp.register.products.model_index import register_index
from webapp.register.tables.columns import newest_verdict
from webapp.register.tables.evaluation import is_over

PUBLIC_RUNS = (
    Run.objects.public()
    .with_withheld_flag()
    .select_related("product", "superseded_by", "reading__evidence")
    .prefetch_related("shares", "verdicts", "ycsb__operations")
)


class EventSerializer(serializers.ModelSerializer[Event]):
    """One entry of a history. It names the actor by role only; `details` has the values before and after."""

    what = serializers.SerializerMethodField()
    by = serializers.SerializerMethodField()
    details = serializers.SerializerMethodField()

    class Meta:
        """Fields without names of people."""

        model = Event
        fields = ["at", "kind", "what", "by", "reason", "details"]

    def get_what(self, event: Event) -> str:
        return event_label(event.kind)

    def get_by(self, event: Event) -> str:
        if is_by_submitter(event):
            return "submitter"
        return "reviewer" if is_by_reviewer(event) else "register"

    def get_details(self, event: Event) -> dict[str, Any]:
        return details_for_everyone(event.details)


class AnnotationSerializer(serializers.ModelSerializer[Annotation]):
    """A sentence shown with a run's figures; `created_at` is not before the run was public."""

    created_at = serializers.DateTimeField(source="public_since")

    class Meta:
        """Fields of a current annotation; the history lists retracted ones."""

        model = Annotation
        fields = ["text", "created_at", "reply", "replied_at"]


class ObjectionSerializer(serializers.ModelSerializer[Objection]):
    """An admitted objection. `deadline` is the end of the limit of its state; null once it is decided."""

    id = serializers.CharField(source="public_id")
    url = serializers.SerializerMethodField()

    class Meta:
        """Fields without names of people. `reply` is that of the organisation that submitted the run."""

        model = Objection
        fields = [
            "id", "url", "state", "state_since", "deadline", "filed_at", "admitted_at", "text", "reply", "replied_at",
            "outcome", "outcome_note", "decided_at",
        ]  # fmt: skip

    def get_url(self, objection: Objection) -> str:
        return f"/objections/{objection.public_id}/"


class EarlierVerdictSerializer(serializers.ModelSerializer[Verdict]):
    """A verdict that a newer one replaced. `figures` is the address of all figures at that time, null if unchanged.

    `created_at` is not before the run was public.
    """

    rule_version = serializers.IntegerField(source="profile.rule_version")
    created_at = serializers.DateTimeField(source="public_since")
    figures = serializers.SerializerMethodField()

    class Meta:
        """Newest first."""

        model = Verdict
        fields = ["outcome", "headline", "reader_version", "rule_version", "created_at", "document", "figures"]

    def get_figures(self, verdict: Verdict) -> str | None:
        earlier = getattr(verdict, "earlier_result", None)
        return f"/runs/{earlier.run.public_id}/earlier/{earlier.number}.json" if earlier else None


class RunDetailSerializer(RunSerializer):
    """A run with its lifecycle: replaced runs, annotations, objections, certificates, earlier verdicts, history."""

    supersedes = serializers.SerializerMethodField()
    annotations = serializers.SerializerMethodField()
    objections = serializers.SerializerMethodField()
    certificates = serializers.SlugRelatedField[Certificate](slug_field="public_id", many=True, read_only=True)
    earlier_verdicts = serializers.SerializerMethodField()
    history = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        """Fields of the list, and the lifecycle."""

        fields = [
            *RunSerializer.Meta.fields, "supersedes", "annotations", "objections", "certificates",
            "earlier_verdicts", "history",
        ]  # fmt: skip

    def get_supersedes(self, run: Run) -> list[str]:
        """Return the public ids that the page also shows: those of runs that were public."""
        return [earlier.public_id for earlier in displaced_by(run)]

    @extend_schema_field(AnnotationSerializer(many=True))
    def get_annotations(self, run: Run) -> Any:
        return AnnotationSerializer(run.annotations.current(), many=True).data

    @extend_schema_field(ObjectionSerializer(many=True))
    def get_objections(self, run: Run) -> Any:
        return ObjectionSerializer(run.objections.filter(state__in=ADMITTED_STATES), many=True).data

    @extend_schema_field(EarlierVerdictSerializer(many=True))
    def get_earlier_verdicts(self, run: Run) -> Any:
        verdicts = run.verdicts.select_related("profile", "earlier_result__run")[1:]
        return EarlierVerdictSerializer([visible_verdict(run, verdict) for verdict in verdicts], many=True).data

    @extend_schema_field(EventSerializer(many=True))
    def get_history(self, run: Run) -> Any:
        events = for_everyone(history_of(run).filter(subject_type="run"))
        return EventSerializer(visible_events(events), many=True).data


# Shares of two statistics are never sorted together: those that were published as steady state have a mark.
MARKS: dict[str, str] = {Statistic.WORST_SLICE: "", Statistic.STEADY_AS_PUBLISHED: "steady state as published"}


class RungSerializer(serializers.Serializer[Any]):
    """One run; `mark` is shown with a figure that is not the worst slice of a stored log."""

    run = serializers.CharField()
    nx_load = serializers.CharField(allow_null=True, read_only=True)
    device_count = serializers.IntegerField(allow_null=True)
    outcome = serializers.CharField(allow_null=True)
    share_pct = serializers.DecimalField(max_digits=12, decimal_places=9)
    is_within = serializers.BooleanField()
    mark = serializers.CharField(allow_blank=True)


class LadderSerializer(serializers.Serializer[Any]):
    """Rungs by rising load: those of logs, those as published, and those whose load is not known."""

    threshold_us = serializers.IntegerField()
    limit_pct = serializers.DecimalField(max_digits=12, decimal_places=9, allow_null=True, normalize_output=True)
    measured = RungSerializer(many=True)
    as_published = RungSerializer(many=True)
    without_load = RungSerializer(many=True)


class ProductDetailSerializer(ProductFactsSerializer):
    """A product with its list prices, and the ladders of its public ACT storage runs.

    `version` counts the changes by reviewers. PATCH of its facts needs it in the header If-Match.
    """

    ladders = serializers.SerializerMethodField()

    class Meta(ProductFactsSerializer.Meta):
        """Facts and ladders."""

        fields = [*ProductFactsSerializer.Meta.fields, "ladders"]

    @extend_schema_field(LadderSerializer(many=True))
    def get_ladders(self, product: Product) -> list[dict[str, Any]]:
        """Return a ladder for each threshold of a limit or a run, from current runs on physical devices."""
        runs = Run.objects.listed().rated().on_drives().filter(product=product)
        shares = [share for run in runs.prefetch_related("shares", "verdicts") for share in run.shares.all()]
        shares = sorted((share for share in shares if share.statistic in MARKS), key=_rung_order)
        limits = limits_by_threshold(current_limits())
        thresholds = sorted(limits.keys() | {share.threshold_us for share in shares})
        ladders = [_ladder(threshold_us, limits.get(threshold_us), shares) for threshold_us in thresholds]
        return [dict(row) for row in LadderSerializer(ladders, many=True).data]


def _rung_order(share: Share) -> tuple[Decimal, Decimal, str]:
    return share.run.nx_load or Decimal(0), share.share_pct, share.run.public_id


def _ladder(threshold_us: int, limit_pct: Decimal | None, shares: list[Share]) -> dict[str, Any]:
    """Return the ladder of one threshold. A share of unknown load has no place on the axis."""
    rungs = [_rung(share, limit_pct) for share in shares if share.threshold_us == threshold_us]
    placed = [rung for rung in rungs if rung["nx_load"] is not None]
    return {
        "threshold_us": threshold_us,
        "limit_pct": limit_pct,
        "measured": [rung for rung in placed if not rung["mark"]],
        "as_published": [rung for rung in placed if rung["mark"]],
        "without_load": [rung for rung in rungs if rung["nx_load"] is None],
    }


def _rung(share: Share, limit_pct: Decimal | None) -> dict[str, Any]:
    run, verdict = share.run, newest_verdict(share.run)
    return {
        "run": run.public_id,
        "nx_load": None if run.nx_load is None else f"{run.nx_load.normalize():f}",
        "device_count": run.device_count,
        "outcome": verdict.outcome if verdict else None,
        "share_pct": share.share_pct,
        "is_within": limit_pct is None or not is_over(share, limit_pct),
        "mark": MARKS[share.statistic],
    }


class HoldingSerializer(serializers.Serializer[Any]):
    """A filter of runs: at most a percentage over a threshold. Set both parameters or neither."""

    over_us = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    at_most_pct = serializers.DecimalField(max_digits=12, decimal_places=9, min_value=0, max_value=100, required=False)
    statistic = serializers.ChoiceField(Statistic.choices, default=Statistic.WORST_SLICE)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("over_us" in attrs) != ("at_most_pct" in attrs):
            raise serializers.ValidationError("Expected over_us and at_most_pct together: a time and a percentage.")
        return attrs


class PublicList(ListView):
    """Public rows in pages, newest first."""

    permission_classes = [AllowAny]
    pagination_class: type[Pages] = NewestFirst
    throttle_classes = [ReadThrottle]


class PublicDetail(DetailView):
    """One public row by its id."""

    permission_classes = [AllowAny]
    throttle_classes = [ReadThrottle]


@extend_schema_view(get=extend_schema(parameters=[HoldingSerializer]))
class RunList(PublicList):
    """GET returns the public runs, newest first.

    Superseded and withdrawn runs are included, with their visibility. With over_us and at_most_pct, GET returns
    only runs of which at most at_most_pct percent of the reads took longer than over_us microseconds. The parameter
    statistic selects this percentage, for example the one of the worst slice of a run. These three parameters end
    on 2027-06-01: /api/v1/figures/ has the filters and limits of the site.
    """

    queryset = PUBLIC_RUNS
    serializer_class = RunSerializer
    parameters = (*HoldingSerializer().fields, CURSOR)
    # /api/v1/figures/ has the filters and limits of the site.
    deprecated_parameters = dict.fromkeys(
        HoldingSerializer().fields, Deprecation(announced=date(2026, 11, 29), ends=date(2027, 6, 1))
    )

    def get_queryset(self) -> QuerySet[Run]:
        query = HoldingSerializer(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        parameters = query.validated_data
        if "over_us" not in parameters:
            return PUBLIC_RUNS.all()
        return PUBLIC_RUNS.holding(parameters["over_us"], parameters["at_most_pct"], parameters["statistic"])


class RunDetail(PublicDetail):
    """GET returns one public run, by its id, with the history of its changes."""

    queryset = PUBLIC_RUNS
    serializer_class = RunDetailSerializer


class ProductList(PublicList):
    """GET returns the products that have at least one public run."""

    queryset = Product.objects.public()
    serializer_class = ProductSerializer


class ProductDetail(PublicDetail):
    """GET returns one product by its slug, if it has a public run. A former slug redirects to the present one.

    Each ladder of the product lists its runs by rising load, with their percentage of reads over one threshold.
    """

    queryset = Product.objects.public()
    serializer_class = ProductDetailSerializer
    lookup_field = "slug"

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().get(request, *args, **kwargs)
        except Http404:
            if redirect := former_slug_redirect(request, kwargs["slug"]):
                return redirect
            raise


PUBLIC_CERTIFICATES = Certificate.objects.select_related("product", "profile").prefetch_related("runs")


NX_MAX = Decimal(10**10)  # one digit more than the column holds


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
        return reverse("certificate", args=[certificate.public_id])


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


class CertificateFilters(serializers.Serializer[Any]):
    """The filters of certificates. An unknown parameter is refused, so that no typing error widens an answer."""

    product = serializers.SlugField(
        source="product__slug", max_length=200, required=False, help_text="Slug of a product."
    )
    min_nx = serializers.DecimalField(
        source="nx_load__gte",
        max_digits=None,
        decimal_places=None,
        min_value=-NX_MAX,
        max_value=NX_MAX,
        required=False,
        help_text="Lowest load of each device, as a multiple of 1x, for example 30.",
        error_messages={"invalid": "Expected a decimal such as 30 or 466.67."},
    )
    state = serializers.ChoiceField(
        Certificate.State.choices,
        required=False,
        error_messages={"invalid_choice": f"Expected one of {', '.join(Certificate.State.values)}, got {{input}}."},
    )


@extend_schema_view(get=extend_schema(parameters=[CertificateFilters]))
class CertificateList(PublicList):
    """GET returns the certificates of all products, or of one product, with their state, newest first."""

    queryset = PUBLIC_CERTIFICATES
    serializer_class = CertificateSerializer
    parameters = (*CertificateFilters().fields, CURSOR)

    def get_queryset(self) -> QuerySet[Certificate]:
        filters = CertificateFilters(data=self.request.query_params.dict())
        filters.is_valid(raise_exception=True)
        return PUBLIC_CERTIFICATES.filter(**filters.validated_data)


class LatestQuery(serializers.Serializer[Any]):
    """A model as a drive reports it, with its capacity if the name does not have it, and its firmware."""

    model = serializers.CharField(max_length=200, help_text="Model or part number, for example MZWLR3T8HBLS.")
    firmware = serializers.CharField(max_length=100, required=False, help_text="Firmware, in any case.")
    capacity_gb = serializers.FloatField(min_value=1, max_value=10**9, required=False)


NO_MODEL = "No product of the register has the model {}. /api/v1/products/ lists all."
SEVERAL_CAPACITIES = (
    "The register has {model} with several capacities: {capacities} GB. A certificate is for one of them: repeat the "
    "request with capacity_gb."
)
NO_CERTIFICATE = "No standing certificate is for {model}{firmware}. /api/v1/certificates/ lists all certificates."


@extend_schema_view(get=extend_schema(summary="Find the newest certificate of a model", parameters=[LatestQuery]))
class LatestCertificate(PublicDetail):
    """GET returns the newest standing certificate of a model, and of a firmware if the request states one."""

    queryset = PUBLIC_CERTIFICATES
    serializer_class = CertificateDetailSerializer
    parameters = tuple(LatestQuery().fields)

    def get_object(self) -> Certificate:
        query = LatestQuery(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        stated = query.validated_data
        model, firmware = stated["model"], stated.get("firmware", "")
        capacity_gb = stated.get("capacity_gb") or named_size_gb(model)
        found = register_index().find("", model, capacity_gb, is_rounded=True)
        if not found:
            raise NotFound(NO_MODEL.format(model))
        capacities = sorted({each.product.capacity_gb or 0 for each in found})
        if len(capacities) > 1:
            sentence = SEVERAL_CAPACITIES.format(model=model, capacities=", ".join(map(str, capacities)))
            raise Problem(409, sentence, code="several-capacities", capacities_gb=capacities)
        certificates = PUBLIC_CERTIFICATES.filter(
            product__in=[each.product for each in found], state=Certificate.State.STANDING
        )
        if firmware:
            certificates = certificates.filter(firmware__iexact=firmware)
        newest: Certificate | None = certificates.order_by("-issued_at", "-pk").first()
        if newest is None:
            named = f" with firmware {firmware}" if firmware else ""
            raise NotFound(NO_CERTIFICATE.format(model=model, firmware=named))
        return newest


class CertificateDetail(PublicDetail):
    """GET returns one certificate, by its id, with the history of its changes."""

    queryset = PUBLIC_CERTIFICATES
    serializer_class = CertificateDetailSerializer
