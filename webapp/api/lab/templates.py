"""Endpoints of templates of orders: list, save, change and remove those of a lab."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from results.models import Organisation
from runners.models import OrderTemplate
from webapp.api.authentication import token_of
from webapp.api.lab.views import LabAccess, LabDetail, LabList, lab_of_token
from webapp.api.pagination import OldestFirst
from webapp.api.payloads import defaults_of, fields_of_form, stated_fields, valid_fields
from webapp.lab.campaigns.forms import CampaignForm
from webapp.lab.dispatches.forms import OrderForm, YcsbForm
from webapp.lab.shared.order_templates import (
    NOT_SAVED,
    SavableForm,
    TemplateNameForm,
    remove_template,
    rename_template,
    save_template,
    templates_of,
)

TEMPLATE_FIELD, KIND_FIELD, SETTINGS_FIELD = "template", "kind", "settings"
# The page has filled these in; a script has to state how long and how much it loads a drive.
STATED = ("nx_load", "duration_s")
FORMS: dict[str, type[SavableForm]] = {each.template_kind: each for each in (CampaignForm, OrderForm, YcsbForm)}
DEFAULTS = {kind: defaults_of(form, without=STATED) for kind, form in FORMS.items()}
TEMPLATE_REFERENCE = serializers.CharField(
    required=False, help_text="Id of a template of the lab: its settings count for fields that are left out."
)


class TemplateSerializer(serializers.ModelSerializer[OrderTemplate]):
    """A template: the settings of an order without drives. `settings` has the fields of the order by name."""

    id = serializers.CharField(source="public_id")
    settings = serializers.DictField()
    created_by = serializers.CharField(source="created_by.shown_name")

    class Meta:
        """Fields of a template."""

        model = OrderTemplate
        fields = ["id", "kind", "name", "settings", "created_by", "created_at"]


NEW_TEMPLATE_FIELDS: dict[str, Any] = {
    **fields_of_form(TemplateNameForm),
    KIND_FIELD: serializers.ChoiceField(choices=OrderTemplate.Kind.choices, help_text="What is ordered with it."),
    SETTINGS_FIELD: serializers.DictField(help_text="The fields of the order without device, consent and firmware."),
}


class TemplateAccess(LabAccess):
    """Access to the templates of the lab of a token."""

    def get_queryset(self) -> QuerySet[OrderTemplate]:
        return templates_of(token_of(self.request).organisation)


class TemplateList(TemplateAccess, LabList):
    """GET returns the templates of the lab of the token, the first saved first. POST saves one."""

    serializer_class = TemplateSerializer
    pagination_class = OldestFirst

    @extend_schema(
        summary="Save a template",
        description=(
            "POST saves the settings of a campaign, of an ACT run or of a YCSB sweep under a name. settings has the "
            "fields of the order, checked as in an order; those that are left out have the values of the form of the "
            "page. An order names the template in template. If the lab has the name already, the response is 409 with "
            "the code name-taken."
        ),
        request=inline_serializer("LabTemplate", NEW_TEMPLATE_FIELDS),
        responses={201: TemplateSerializer},
    )
    def post(self, request: Request) -> Response:
        lab, fields = lab_of_token(request), stated_fields(request)
        kind, settings = str(fields.pop(KIND_FIELD, "")), fields.pop(SETTINGS_FIELD, {})
        name = valid_fields(TemplateNameForm, fields).cleaned_data["name"]
        if kind not in FORMS:
            expected = ", ".join(FORMS)
            raise ValidationError({KIND_FIELD: [f"Expected one of {expected}, got {kind[:40] or 'nothing'}."]})
        if not isinstance(settings, dict) or NOT_SAVED & set(settings):
            expected = f"an object with the fields of the order, without {' and '.join(sorted(NOT_SAVED))}"
            raise ValidationError({SETTINGS_FIELD: [f"Expected {expected}."]})
        form = valid_fields(FORMS[kind], DEFAULTS[kind] | settings)
        template = save_template(lab, name, form, token_of(request).user)
        headers = {"Location": f"/api/v1/lab/templates/{template.public_id}/"}
        return Response(TemplateSerializer(template).data, 201, headers=headers)


class TemplateDetail(TemplateAccess, LabDetail):
    """GET returns a template. PATCH renames it, DELETE removes it."""

    serializer_class = TemplateSerializer

    @extend_schema(
        summary="Rename a template",
        description="PATCH gives a template another name. A name of another template is refused as for a new one.",
        request=inline_serializer(
            "LabTemplateChanges", fields_of_form(TemplateNameForm, optional=TemplateNameForm.base_fields)
        ),
        responses=TemplateSerializer,
    )
    def patch(self, request: Request, public_id: str) -> Response:
        template = self.get_object()
        form = valid_fields(TemplateNameForm, {"name": template.name} | stated_fields(request))
        rename_template(template, form.cleaned_data["name"], token_of(request).user)
        return Response(TemplateSerializer(template).data)

    @extend_schema(
        summary="Remove a template",
        description="DELETE removes a template. What was ordered with it stays as it is.",
        responses={204: None},
    )
    def delete(self, request: Request, public_id: str) -> Response:
        remove_template(self.get_object(), token_of(request).user)
        return Response(status=204)


def stated_template(
    fields: dict[str, Any], lab: Organisation, kinds: Collection[str] = (OrderTemplate.Kind.CAMPAIGN,)
) -> OrderTemplate | None:
    """Take the template of a kind that an order names out of its fields; None without one. Raises ValidationError."""
    stated = fields.pop(TEMPLATE_FIELD, None)
    if stated is None:
        return None
    text = str(stated)
    found = templates_of(lab).filter(public_id=text, kind__in=kinds).first() if "\0" not in text else None
    if found is None:
        expected = f"Expected the id of a template of /api/v1/lab/templates/ of the kind {' or '.join(kinds)}"
        raise ValidationError({TEMPLATE_FIELD: [f"{expected}, got {text[:40] or 'nothing'}."]})
    return found


def with_settings(template: OrderTemplate | None, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an order, with the settings of its template for those that are left out.

    A template may have been saved by a release whose form had other fields.
    """
    known = FORMS[template.kind].base_fields if template else {}
    return {name: value for name, value in (template.settings if template else {}).items() if name in known} | fields
