"""Endpoints of campaigns: list, follow, start, pause, resume and cancel, with the form and checks of the page."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
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

from results.rules.act.limits import parse_limits
from runners.campaigns.commands import EDITABLE
from runners.campaigns.outcomes import Rung, rungs_of
from runners.campaigns.planner import Run, Wait, next_step
from runners.campaigns.terms import Purpose, Result, Terms, parse_terms
from runners.models.campaign import Campaign, CampaignEntry
from webapp.accounts.models import User
from webapp.api.authentication import token_of
from webapp.api.lab.templates import TEMPLATE_FIELD, TEMPLATE_REFERENCE, stated_template, with_settings
from webapp.api.lab.views import (
    DEVICE_FIELD,
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
    refuse_unknown_fields,
    stated_device,
    stated_reason,
)
from webapp.api.pagination import NewestFirst
from webapp.api.payloads import defaults_of, fields_of_form, stated_fields, valid_fields
from webapp.api.views import CURSOR
from webapp.lab.campaigns.forms import CampaignForm, EditableTermsForm
from webapp.lab.campaigns.ordering import change_terms, pause, request_cancellation, resume, start_campaign
from webapp.lab.campaigns.page import SETTLED, estimate_of
from webapp.lab.dispatches.ordering import require_lab


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    """A campaign. `state` and `end` are codes; `reason` is the sentence of the page.

    `confirmed_nx` is the result, null before the end and if no load was confirmed. `missing` is what a certificate
    still needs, as the page says it. `next_at` is the end of a rest.
    """

    id = serializers.CharField(source="public_id")
    url = serializers.SerializerMethodField()
    device = serializers.IntegerField(source="device_id")
    host = serializers.CharField(source="device.host.name")
    organisation = serializers.CharField(source="organisation.slug")
    missing = serializers.ListField(child=serializers.CharField())

    class Meta:
        """Fields of a list."""

        model = Campaign
        fields = [
            "id", "url", "state", "reason", "end", "confirmed_nx", "missing", "device", "drive_key", "host",
            "organisation", "recipe", "steps_count", "next_at", "ordered_at", "ended_at",
        ]  # fmt: skip

    def get_url(self, campaign: Campaign) -> str:
        return f"/lab/campaigns/{campaign.public_id}/"


class LoadShareSerializer(serializers.Serializer[Any]):
    """The counts of slow reads in the worst slice; null if the log has none."""

    threshold_us = serializers.IntegerField()
    over_count = serializers.IntegerField(allow_null=True)
    ops_count = serializers.IntegerField(allow_null=True)
    share_pct = serializers.CharField()


class LoadSerializer(serializers.Serializer[Any]):
    """A tested load: the dispatch, its run and its result. `nx_load` is null for a preparation."""

    step = serializers.IntegerField(allow_null=True)
    dispatch = serializers.CharField()
    run = serializers.CharField(allow_null=True)
    purpose = serializers.ChoiceField(choices=[each.value for each in Purpose])
    nx_load = serializers.CharField(allow_null=True)
    duration_s = serializers.IntegerField(allow_null=True)
    state = serializers.CharField()
    result = serializers.ChoiceField(choices=[each.value for each in Result])
    reason = serializers.CharField(allow_blank=True)
    shares = LoadShareSerializer(many=True)


class NextLoadSerializer(serializers.Serializer[Any]):
    """The run that follows if nothing changes, and the end of the rest before it; `not_before` is null without one."""

    purpose = serializers.ChoiceField(choices=[each.value for each in Purpose])
    nx_load = serializers.CharField(allow_null=True)
    duration_s = serializers.IntegerField(allow_null=True)
    not_before = serializers.DateTimeField(allow_null=True)


ESTIMATE_STEP_S = 600


def _in_steps(at: datetime) -> datetime:
    """Return the next full step of estimates."""
    return datetime.fromtimestamp(-(-at.timestamp() // ESTIMATE_STEP_S) * ESTIMATE_STEP_S, UTC)


class EstimateSerializer(serializers.Serializer[Any]):
    """The earliest and latest end, in steps of ten minutes, and the runs to come.

    `has_prep`: a preparation is to come, which adds to both.
    """

    earliest = serializers.DateTimeField()
    latest = serializers.DateTimeField()
    fewest_runs = serializers.IntegerField(source="forecast.fewest_runs")
    most_runs = serializers.IntegerField(source="forecast.most_runs")
    has_prep = serializers.BooleanField(source="forecast.has_prep")


class LimitSerializer(serializers.Serializer[Any]):
    """A limit of the profile of the campaign."""

    threshold_us = serializers.IntegerField()
    limit_pct = serializers.CharField()


class EntrySerializer(serializers.ModelSerializer[CampaignEntry]):
    """A line of the history. `actor` is the name of a person, or worker."""

    dispatch = serializers.CharField(source="dispatch.public_id", allow_null=True, default=None)

    class Meta:
        """Fields of a line."""

        model = CampaignEntry
        fields = ["at", "kind", "actor", "reason", "dispatch"]


def _terms_fields() -> dict[str, Any]:
    kinds = {bool: serializers.BooleanField, int: serializers.IntegerField}
    return {name: kinds.get(type(value), serializers.CharField)() for name, value in vars(Terms()).items()}


TermsSerializer = inline_serializer("CampaignTerms", _terms_fields())


class CampaignDetailSerializer(CampaignSerializer):
    """A campaign with the loads that it tested, the next one, its terms, limits and history.

    `next_load` is null while a run is open, and if a person or the end of the campaign comes first. `estimate` is null
    after the end, and if a person has to decide first.
    """

    terms = serializers.SerializerMethodField()
    limits = serializers.SerializerMethodField()
    loads = serializers.SerializerMethodField()
    next_load = serializers.SerializerMethodField()
    estimate = serializers.SerializerMethodField()
    history = serializers.SerializerMethodField()

    class Meta(CampaignSerializer.Meta):
        """Fields of the list, and those of the page of the campaign."""

        fields = [*CampaignSerializer.Meta.fields, "terms", "limits", "loads", "next_load", "estimate", "history"]

    def to_representation(self, campaign: Campaign) -> dict[str, Any]:
        """Return the campaign; its dispatches are read once."""
        self.rungs = rungs_of(campaign)
        return super().to_representation(campaign)

    @extend_schema_field(TermsSerializer)
    def get_terms(self, campaign: Campaign) -> Any:
        return parse_terms(campaign.terms).as_json()

    @extend_schema_field(LimitSerializer(many=True))
    def get_limits(self, campaign: Campaign) -> Any:
        return LimitSerializer(parse_limits(campaign.profile.document), many=True).data

    @extend_schema_field(LoadSerializer(many=True))
    def get_loads(self, _campaign: Campaign) -> Any:
        return LoadSerializer([_load(rung) for rung in self.rungs], many=True).data

    @extend_schema_field(NextLoadSerializer(allow_null=True))
    def get_next_load(self, campaign: Campaign) -> Any:
        found = _next_load(campaign, self.rungs)
        return found and NextLoadSerializer(found).data

    @extend_schema_field(EstimateSerializer(allow_null=True))
    def get_estimate(self, campaign: Campaign) -> Any:
        found = None if campaign.state in SETTLED else estimate_of(parse_terms(campaign.terms), self.rungs)
        if found is None:
            return None
        # While nothing runs, each second moves the end: a client that waits for a change would get each of them.
        return EstimateSerializer(found | {each: _in_steps(found[each]) for each in ("earliest", "latest")}).data

    @extend_schema_field(EntrySerializer(many=True))
    def get_history(self, campaign: Campaign) -> Any:
        return EntrySerializer(campaign.entries.select_related("dispatch"), many=True).data


def _load(rung: Rung) -> dict[str, Any]:
    return {
        "step": rung.dispatch.campaign_step,
        "dispatch": rung.dispatch.public_id,
        "run": rung.run.public_id if rung.run else None,
        "purpose": rung.outcome.purpose.value,
        "nx_load": rung.outcome.nx,
        "duration_s": rung.outcome.duration_s,
        "state": rung.dispatch.state,
        "result": rung.outcome.result.value,
        "reason": rung.outcome.reason,
        "shares": rung.shares,
    }


def _next_load(campaign: Campaign, rungs: list[Rung]) -> dict[str, Any] | None:
    """Return the next run by the terms and results so far; None if none is to come, or if one is open."""
    if campaign.state not in {Campaign.State.ACTIVE, Campaign.State.PAUSED}:
        return None
    terms, outcomes = parse_terms(campaign.terms), [rung.outcome for rung in rungs]
    not_before = None
    step = next_step(terms, outcomes, int(timezone.now().timestamp()))
    if isinstance(step, Wait) and step.until_s is not None:
        not_before = datetime.fromtimestamp(step.until_s, UTC)
        step = next_step(terms, outcomes, step.until_s)
    if not isinstance(step, Run):
        return None
    load = {"purpose": step.purpose.value, "nx_load": step.nx, "duration_s": step.duration_s}
    return load | {"not_before": campaign.next_at or not_before}


def _campaigns() -> QuerySet[Campaign]:
    return Campaign.objects.select_related("device__host", "organisation", "ordered_by", "profile")


def _shown(public_id: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    shown = CampaignDetailSerializer(_campaigns().get(public_id=public_id)).data
    return Response(shown, status, headers=headers)


LIST_PARAMETERS = [
    OpenApiParameter("state", str, enum=Campaign.State.values),
    OpenApiParameter("device", int, description="Id of a device."),
]


@extend_schema_view(get=extend_schema(parameters=LIST_PARAMETERS))
class CampaignList(LabList):
    """GET returns the campaigns, newest first. POST starts one."""

    serializer_class = CampaignSerializer
    pagination_class = NewestFirst
    parameters = (CURSOR, "state", DEVICE_FIELD)

    def get_queryset(self) -> QuerySet[Campaign]:
        state = self.request.query_params.get("state")
        if state and state not in Campaign.State.values:
            expected = ", ".join(Campaign.State.values)
            raise ValidationError({"state": [f"Expected one of {expected}, got {state[:40]}."]})
        found = _campaigns().filter(**device_filter(self.request))
        return found.filter(state=state) if state else found

    @extend_schema(
        summary="Start a campaign",
        description=(
            "POST starts a campaign on a device for the lab of the token, with the fields and checks of the page. Its "
            "runs overwrite the drive. All terms have the values that the form of the page shows. The request repeats "
            "the consent of GET /api/v1/lab/devices/<id>/, as an order of a run does. If another campaign uses the "
            "drive, the response is 409 with the code drive-taken. If you repeat an Idempotency-Key, the response is "
            "200 and the campaign that was started first."
        ),
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER)],
        request=inline_serializer(
            "LabCampaign",
            {
                **ConsentSerializer().get_fields(),
                TEMPLATE_FIELD: TEMPLATE_REFERENCE,
                **fields_of_form(CampaignForm, optional=CampaignForm.base_fields),
            },
        ),
        responses={
            201: CampaignDetailSerializer,
            200: OpenApiResponse(CampaignDetailSerializer, "the Idempotency-Key was used for this campaign"),
        },
    )
    def post(self, request: Request) -> Response:
        lab, fields = lab_of_token(request), stated_fields(request)
        device, (consent, rest) = stated_device(fields), consent_and_rest(fields)

        def place() -> Campaign:
            settings = with_settings(stated_template(rest, lab), rest)
            form = valid_fields(CampaignForm, defaults_of(CampaignForm) | settings)
            organisation = require_lab(device, lab)
            return start_campaign(consent, device, organisation, form.campaign_order(), token_of(request).user)

        campaign, is_new = order_once(request, lab, Campaign, place)
        headers = {"Location": f"/api/v1/lab/campaigns/{campaign.public_id}/"}
        return _shown(campaign.public_id, 201 if is_new else 200, headers)


class CampaignDetail(LabDetail):
    """GET returns a campaign with the loads that it tested, the next one, and its history."""

    serializer_class = CampaignDetailSerializer

    def get_queryset(self) -> QuerySet[Campaign]:
        return _campaigns()


class CampaignCommand(LabAccess):
    """A command on a campaign."""

    command: Callable[[Campaign, User], None]

    def _run(self, request: Request, public_id: str) -> Response:
        campaign = get_object_or_404(of_token(request, _campaigns()), public_id=public_id)
        refuse_unknown_fields(stated_fields(request))
        type(self).command(campaign, token_of(request).user)
        return _shown(public_id)


class CampaignPause(CampaignCommand):
    """POST pauses a campaign."""

    command = staticmethod(pause)

    @extend_schema(
        summary="Pause a campaign",
        description=(
            "POST pauses a campaign: it orders no more runs. A run that has started continues to its end. If the "
            "campaign is not active, the response is 409 with the code not-active."
        ),
        request=None,
        responses=CampaignDetailSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        return self._run(request, public_id)


class CampaignResumption(CampaignCommand):
    """POST resumes a paused campaign."""

    command = staticmethod(resume)

    @extend_schema(
        summary="Resume a campaign",
        description=(
            "POST resumes a paused campaign. Attempts without a usable result before it no longer count. If the "
            "campaign is not paused, the response is 409 with the code not-paused."
        ),
        request=None,
        responses=CampaignDetailSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        return self._run(request, public_id)


class CampaignCancellation(LabAccess):
    """POST requests the cancellation of a campaign and its current run."""

    @extend_schema(
        summary="Cancel a campaign",
        description=(
            "POST requests the cancellation of a campaign and its current run, with an optional reason for its "
            "history. The state becomes cancelled when the host has confirmed that no run of it runs. If the campaign "
            "has ended, or if its cancellation was requested before, the response is 409 with the code "
            "not-cancellable."
        ),
        request=CancelReasonSerializer,
        responses=CampaignDetailSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        campaign = get_object_or_404(of_token(request, _campaigns()), public_id=public_id)
        request_cancellation(campaign, token_of(request).user, stated_reason(request))
        return _shown(public_id)


class CampaignTerms(LabAccess):
    """POST changes terms of an open campaign."""

    @extend_schema(
        summary="Change the terms of a campaign",
        description=(
            "POST changes the stated terms of an open campaign; the others stay. They apply from the next step on. If "
            "nothing changes, or if the campaign has ended, the response is 409 with the code nothing-changed."
        ),
        request=inline_serializer(
            "LabCampaignTerms", fields_of_form(EditableTermsForm, optional=EditableTermsForm.base_fields)
        ),
        responses=CampaignDetailSerializer,
    )
    def post(self, request: Request, public_id: str) -> Response:
        campaign = get_object_or_404(of_token(request, _campaigns()), public_id=public_id)
        terms = vars(parse_terms(campaign.terms))
        fields = {name: terms[name] for name in EDITABLE} | stated_fields(request)
        form = valid_fields(EditableTermsForm, fields, initial=terms)
        changes = {name: each for name, each in form.changes().items() if name in stated_fields(request)}
        change_terms(campaign, changes, token_of(request).user)
        return _shown(public_id)
