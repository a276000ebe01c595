"""The bases of all views of the lab: who may read and order, and how a repeated order is recognised."""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import FormParser, JSONParser
from rest_framework.request import Request

from results.models import Organisation
from runners.models import Campaign, Device, Dispatch, Host, OrderKey
from runners.models.order_key import KEY_CHARS
from webapp.accounts.models import APIToken, Scope, User
from webapp.api.authentication import token_of
from webapp.api.payloads import stated_fields
from webapp.api.permissions import NeedsScope, OperatorsOnly
from webapp.api.problems import Problem
from webapp.api.views import DetailView, ListView, ReadOrChange
from webapp.lab.shared.drive_status import LABEL_FIELD, LOCATION_FIELD, SHOWN_FIELD

DEVICE_FIELD, RECIPE_FIELD = "device", "recipe"
CONSENT_FIELDS = (LABEL_FIELD, SHOWN_FIELD, LOCATION_FIELD)
NO_LAB = "This token acts for {name}, which is no lab. Expected a token of an organisation of the kind lab."
OTHER_ORDER = (
    "This Idempotency-Key belongs to {first}, which was ordered with other fields. Use a new key for a new order."
)
Ordered = TypeVar("Ordered", Dispatch, Campaign)


class LabAccess(ReadOrChange):
    """Access for the scopes order and host to read, and for the scope order to change something."""

    permission_classes = [NeedsScope, OperatorsOnly]
    read_scope = (Scope.ORDER, Scope.HOST)
    change_scope = Scope.ORDER
    parser_classes = [JSONParser, FormParser]


class LabList(LabAccess, ListView):
    """A list of the lab."""


class LabDetail(LabAccess, DetailView):
    """One row of the lab."""


class ConsentSerializer(serializers.Serializer[Any]):
    """What a client repeats of the device that it overwrites, as the page of the device demands it.

    The response for the device has the values of shown_signature and shown_place. If must_type_label is true there,
    typed_label repeats the label of the device.
    """

    device = serializers.IntegerField(help_text="Id of the device.")
    typed_label = serializers.CharField(required=False, help_text="The label of the device, to overwrite its data.")
    shown_signature = serializers.CharField(required=False, help_text="The data that the drive is known to hold.")
    shown_place = serializers.CharField(required=False, help_text="Path and size that the device had.")


class CancelReasonSerializer(serializers.Serializer[Any]):
    """The reason of a command, for the history."""

    reason = serializers.CharField(required=False)


def stated_reason(request: Request) -> str:
    """Return the reason of a command. Raises ValidationError for any other field."""
    fields = stated_fields(request)
    refuse_unknown_fields(fields, known=("reason",))
    return str(fields.get("reason") or "")


def refuse_unknown_fields(fields: Mapping[str, Any], known: Collection[str] = ()) -> None:
    """Raise ValidationError if a request has a field that is not known."""
    if unknown := sorted(set(fields) - set(known)):
        expected = f"only {', '.join(known)}" if known else "none"
        raise ValidationError({name: [f"Unknown field. Expected {expected}."] for name in unknown})


def stated_host(name: Any) -> Host:
    """Return the host that a request names. Raises ValidationError."""
    host = Host.objects.filter(name=str(name)).first() if "\0" not in str(name) else None
    if host is None:
        raise ValidationError({"host": [f"Expected a name of /api/v1/lab/hosts/, got {str(name)[:40] or 'nothing'}."]})
    return host


def of_token(request: Request, rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the dispatches or campaigns that a token may stop: a machine only those of its own lab."""
    token = token_of(request)
    return rows.filter(organisation=token.organisation_id) if token.kind == APIToken.Kind.MACHINE else rows


def person_of(request: Request) -> User:
    """Return the operator of a request. Raises Problem for a machine: only a person can answer for such a change."""
    token = token_of(request)
    if token.kind == APIToken.Kind.MACHINE:
        raise Problem(403, "A machine token cannot do this. Use the token of an operator.")
    return token.user


def stated_device(fields: Mapping[str, Any]) -> Device:
    """Return the device that an order names. Raises ValidationError."""
    found = str(fields.get(DEVICE_FIELD, ""))
    device = Device.objects.select_related("host").filter(pk=found).first() if is_id(found) else None
    if device is None:
        sentence = f"Expected the id of a device of /api/v1/lab/devices/, got {found[:40] or 'nothing'}."
        raise ValidationError({DEVICE_FIELD: [sentence]})
    return device


def device_filter(request: Request) -> dict[str, Device]:
    """Return the filter of a list by the parameter `device`; empty without it. Raises ValidationError."""
    return {"device": stated_device(request.query_params)} if request.query_params.get(DEVICE_FIELD) else {}


def is_id(text: str) -> bool:
    """Return whether a text can be the id of a row."""
    return text.isascii() and text.isdigit() and len(text) <= len(str(2**31)) and int(text) < 2**31


def consent_and_rest(fields: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the consent to overwrite a device, and the fields that are left for the form of the page."""
    consent = {name: str(fields[name]) for name in CONSENT_FIELDS if fields.get(name) is not None}
    return consent, {name: fields[name] for name in fields if name not in {DEVICE_FIELD, *CONSENT_FIELDS}}


def lab_of_token(request: Request) -> Organisation:
    """Return the lab that a token orders for. Raises Problem for an organisation of another kind."""
    organisation = token_of(request).organisation
    if organisation.kind != Organisation.Kind.LAB:
        raise Problem(409, NO_LAB.format(name=organisation.name), code="no-lab")
    return organisation


def order_once(
    request: Request, lab: Organisation, kind: type[Ordered], place: Callable[[], Ordered]
) -> tuple[Ordered, bool]:
    """Return what `place` orders and True, or what was ordered before with the Idempotency-Key and False.

    A refused order uses up no key. Raises Problem if the key belongs to another order.
    """
    key = request.headers.get("Idempotency-Key", "")
    if not key:
        return place(), True
    if len(key) > KEY_CHARS:
        raise ValidationError({"Idempotency-Key": [f"Expected at most {KEY_CHARS} characters, got {len(key)}."]})
    column = "dispatch" if kind is Dispatch else "campaign"
    text = json.dumps([column, stated_fields(request)], cls=DjangoJSONEncoder, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    with transaction.atomic():
        row, is_new = OrderKey.objects.get_or_create(organisation=lab, key=key, defaults={"digest": digest})
        if not is_new:
            known: Any = row.dispatch or row.campaign
            if row.digest != digest:
                raise Problem(409, OTHER_ORDER.format(first=known), code="key-of-other-order", first=str(known))
            return known, False
        ordered = place()
        OrderKey.objects.filter(pk=row.pk).update(**{column: ordered})
    return ordered, True
