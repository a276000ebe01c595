"""Templates of orders by API: save, list, order with one, rename and remove."""

import pytest

from results.models import Event
from runners.campaigns.terms import parse_terms
from runners.inventory.devices import bind
from runners.models import Campaign, Dispatch, OrderTemplate
from tests.results.builders import make_organisation, make_user
from tests.webapp.api.lab.conftest import script_of
from webapp.lab.shared import order_templates

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/lab/templates/"
RUN = {"nx_load": "12", "duration_s": 600}


def post(client, address=ADDRESS, **fields):
    return client.post(address, fields, content_type="application/json")


def saved(script, kind="campaign", name="half a day", **settings):
    answer = post(script, kind=kind, name=name, settings=settings)
    assert answer.status_code == 201, answer.text
    return answer.json()


def refused(answer):
    return (answer.status_code, answer.json()["code"])


def test_a_template_is_saved_listed_renamed_and_removed(olga, watcher, staff):
    template = saved(olga, max_nx="200", vendor="Exemplar")
    assert (template["settings"]["max_nx"], template["settings"]["vendor"]) == ("200", "Exemplar")
    assert "firmware" not in template["settings"]
    address = f"{ADDRESS}{template['id']}/"
    assert watcher.get(ADDRESS).json()["results"] == [watcher.get(address).json()] == [template]
    renamed = olga.patch(address, {"name": "12 hours"}, content_type="application/json")
    assert renamed.json() == template | {"name": "12 hours"}
    assert olga.delete(address).status_code == 204
    assert watcher.get(address).status_code == 404
    kinds = ["template-saved", "template-renamed", "template-removed"]
    events = Event.objects.filter(subject_type="template", subject_id=template["id"]).order_by("pk")
    assert [(each.kind, each.actor) for each in events] == [(kind, staff) for kind in kinds]


def test_a_campaign_has_the_settings_of_its_template_and_what_the_request_states(olga, device):
    template = saved(olga, max_nx="200", start_nx="20", with_prep=False)["id"]
    ordered = post(olga, "/api/v1/lab/campaigns/", device=device.pk, template=template, start_nx="30")
    assert ordered.status_code == 201
    terms = parse_terms(Campaign.objects.get().terms)
    assert (terms.max_nx, terms.start_nx, terms.with_prep) == (200, 30, False)


def test_a_selection_of_drives_is_ordered_with_a_template(olga, staff, device, fake):
    second = bind(device.host, fake.add_drive("/dev/fake1", "file:lab1:8:6"), "shelf 2", staff)
    template = saved(olga, max_nx="200")["id"]
    drives = [{"device": each.pk} for each in (device, second)]
    assert post(olga, "/api/v1/lab/selection/campaigns/", drives=drives, template=template).status_code == 201
    assert [parse_terms(each.terms).max_nx for each in Campaign.objects.all()] == [200, 200]


def test_a_run_is_ordered_with_a_template_of_its_workload(olga, device):
    template = saved(olga, "run", **RUN, recipe="act-index", microsecond_histograms=False)["id"]
    assert post(olga, "/api/v1/lab/dispatches/", device=device.pk, template=template).status_code == 201
    dispatch = Dispatch.objects.get()
    assert (dispatch.recipe, dispatch.nx_load, dispatch.duration_s) == ("act-index", 12, 600)
    assert dispatch.options["microsecond_histograms"] is False


def test_a_sweep_is_ordered_with_a_template_as_its_form_shows_it(olga, device, monkeypatch):
    template = saved(olga, "sweep", preset="micron-7450-rocksdb", client="java", threads="4,8", record_count=1000)
    assert template["settings"]["threads"] == "4,8"
    monkeypatch.setattr("webapp.lab.dispatches.ordering.expected_refusal", lambda _device, _order: "")
    ordered = post(olga, "/api/v1/lab/dispatches/", device=device.pk, template=template["id"], record_count=2000)
    assert ordered.status_code == 201, ordered.text
    dispatch = Dispatch.objects.get()
    assert (dispatch.recipe, dispatch.options["threads"], dispatch.options["record_count"]) == ("ycsb", [4, 8], 2000)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "campaign", "settings": {}},
        {"kind": "prep", "name": "x", "settings": {}},
        {"kind": "campaign", "name": "x", "settings": []},
        {"kind": "campaign", "name": "x", "settings": {"max_nx": "0"}},
        {"kind": "campaign", "name": "x", "settings": {"firmware": "1.2"}},
        {"kind": "campaign", "name": "x", "settings": {"device": 1}},
        {"kind": "run", "name": "x", "settings": {"nx_load": "1"}},
        {"kind": "run", "name": "x" * 101, "settings": RUN},
        {"kind": "run", "name": "x", "settings": RUN, "drives": []},
    ],
)
def test_an_invalid_template_is_not_saved(olga, fields):
    assert post(olga, **fields).status_code == 400
    assert not OrderTemplate.objects.exists()


