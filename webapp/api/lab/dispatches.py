"""Endpoints of dispatches: list, follow, order and cancel runs, with the forms and checks of the pages."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
    inline_serializer,
)
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import Profile
from results.rules.act.limits import parse_limits
from runners.campaigns.outcomes import rung_of, with_readings
from runners.campaigns.terms import Result
from runners.dispatch import orders
from runners.dispatch.orders import Order
from runners.models import Dispatch, Host, OrderTemplate, StageEnd, Step
from runners.models.states import State
from runners.recipes import RECIPES
from runners.recipes.act import ACT_RECIPES, STORAGE_RECIPE
from runners.recipes.base import YCSB
from runners.retention.leftover_archive import request_fetch
from webapp.api.authentication import token_of
from webapp.api.lab.inventory import OutageSerializer
from webapp.api.lab.templates import DEFAULTS, TEMPLATE_FIELD, TEMPLATE_REFERENCE, stated_template, with_settings
from webapp.api.lab.views import (
    CONSENT_FIELDS,
    DEVICE_FIELD,
    RECIPE_FIELD,
    CancelReasonSerializer,
    ConsentSerializer,
    LabAccess,
    LabDetail,
    LabList,
    consent_and_rest,
    device_filter,
    lab_of_token,
    of_token,
    order_once,
    person_of,
    stated_device,
    stated_reason,
)
from webapp.api.pagination import NewestFirst
from webapp.api.payloads import fields_of_form, stated_fields, valid_fields
from webapp.api.views import CURSOR
from webapp.lab.dispatches.forms import OrderForm, YcsbForm
from webapp.lab.dispatches.ordering import (
    check_order,
    check_orderable,
    declare_ended,
    order_again,
    request_cancellation,
)
from webapp.lab.dispatches.page import shares_with_limits

PREP = "prep"
ORDER_DEFAULTS, YCSB_DEFAULTS = (DEFAULTS[form.template_kind] for form in (OrderForm, YcsbForm))
LOAD_HOST_FIELD = "load_host"


class DispatchSerializer(serializers.ModelSerializer[Dispatch]):
    """A dispatch. `state` and `waits_for` are codes; `reason` is the sentence of the page.

    `result` is the result of the run of an ACT workload by the limits of the newest profile, null for other recipes.
    """

    id = serializers.CharField(source="public_id")
    url = serializers.SerializerMethodField()
    device = serializers.IntegerField(source="device_id")
    host = serializers.CharField(source="device.host.name")
    load_host = serializers.CharField(source="load_host.name", allow_null=True, default=None)
    organisation = serializers.CharField(source="organisation.slug")
    campaign = serializers.CharField(source="campaign.public_id", allow_null=True, default=None)
    submission = serializers.CharField(source="submission.public_id", allow_null=True, default=None)
    runs = serializers.SerializerMethodField()
    result = serializers.SerializerMethodField()

    class Meta:
        """Fields of a list."""

        model = Dispatch
        fields = [
            "id", "url", "state", "waits_for", "reason", "device", "drive_key", "host", "load_host", "organisation",
            "recipe", "purpose", "nx_load", "duration_s", "slice_length_s", "campaign", "campaign_step", "ordered_at",
            "started_at", "ended_at", "cancel_requested_at", "exit_status", "submission", "runs", "result",
        ]  # fmt: skip

    def get_url(self, dispatch: Dispatch) -> str:
        return f"/lab/dispatches/{dispatch.public_id}/"

    def get_runs(self, dispatch: Dispatch) -> list[str]:
        """Return the ids of the runs of its log, in the order of the log."""
        if dispatch.submission is None:
            return []
        return [run.public_id for run in sorted(dispatch.submission.runs.all(), key=lambda run: run.ordinal)]

    @extend_schema_field(serializers.ChoiceField(choices=[each.value for each in Result], allow_null=True))
    def get_result(self, dispatch: Dispatch) -> str | None:
        if dispatch.recipe not in ACT_RECIPES:
            return None
        return rung_of(dispatch, self.context["limits"]).outcome.result.value


class ProgressShareSerializer(serializers.Serializer[Any]):
    """The share of slow reads so far, with the limit of the newest profile."""

    threshold_us = serializers.IntegerField()
    read_at_us = serializers.IntegerField()
    over_count = serializers.IntegerField()
    share_pct = serializers.CharField(allow_blank=True)
    limit_pct = serializers.CharField(allow_null=True)


class TemperatureSerializer(serializers.Serializer[Any]):
    """A temperature of a drive, and the one from which it warns; null if that is not reported."""

    disk = serializers.CharField(allow_blank=True)
    sensor = serializers.CharField(allow_blank=True)
    celsius = serializers.FloatField()
    limit_celsius = serializers.FloatField(allow_null=True)


class SampleSerializer(serializers.Serializer[Any]):
    """The counts of a run until a time. `over_counts` are in the order of `shares`."""

    elapsed_s = serializers.IntegerField()
    reads_count = serializers.IntegerField()
    over_counts = serializers.ListField(child=serializers.IntegerField())


class ProgressSerializer(serializers.Serializer[Any]):
    """The progress of a run. Null means not reported. `phase` to `remaining_s` are of preparations.

    `stage` to `ops_per_s` are of YCSB sweeps, and the other fields of ACT workloads.
    """

    elapsed_s = serializers.IntegerField(allow_null=True)
    log_bytes = serializers.IntegerField()
    reads_count = serializers.IntegerField(allow_null=True)
    interval_s = serializers.IntegerField(allow_null=True)
    interval_reads_count = serializers.IntegerField(allow_null=True)
    reads_per_s = serializers.CharField(allow_null=True, allow_blank=True)
    shares = ProgressShareSerializer(many=True)
    samples = SampleSerializer(many=True)
    temperatures = TemperatureSerializer(many=True)
    phase = serializers.CharField(allow_null=True)
    done_bytes = serializers.IntegerField(allow_null=True)
    total_bytes = serializers.IntegerField(allow_null=True)
    remaining_s = serializers.FloatField(allow_null=True)
    stage = serializers.CharField(allow_null=True)
    done_ops_count = serializers.IntegerField(allow_null=True)
    ops_per_s = serializers.CharField(allow_null=True)
    tail = serializers.ListField(child=serializers.CharField(allow_blank=True))


class OptionSerializer(serializers.Serializer[Any]):
    """An option of the order; its value as text."""

    name = serializers.CharField()
    value = serializers.CharField(allow_blank=True)


class StepSerializer(serializers.ModelSerializer[Step]):
    """A line of the history. `actor` is the name of a person, or worker."""

    class Meta:
        """Fields of a step."""

        model = Step
        fields = ["at", "kind", "from_state", "to_state", "actor", "reason"]


class StageEndSerializer(serializers.ModelSerializer[StageEnd]):
    """The end of a stage of the recipe. `exit_status` is null if the end was not observed."""

    class Meta:
        """Fields of a stage."""

        model = StageEnd
        fields = ["ordinal", "name", "exit_status", "reason", "at"]


class DispatchDetailSerializer(DispatchSerializer):
    """A dispatch with its progress and history. `may_retry`: its page offers to order it again."""

    retry_of = serializers.CharField(source="retry_of.public_id", allow_null=True, default=None)
    retry = serializers.CharField(source="retry.public_id", allow_null=True, default=None)
    may_retry = serializers.SerializerMethodField()
    options = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()
    steps = StepSerializer(many=True)
    stages = StageEndSerializer(source="stage_ends", many=True)
    outages = OutageSerializer(many=True)

    class Meta(DispatchSerializer.Meta):
        """Fields of the list, the progress and the history."""

        fields = [
            *DispatchSerializer.Meta.fields, "retry_of", "retry", "may_retry", "options", "progress", "steps", "stages",
            "outages",
        ]  # fmt: skip

    def get_may_retry(self, dispatch: Dispatch) -> bool:
        return orders.may_be_retried(dispatch)

    @extend_schema_field(OptionSerializer(many=True))
    def get_options(self, dispatch: Dispatch) -> Any:
        rows = [{"name": name, "value": _text(value)} for name, value in dispatch.options.items()]
        return OptionSerializer(rows, many=True).data

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, dispatch: Dispatch) -> Any:
        return ProgressSerializer(_progress_of(dispatch)).data


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _progress_of(dispatch: Dispatch) -> dict[str, Any]:
    shown = dispatch.progress
    flat = {**shown.get("ycsb", {}), **shown.get("prep", {}), **shown}
    names = [name for name, field in ProgressSerializer().fields.items() if field.allow_null]
    return {name: flat.get(name) for name in names} | {
        "elapsed_s": dispatch.last_label_s or None,
        "log_bytes": dispatch.log_bytes,
        "shares": shares_with_limits(shown.get("shares", [])),
        "samples": [
            {"elapsed_s": elapsed_s, "reads_count": reads_count, "over_counts": over_counts}
            for elapsed_s, reads_count, *over_counts in shown.get("samples", [])
        ],
        "temperatures": shown.get("telemetry", {}).get("temperatures", []),
        "tail": shown.get("tail", []),
    }


def shown_dispatches() -> QuerySet[Dispatch]:
    """Return the dispatches with what a list shows."""
    related = Dispatch.objects.select_related("load_host", "organisation", "campaign", "submission__log")
    return with_readings(related)


def _find(request: Request, public_id: str) -> Dispatch:
    rows = of_token(request, Dispatch.objects.select_related("device__host"))
    found: Dispatch = get_object_or_404(rows, public_id=public_id)
    return found


def _shown(public_id: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    dispatch = _detailed().get(public_id=public_id)
    return Response(DispatchDetailSerializer(dispatch, context=_context()).data, status, headers=headers)


def _detailed() -> QuerySet[Dispatch]:
    return shown_dispatches().select_related("retry").prefetch_related("steps", "stage_ends", "outages__host")


def _context() -> dict[str, Any]:
    return {"limits": parse_limits(Profile.current().document)}


ORDER_FIELDS = {
    **ConsentSerializer().get_fields(),
    TEMPLATE_FIELD: TEMPLATE_REFERENCE,
    **fields_of_form(YcsbForm, optional=YcsbForm.base_fields),
    **fields_of_form(OrderForm, optional=OrderForm.base_fields),
    RECIPE_FIELD: serializers.ChoiceField(choices=[*RECIPES], required=False, help_text=f"Default: {STORAGE_RECIPE}."),
    LOAD_HOST_FIELD: serializers.CharField(required=False, help_text="Name of the host that sends the requests."),
}
RETRY_FIELDS = {name: field for name, field in ConsentSerializer().get_fields().items() if name in CONSENT_FIELDS}
LIST_PARAMETERS = [
    OpenApiParameter("state", str, enum=State.values),
    OpenApiParameter("host", str, description="Name of a host, of the drive or of the requests."),
    OpenApiParameter("device", int, description="Id of a device."),
]


@extend_schema_view(get=extend_schema(parameters=LIST_PARAMETERS))
class DispatchList(LabList):
    """GET returns the dispatches, newest first. POST orders a run."""

    serializer_class = DispatchSerializer
    pagination_class = NewestFirst
    parameters = (CURSOR, "state", "host", DEVICE_FIELD)

    def get_queryset(self) -> QuerySet[Dispatch]:
        found, stated = shown_dispatches().filter(**device_filter(self.request)), self.request.query_params
        if state := stated.get("state"):
            if state not in State.values:
                raise ValidationError({"state": [f"Expected one of {', '.join(State.values)}, got {state[:40]}."]})
            found = found.filter(state=state)
        if name := stated.get("host"):
            if "\0" in name or not Host.objects.filter(name=name).exists():
                raise ValidationError({"host": [f"Expected a name of /api/v1/lab/hosts/, got {name[:40]}."]})
            found = found.filter(Q(device__host__name=name) | Q(load_host__name=name))
        return found

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), **_context()}

    @extend_schema(
        summary="Order a run",
        description=(
            "POST orders a run on a device for the lab of the token, with the fields and checks of the page. A run "
            "overwrites the drive. recipe is act-storage, act-index, prep or ycsb. The ACT recipes need nx_load and "
            "duration_s; ycsb needs preset; prep has no field of its own. Other fields have the values that the form "
            "of the page shows. GET /api/v1/lab/devices/<id>/ returns in consent what the request repeats: "
            "shown_signature, shown_place, and typed_label if must_type_label is true. The order is refused with 409 "
            "and a code if the consent is missing or outdated, or if the host would refuse the run. If you repeat an "
            "Idempotency-Key, the response is 200 and the dispatch that was ordered first."
        ),
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER)],
        request=inline_serializer("LabOrder", ORDER_FIELDS),
        responses={
            201: DispatchDetailSerializer,
            200: OpenApiResponse(DispatchDetailSerializer, "the Idempotency-Key was used for this order"),
        },
    )
    def post(self, request: Request) -> Response:
        lab, fields = lab_of_token(request), stated_fields(request)
        device, (consent, rest) = stated_device(fields), consent_and_rest(fields)

        def place() -> Dispatch:
            template = stated_template(rest, lab, (OrderTemplate.Kind.RUN, OrderTemplate.Kind.SWEEP))
            settings = with_settings(template, rest)
            is_sweep = template is not None and template.kind == OrderTemplate.Kind.SWEEP
            recipe = str(settings.pop(RECIPE_FIELD, None) or (YCSB if is_sweep else STORAGE_RECIPE))
            requested = _order_of(recipe, settings)
            organisation = check_orderable(device, lab)
            checked = check_order(consent, device, requested)
            return orders.order(device, organisation, checked, token_of(request).user)

        dispatch, is_new = order_once(request, lab, Dispatch, place)
        headers = {"Location": f"/api/v1/lab/dispatches/{dispatch.public_id}/"}
        return _shown(dispatch.public_id, 201 if is_new else 200, headers)


def _order_of(recipe: str, fields: Mapping[str, Any]) -> Order:
    """Return the order of a request. Raises ValidationError."""
    if recipe in ACT_RECIPES:
        return valid_fields(OrderForm, {**ORDER_DEFAULTS, RECIPE_FIELD: recipe, **fields}).order()
    if recipe == YCSB:
        return valid_fields(YcsbForm, YCSB_DEFAULTS | _with_host_id(fields)).order()
    if recipe == PREP:
        valid_fields(_NoFields, fields)
        return Order(recipe=PREP)
    raise ValidationError({RECIPE_FIELD: [f"Expected one of {', '.join(RECIPES)}, got {recipe[:40]}."]})


class _NoFields(forms.Form):
    """The form of a preparation."""


def _with_host_id(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with the id of the load host, which a request names. Raises ValidationError."""
    if not (name := fields.get(LOAD_HOST_FIELD)):
        return dict(fields)
    host = Host.objects.filter(name=str(name)).first() if "\0" not in str(name) else None
    if host is None:
        raise ValidationError({LOAD_HOST_FIELD: [f"Expected a name of /api/v1/lab/hosts/, got {str(name)[:40]}."]})
    return {**fields, LOAD_HOST_FIELD: host.pk}


