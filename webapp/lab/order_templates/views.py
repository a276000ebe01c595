"""Views of saved templates: list, rename and remove. The pages of orders save them."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from runners.errors import RequestRefusedError
from runners.models import OrderTemplate
from webapp.accounts.requests import UserRequest
from webapp.lab.dispatches.views import lab_of
from webapp.lab.shared.order_templates import TemplateNameForm, remove_template, rename_template, templates_of
from webapp.lab.shared.views import operator_command, operator_page, render_page


@operator_page
def template_list(request: UserRequest) -> HttpResponse:
    """List the templates of the lab of the operator."""
    lab = lab_of(request.user)
    return render_page(request, "lab/order_templates/list.html", {"templates": templates_of(lab), "organisation": lab})


@operator_command("lab-templates", "The template was not renamed.", is_list=True)
def rename(request: UserRequest, template_id: str) -> str:
    """Give a template another name."""
    template, form = _find(request, template_id), TemplateNameForm(request.POST)
    if not form.is_valid():
        raise RequestRefusedError("Enter 1 to 100 characters.")
    before = template.name
    is_renamed = rename_template(template, form.cleaned_data["name"], request.user)
    return f"Template {before} was renamed to {template.name}." if is_renamed else ""


@operator_command("lab-templates", is_list=True)
def remove(request: UserRequest, template_id: str) -> str:
    """Remove a template."""
    template = _find(request, template_id)
    remove_template(template, request.user)
    return f"Template {template} was removed. What was ordered with it stays as it is."


def _find(request: UserRequest, template_id: str) -> OrderTemplate:
    return get_object_or_404(templates_of(lab_of(request.user)), public_id=template_id)