def test_a_name_is_used_once_in_a_lab(olga):
    saved(olga)
    assert refused(post(olga, kind="run", name="Half a DAY", settings=RUN)) == (409, "name-taken")
    other = saved(olga, name="other")["id"]
    taken = olga.patch(f"{ADDRESS}{other}/", {"name": "half a day"}, content_type="application/json")
    assert refused(taken) == (409, "name-taken")
    assert olga.patch(f"{ADDRESS}{other}/", {"name": "OTHER"}, content_type="application/json").status_code == 200


def test_the_number_of_templates_of_a_lab_has_a_limit(olga, monkeypatch):
    monkeypatch.setattr(order_templates, "TEMPLATES_MAX", 1)
    saved(olga)
    assert refused(post(olga, kind="run", name="second", settings=RUN)) == (409, "too-many-templates")


def test_another_lab_neither_reads_nor_orders_with_a_template(olga, device):
    template = saved(olga)["id"]
    other = make_organisation("other")
    type(other).objects.filter(pk=other.pk).update(kind="lab")
    other.refresh_from_db()
    otto = script_of(make_user("otto", other, is_operator=True), other, "order")
    assert otto.get(ADDRESS).json()["results"] == []
    assert otto.get(f"{ADDRESS}{template}/").status_code == 404
    assert otto.delete(f"{ADDRESS}{template}/").status_code == 404
    assert post(otto, "/api/v1/lab/campaigns/", device=device.pk, template=template).status_code == 400
    assert saved(otto)["name"] == "half a day"


@pytest.mark.parametrize("stated", ["t-missing2", "a\0b", 7, ""])
def test_an_order_with_an_unknown_template_or_one_of_another_kind_is_refused(olga, device, stated):
    run = saved(olga, "run", **RUN)["id"]
    for template in (stated, run):
        answer = post(olga, "/api/v1/lab/campaigns/", device=device.pk, template=template)
        assert answer.json()["errors"][0]["field"] == "template"
    assert not Campaign.objects.exists()


def test_a_script_that_only_reads_saves_none(watcher):
    assert refused(post(watcher, kind="run", name="x", settings=RUN)) == (403, "scope-missing")


@pytest.mark.parametrize(("end", "kind", "stated"), [("campaigns/", "campaign", {}), ("dispatches/", "run", RUN)])
def test_an_order_that_is_repeated_after_its_template_was_removed_is_returned(olga, device, end, kind, stated):
    address, template = f"/api/v1/lab/{end}", saved(olga, kind, **stated)["id"]
    consent = {"shown_signature": "", "shown_place": ""} if kind == "run" else {}
    fields, headers = {"device": device.pk, "template": template} | consent, {"Idempotency-Key": "k"}
    first = olga.post(address, fields, content_type="application/json", headers=headers)
    olga.delete(f"{ADDRESS}{template}/")
    again = olga.post(address, fields, content_type="application/json", headers=headers)
    assert (first.status_code, again.status_code) == (201, 200), first.text
    assert again.json()["id"] == first.json()["id"]


def test_a_setting_that_the_form_no_longer_has_is_left_out(olga, device):
    template = saved(olga, max_nx="200")
    row = OrderTemplate.objects.get()
    row.settings |= {"of_an_earlier_release": 1}
    row.save()
    assert post(olga, "/api/v1/lab/campaigns/", device=device.pk, template=template["id"]).status_code == 201