class DispatchDetail(LabDetail):
    """GET returns a dispatch with its progress, its history and the ids of its runs."""

    serializer_class = DispatchDetailSerializer

    def get_queryset(self) -> QuerySet[Dispatch]:
        return _detailed()

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), **_context()}


class DispatchCancellation(LabAccess):
    """POST requests the cancellation of a dispatch."""

    @extend_schema(
        summary="Cancel a run",
        description=(
            "POST requests the cancellation of a dispatch, with an optional reason for its history. The state becomes "
            "cancelled when the host has confirmed that the program ended. If the run has ended, or if its "
            "cancellation was requested before, the response is 409 with the code not-cancellable."
        ),
        request=CancelReasonSerializer,
        responses=DispatchDetailSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        dispatch, reason = _find(request, public_id), stated_reason(request)
        request_cancellation(dispatch, token_of(request).user, reason)
        return _shown(public_id)


class DispatchRetry(LabAccess):
    """POST orders a run in place of one that failed."""

    @extend_schema(
        summary="Order a failed run again",
        description=(
            "POST orders the same run again, linked to the first one, with a new consent to overwrite the drive as in "
            "an order. If the run is done or not over, belongs to a campaign or was ordered again before, the response "
            "is 409 with the code not-retryable."
        ),
        request=inline_serializer("LabRetry", RETRY_FIELDS),
        responses={201: DispatchDetailSerializer},
    )
    def post(self, request: Request, public_id: str) -> Response:
        dispatch, (consent, rest) = _find(request, public_id), consent_and_rest(stated_fields(request))
        valid_fields(_NoFields, rest)
        new = order_again(dispatch, consent, token_of(request).user)
        return _shown(new.public_id, 201, {"Location": f"/api/v1/lab/dispatches/{new.public_id}/"})


class DispatchDeclaration(LabAccess):
    """POST declares that the program of a lost dispatch has ended."""

    @extend_schema(
        summary="Declare the end of a lost run",
        description=(
            "POST frees the drive of a lost dispatch, because a person verified on the host that its program does not "
            "run. reason states how. A machine token cannot declare it. Without a reason, the response is 409 with the "
            "code reason-missing; if the dispatch is not lost, or if its end was confirmed before, with the code "
            "not-lost."
        ),
        request=CancelReasonSerializer,
        responses=DispatchDetailSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        dispatch, reason = _find(request, public_id), stated_reason(request)
        declare_ended(dispatch, person_of(request), reason)
        return _shown(public_id)


class DispatchArchive(LabAccess):
    """POST requests that the leftover files of an ended dispatch are archived."""

    @extend_schema(
        summary="Archive the leftover files of a run",
        description=(
            "POST requests that the files of an ended dispatch that are only on its host are archived, as soon as no "
            "run is measured there. If there are none, or if it was requested before, the response is 409."
        ),
        request=None,
        responses=DispatchDetailSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        dispatch = _find(request, public_id)
        valid_fields(_NoFields, stated_fields(request))
        request_fetch(dispatch, token_of(request).user)
        return _shown(public_id)
