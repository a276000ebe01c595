"""Templates of orders on the pages: saved by the form of an order, listed, used, renamed and removed."""

import pytest
from django.test import Client

from runners.models import Campaign, Dispatch, OrderTemplate
from tests.results.builders import make_organisation, make_user
from webapp.lab.campaigns.forms import CampaignForm
from webapp.lab.dispatches.forms import OrderForm

pytestmark = pytest.mark.django_db
SAVE = {"save_template": "yes", "template_name": "half a day"}


def posted(form, **changes):
    """Return the fields of a form as a browser posts them."""
    shown = {name: field.initial for name, field in form.base_fields.items()} | changes
    return {
        name: "on" if value is True else value
        for name, value in shown.items()
        if value is not None and value is not False
    }


@pytest.fixture
def template(lab_client, device):
    """Return a template that the page of a campaign saved."""
    fields = posted(CampaignForm, max_nx="200", vendor="Exemplar", firmware="1.2")
    answer = lab_client.post(f"/lab/devices/{device.pk}/campaign/", fields | SAVE, follow=True)
    assert "The template half a day was saved. Nothing was ordered." in answer.text
    assert not Campaign.objects.exists()
    return OrderTemplate.objects.get()


def test_the_page_of_an_order_begins_with_a_saved_template_without_firmware(lab_client, device, template):
    address = f"/lab/devices/{device.pk}/campaign/"
    assert f'<a href="?like={template.public_id}">half a day</a>' in lab_client.get(address).text
    initial = lab_client.get(f"{address}?like={template.public_id}").context["form"].initial
    assert (initial["max_nx"], initial["vendor"]) == ("200", "Exemplar")
    assert "firmware" not in initial


def test_a_selection_begins_with_a_template_that_was_chosen_on_its_page(lab_client, device, template):
    assert f"/lab/drives/?like={template.public_id}" in lab_client.get("/lab/templates/").text
    drives = lab_client.get(f"/lab/drives/?like={template.public_id}").text
    assert drives.count(f'<input type="hidden" name="like" value="{template.public_id}">') == 2
    page = lab_client.get(f"/lab/drives/campaign/?device={device.pk}&like={template.public_id}")
    assert page.context["form"].initial["max_nx"] == "200"


def test_a_selection_is_saved_as_a_template(lab_client, device):
    fields = posted(CampaignForm, device=device.pk, max_nx="300") | SAVE
    answer = lab_client.post("/lab/drives/campaign/", fields)
    template = OrderTemplate.objects.get()
    assert answer.headers["Location"] == f"/lab/drives/campaign/?like={template.public_id}&device={device.pk}"
    assert template.settings["max_nx"] == "300"
    assert not Campaign.objects.exists()


def test_enter_in_the_field_of_the_name_saves_and_orders_nothing(lab_client, device):
    order = posted(OrderForm, nx_load="7")
    lab_client.post(f"/lab/devices/{device.pk}/order/", order | {"template_name": "half a day"})
    assert OrderTemplate.objects.get().name == "half a day"
    assert not Dispatch.objects.exists()


def test_a_run_and_a_sweep_are_saved_and_begun_with(lab_client, device):
    lab_client.post(f"/lab/devices/{device.pk}/order/", posted(OrderForm, nx_load="7") | SAVE)
    sweep = {"preset": "no-database", "client": "java", "threads": "4,8", **SAVE, "template_name": "sweep"}
    lab_client.post(f"/lab/devices/{device.pk}/ycsb/", sweep)
    run, sweep = OrderTemplate.objects.order_by("pk")
    page = lab_client.get(f"/lab/devices/{device.pk}/order/?like={run.public_id}")
    assert page.context["form"].initial["nx_load"] == "7"
    page = lab_client.get(f"/lab/devices/{device.pk}/ycsb/?like={sweep.public_id}")
    assert page.context["form"].initial["threads"] == "4,8"
    assert lab_client.get(f"/lab/devices/{device.pk}/ycsb/?like={run.public_id}").context["form"].initial == {}
    assert not Dispatch.objects.exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"template_name": ""}, "Enter a name of 1 to 100 characters."),
        ({"template_name": "HALF A DAY"}, "The lab has a template HALF A DAY already."),
        ({"template_name": "other", "max_nx": "0"}, "Ensure this value is greater than or equal to"),
    ],
)
def test_a_template_that_cannot_be_saved_is_explained_on_the_form(lab_client, device, template, changes, sentence):
    fields = posted(CampaignForm) | SAVE | changes
    assert sentence in lab_client.post(f"/lab/devices/{device.pk}/campaign/", fields).text
    assert OrderTemplate.objects.get() == template


def test_a_template_is_renamed_and_removed(lab_client, template):
    address = f"/lab/templates/{template.public_id}/"
    assert "was renamed to 12 hours." in lab_client.post(f"{address}name/", {"name": "12 hours"}, follow=True).text
    assert "Enter 1 to 100 characters." in lab_client.post(f"{address}name/", {"name": ""}, follow=True).text
    assert "Template 12 hours was removed." in lab_client.post(f"{address}remove/", follow=True).text
    assert not OrderTemplate.objects.exists()
    assert lab_client.post(f"{address}remove/").status_code == 404


def test_an_operator_of_another_lab_neither_sees_nor_changes_it(template):
    other = make_organisation("other")
    type(other).objects.filter(pk=other.pk).update(kind="lab")
    client = Client()
    client.force_login(make_user("otto", other, is_operator=True))
    assert "half a day" not in client.get("/lab/templates/").text
    assert client.post(f"/lab/templates/{template.public_id}/remove/").status_code == 404


def test_an_operator_without_a_lab_saves_none(device):
    client = Client()
    client.force_login(make_user("otto", is_operator=True))
    page = client.post(f"/lab/devices/{device.pk}/campaign/", posted(CampaignForm) | SAVE).text
    assert "No template was saved. You do not submit for a lab." in page
    assert "You do not submit for a lab, so you have no templates." in client.get("/lab/templates/").text
