"""Templates of orders of a lab: save, rename and remove, for the pages and the API. Each refusal has a code."""

import json
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from results.history import record_event
from results.models import Organisation
from runners.errors import RequestRefusedError
from runners.models import OrderTemplate
from runners.models.order_template import NAME_CHARS
from webapp.accounts.models import User
from webapp.accounts.requests import UserRequest

# The firmware may be updated before the next order, and a host is chosen together with a drive.
NOT_SAVED = {"firmware", "load_host"}
TEMPLATES_MAX = 200  # of a lab: each page of an order lists them


class SavableForm(forms.Form):
    """The form of an order, whose settings a lab may save as a template of its kind."""

    template_kind: ClassVar[OrderTemplate.Kind]


class TemplateNameForm(forms.Form):
    """The name of a template in its lab."""

    name = forms.CharField(max_length=NAME_CHARS, help_text="The name of the template in your lab.")


def templates_of(organisation: Organisation | None, kind: str = "") -> QuerySet[OrderTemplate]:
    """Return the templates of a lab by name, all or those of a kind; none without a lab."""
    found = OrderTemplate.objects.filter(organisation=organisation).select_related("created_by").order_by("name", "pk")
    return found.filter(kind=kind) if kind else found


def saved_settings(public_id: str, organisation: Organisation | None, kind: str) -> dict[str, Any]:
    """Return the settings of a lab's template of a kind; empty for an unknown one."""
    found = templates_of(organisation, kind).filter(public_id=public_id).first() if "\0" not in public_id else None
    return dict(found.settings) if found else {}


def settings_of(form: SavableForm) -> dict[str, Any]:
    """Return the values of a valid form as a template saves them: those with which the form shows the same again."""
    stated = {name: value for name, value in form.cleaned_data.items() if name not in NOT_SAVED}
    plain: dict[str, Any] = json.loads(json.dumps(stated, cls=DjangoJSONEncoder))
    return {name: ",".join(map(str, each)) if isinstance(each, list) else each for name, each in plain.items()}


def save_template(organisation: Organisation, name: str, form: SavableForm, actor: User) -> OrderTemplate:
    """Save the settings of a valid form of an order. Raises RequestRefusedError if the lab has the name already."""
    if templates_of(organisation).count() >= TEMPLATES_MAX:
        sentence = f"The lab has {TEMPLATES_MAX} templates already. Remove one that is no longer needed."
        raise RequestRefusedError(sentence, "too-many-templates")
    kind = form.template_kind
    columns = {"kind": kind, "name": name, "settings": settings_of(form), "created_by": actor}
    try:
        with transaction.atomic():
            template: OrderTemplate = OrderTemplate.objects.create(organisation=organisation, **columns)
            _record(template, "template-saved", actor, kind=kind, settings=template.settings)
    except IntegrityError as error:
        raise _name_taken(name) from error
    return template


def is_posted(request: UserRequest) -> bool:
    """Return whether the form of an order was posted to save its settings, not to order.

    Enter in the field of the name presses the first button of the form, which orders: a name alone is enough to save.
    """
    return "save_template" in request.POST or bool(request.POST.get("template_name", "").strip())


def save_posted(request: UserRequest, organisation: Organisation | None, form: SavableForm) -> OrderTemplate | None:
    """Save the settings that were posted as a template; None if that was refused: then the form has the reason."""
    name = TemplateNameForm({"name": request.POST.get("template_name", "")})
    if not form.is_valid():
        return None
    if organisation is None or not name.is_valid():
        what_to_do = "Enter a name of 1 to 100 characters." if organisation else "You do not submit for a lab."
        form.add_error(None, f"No template was saved. {what_to_do}")
        return None
    try:
        template = save_template(organisation, name.cleaned_data["name"], form, request.user)
    except RequestRefusedError as error:
        form.add_error(None, str(error))
        return None
    messages.success(request, f"The template {template} was saved. Nothing was ordered.")
    return template


def rename_template(template: OrderTemplate, name: str, actor: User) -> bool:
    """Give a template another name, and return whether it had another one. Raises RequestRefusedError."""
    before = template.name
    if before == name:
        return False
    try:
        with transaction.atomic():
            OrderTemplate.objects.filter(pk=template.pk).update(name=name)
            template.name = name
            _record(template, "template-renamed", actor, before=before)
    except IntegrityError as error:
        template.name = before
        raise _name_taken(name) from error
    return True


def remove_template(template: OrderTemplate, actor: User) -> None:
    """Remove a template. What was ordered with it stays as it is; the event keeps its settings."""
    with transaction.atomic():
        _record(template, "template-removed", actor, kind=template.kind, settings=template.settings)
        template.delete()


def _name_taken(name: str) -> RequestRefusedError:
    sentence = f"The lab has a template {name} already. Choose another name, or rename or remove that one."
    return RequestRefusedError(sentence, "name-taken")


def _record(template: OrderTemplate, event_kind: str, actor: User, **details: Any) -> None:
    about = {"name": template.name, "organisation": template.organisation.slug}
    record_event(actor, event_kind, ("template", template.public_id), details=about | details)
