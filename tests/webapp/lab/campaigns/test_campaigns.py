import json
import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results.models import Share
from runners.campaigns import commands
from runners.campaigns.terms import Terms, parse_terms
from runners.models import Dispatch
from runners.models.campaign import Campaign
from tests.runners.campaigns.lab import (  # noqa: F401 - fixtures
    SHORT,
    answer,
    campaign,
    drive_to_end,
    end,
    fake_prep,
    new_campaign,
    newest,
    poll_campaign,
)
from webapp.lab.campaigns.forms import CampaignForm

pytestmark = pytest.mark.django_db

TERMS = Terms()
ORDER = {name: str(value) for name, value in TERMS.as_json().items() if name != "with_prep"} | {
    "max_nx": "466.67", "screening_s": "600", "vendor": "Acme", "over_provisioning_pct": "7.25",
}  # fmt: skip


def page(client, campaign, part=""):  # noqa: F811
    return client.get(f"/lab/campaigns/{campaign.public_id}/{part}")


def deed(client, campaign, name, **form_data):  # noqa: F811
    return client.post(f"/lab/campaigns/{campaign.public_id}/{name}/", form_data, follow=True)


@pytest.fixture
def climbed(campaign):  # noqa: F811
    return drive_to_end(campaign, 30)


def test_a_campaign_is_started_for_the_orderer_s_lab(lab_client, device, a_lab, staff):
    answer = lab_client.post(f"/lab/devices/{device.pk}/campaign/", ORDER)
    started = Campaign.objects.get()
    assert answer.headers["Location"] == f"/lab/campaigns/{started.public_id}/"
    assert (started.organisation, started.ordered_by, started.device) == (a_lab, staff, device)
    assert parse_terms(started.terms) == TERMS.changed(max_nx=Decimal("466.67"), screening_s=600, with_prep=False)
    assert (started.facts["vendor"], started.facts["over_provisioning_pct"]) == ("Acme", "7.25")


def test_prep_is_the_default(lab_client, device, fake_prep):  # noqa: F811
    assert "checked" in str(lab_client.get(f"/lab/devices/{device.pk}/campaign/").context["form"]["with_prep"])
    lab_client.post(f"/lab/devices/{device.pk}/campaign/", ORDER | {"with_prep": "on"})
    assert parse_terms(Campaign.objects.get().terms).with_prep


def test_the_loads_of_a_new_campaign_are_alone_on_their_host_unless_the_box_is_cleared(lab_client, device):
    address = f"/lab/devices/{device.pk}/campaign/"
    assert "checked" in str(lab_client.get(address).context["form"]["alone_on_host"])
    lab_client.post(address, ORDER)
    assert Campaign.objects.get().terms["alone_on_host"] is False


def test_staff_without_a_lab_see_what_is_missing(device, staff):
    client = Client()
    client.force_login(staff)
    assert "You do not submit for a lab." in client.post(f"/lab/devices/{device.pk}/campaign/", ORDER).text


def test_a_drive_of_another_campaign_is_refused(lab_client, campaign):  # noqa: F811
    text = lab_client.post(f"/lab/devices/{campaign.device.pk}/campaign/", ORDER).text
    assert f"is used by campaign {campaign.public_id}." in text


@pytest.mark.parametrize(
    ("field", "value", "is_taken"),
    [
        ("max_nx", "2", True),
        ("max_nx", "1.999", False),
        ("start_nx", "1", True),
        ("start_nx", "0.999", False),
        ("start_nx", "0.0001", False),
        ("resolution_nx", "0", False),
        ("ladder_factor", "1.05", True),
        ("ladder_factor", "1.04", False),
        ("near_pct", "50", True),
        ("near_pct", "50.1", False),
        ("rest_s", "0", True),
        ("rest_s", "-1", False),
        ("load_s", "2592000", True),
        ("load_s", "2592001", False),
    ],
)
def test_terms_are_checked_at_both_sides_of_each_edge(field, value, is_taken):
    form = CampaignForm(ORDER | {field: value})
    assert form.is_valid() is is_taken
    assert is_taken or field in form.errors


@pytest.mark.parametrize(
    ("start_nx", "step_nx", "expected"),
    [
        ("0.05", "1", ["Expected a multiple of the step, 1x; got 0.05x. Change one of the two."]),
        ("0.15", "0.1", ["Expected a multiple of the step, 0.1x; got 0.15x. Change one of the two."]),
        ("0.05", "0.05", None),
        ("0.2", "0.1", None),
    ],
)
def test_a_first_load_that_cannot_be_run_exactly_is_refused(start_nx, step_nx, expected):
    form = CampaignForm(ORDER | {"start_nx": start_nx, "resolution_nx": step_nx})
    assert form.errors.get("start_nx") == expected


@pytest.mark.parametrize(("load_s", "is_taken"), [("14271", True), ("14272", False)])
def test_a_run_with_more_slices_than_a_reading_accepts_is_not_ordered(load_s, is_taken):
    form = CampaignForm(ORDER | {"load_s": load_s, "stress_s": "60", "screening_s": "60", "slice_length_s": "1"})
    assert form.is_valid() is is_taken
    assert is_taken or list(form.errors) == ["load_s"]


def test_the_page_of_a_campaign_shows_ladder_history_and_what_is_missing(lab_client, climbed):
    text = page(lab_client, climbed).text
    for shown in (
        "<b>finished</b>: 30x is the highest load that passes; 31x does not",
        "For a certificate at 30x",
        "missing</span> a real drive: the device is virtual",
        "missing</span> load test at 30x of 86,400 seconds: a load test at 30x of 86,400 seconds in slices of 3,600",
        "missing</span> stress test at 60x of 86,400 seconds: ",
        "limit 5 %",
        "ran to completion",
        newest(climbed).public_id,
    ):
        assert shown in text, shown
    assert text.count('<svg class="climb"') == 3


def test_a_small_share_is_not_shown_as_0_in_the_ladder_or_the_chart(lab_client, climbed):
    Share.objects.filter(threshold_us=64_000).update(printed="0.00", over_count=1)
    text = page(lab_client, climbed).text
    assert "<span>&lt;0.01" in text
    assert ": &lt;0.01 %" in text
    assert re.search(r"\b0\.00\b", text) is None


def test_the_chart_distinguishes_pass_and_fail_by_shape(lab_client, climbed):
    panels = page(lab_client, climbed).context["panels"]
    assert {point["shape"] for point in panels[0]["points"]} == {"dot", "triangle"}
    assert len(panels[0]["points"]) == climbed.dispatches.filter(purpose__in=["screening", "load"]).count()
    assert [point["is_load_test"] for point in panels[0]["points"]].count(True) == 1


def test_every_point_is_inside_the_chart(lab_client, climbed):
    for panel in page(lab_client, climbed).context["panels"]:
        places = [*(point["x"] for point in panel["points"]), *(x for x, _ in panel["x_ticks"])]
        assert all(34 <= float(x) <= 328 for x in places)
        assert all(16 <= float(point["y"]) <= 162 for point in panel["points"])
        assert len(panel["x_ticks"]) >= 2


@pytest.mark.parametrize("load", ["0.001", "1", "466.67"])
def test_a_ladder_of_one_run_has_its_chart(lab_client, new_campaign, load):  # noqa: F811
    terms = SHORT.changed(with_prep=False, start_nx=Decimal(load), resolution_nx=Decimal("0.001"), max_nx=Decimal(1000))
    one = poll_campaign(new_campaign(terms))
    answer(newest(one), 1000)
    assert len(page(lab_client, one).context["panels"][0]["points"]) == 1


def test_the_ladder_has_its_json(lab_client, climbed):
    document = json.loads(page(lab_client, climbed, "ladder.json").content)
    assert (document["state"], document["confirmed_nx"]) == ("finished", "30.0000")
    load = next(rung for rung in document["rungs"] if rung["purpose"] == "load")
    assert (load["result"], load["nx_load"], load["shares"][0]["ops_count"]) == ("passed", "30.0000", 1_000_000)
    assert document["rungs"][0]["nx_load"] is None


def test_the_live_part_answers_204_until_a_change(lab_client, campaign):  # noqa: F811
    poll_campaign(campaign)
    version = page(lab_client, campaign).context["version"]
    assert page(lab_client, campaign, f"live/?version={version}").status_code == 204
    Dispatch.objects.update(last_label_s=7)
    render_live = page(lab_client, campaign, f"live/?version={version}")
    assert render_live.status_code == 200
    assert render_live.context["version"] != version


@pytest.mark.parametrize(("is_over", "renews"), [(False, True), (True, False)])
def test_a_page_refreshes_until_the_end(lab_client, campaign, is_over, renews):  # noqa: F811
    if is_over:
        drive_to_end(campaign, 30)
    text = page(lab_client, campaign).text
    assert ('<noscript><meta http-equiv="refresh"' in text) is renews
    assert ('hx-trigger="every 2s"' in text) is renews


def test_the_end_is_estimated_during_the_campaign(lab_client, campaign):  # noqa: F811
    poll_campaign(campaign)
    text = page(lab_client, campaign).text
    assert "Ends between" in text
    assert "This estimate does not include the time of the preparation" in text


def test_a_campaign_is_paused_resumed_and_cancelled(lab_client, campaign):  # noqa: F811
    assert "The campaign is paused." in deed(lab_client, campaign, "pause").text
    assert "The campaign was not paused" in deed(lab_client, campaign, "pause").text
    assert "The campaign is resumed." in deed(lab_client, campaign, "resume").text
    assert "Cancellation requested" in deed(lab_client, campaign, "cancel").text
    assert "Not cancelled" in deed(lab_client, campaign, "cancel").text
    poll_campaign(campaign)
    assert "no program of the campaign runs on the host" in page(lab_client, campaign).text


def test_a_cancellation_is_confirmed_and_recorded_with_person_and_reason(lab_client, campaign, staff):  # noqa: F811
    address = f"/lab/campaigns/{campaign.public_id}/cancel/"
    assert f'href="{address}confirm/"' in page(lab_client, campaign).text
    question = lab_client.get(f"{address}confirm/").text
    assert f'action="{address}"' in question
    assert 'name="reason"' in question
    shown = lab_client.post(address, {"reason": " the drive is needed "}, follow=True).text
    assert "requested the cancellation: the drive is needed" in shown
    entry = campaign.entries.get(kind="cancel-asked")
    assert (entry.actor, entry.reason) == (staff.get_username(), "the drive is needed")


def test_changed_terms_are_listed_in_the_history(lab_client, campaign):  # noqa: F811
    kept = {name: str(value) for name, value in campaign.terms.items()}
    assert "Terms changed." in deed(lab_client, campaign, "terms", **kept | {"max_nx": "12"}).text
    assert "Highest load, Nx from 400 to 12" in page(lab_client, campaign).text
    assert "No term was changed" in deed(lab_client, campaign, "terms", **kept | {"max_nx": "12"}).text


def test_an_invalid_term_is_an_error_of_its_field(lab_client, campaign):  # noqa: F811
    kept = {name: str(value) for name, value in campaign.terms.items()}
    text = deed(lab_client, campaign, "terms", **kept | {"ladder_factor": "1"}).text
    assert "<details open>" in text
    assert parse_terms(Campaign.objects.get().terms) == SHORT


def test_the_text_of_a_host_is_escaped(lab_client, new_campaign):  # noqa: F811
    started = poll_campaign(new_campaign(SHORT.changed(with_prep=False)))
    end(newest(started), "refused", reason="<script>alert(1)</script>")
    poll_campaign(started)
    assert "<script>alert" not in page(lab_client, started).text


def test_the_list_needs_as_many_queries_for_50_rows_as_for_1(lab_client, campaign, staff):  # noqa: F811
    with CaptureQueriesContext(connection) as one:
        assert campaign.public_id in lab_client.get("/lab/campaigns/").text
    for _ in range(49):
        Campaign.objects.filter(state="active").update(state="finished")
        commands.start(campaign.device, campaign.organisation, commands.CampaignOrder(SHORT), staff)
    with CaptureQueriesContext(connection) as fifty:
        lab_client.get("/lab/campaigns/")
    assert len(fifty) == len(one)


def test_the_page_needs_as_many_queries_for_many_runs_as_for_few(lab_client, new_campaign):  # noqa: F811
    at_once = drive_to_end(new_campaign(SHORT.changed(start_nx=30, max_nx=60)), 30)
    with CaptureQueriesContext(connection) as few:
        page(lab_client, at_once)
    climbed = drive_to_end(new_campaign(), 30)
    assert climbed.dispatches.count() > at_once.dispatches.count()
    with CaptureQueriesContext(connection) as many:
        page(lab_client, climbed)
    assert len(many) == len(few)


def test_a_dispatch_of_a_campaign_names_it(lab_client, campaign):  # noqa: F811
    poll_campaign(campaign)
    text = lab_client.get(f"/lab/dispatches/{newest(campaign).public_id}/").text
    assert f"campaign {campaign.public_id}" in text
    assert f'Prep on <a href="/lab/devices/{campaign.device_id}/">fake drive</a>' in text


def test_no_run_is_ordered_during_a_campaign(lab_client, campaign):  # noqa: F811
    form_data = {
        "nx_load": "1",
        "duration_s": "60",
        "slice_length_s": "60",
        "report_interval_s": "1",
        "record_bytes": "1536",
    }
    address = f"/lab/devices/{campaign.device.pk}/order/"
    assert f"Campaign {campaign.public_id} uses this drive" in lab_client.post(address, form_data).text
    assert not Dispatch.objects.exists()
    Campaign.objects.update(state="finished")
    assert lab_client.post(address, form_data).status_code == 302


def test_no_run_is_ordered_again_during_a_campaign(lab_client, dispatch, a_lab, staff):
    end(dispatch, "failed")
    open_one = commands.start(dispatch.device, a_lab, commands.CampaignOrder(SHORT), staff)
    text = lab_client.post(f"/lab/dispatches/{dispatch.public_id}/retry/", follow=True).text
    assert f"Campaign {open_one.public_id} uses this drive" in text
    assert Dispatch.objects.count() == 1


def test_progress_is_shown_only_once_the_run_has_started(lab_client, campaign):  # noqa: F811
    poll_campaign(campaign)
    dispatch = newest(campaign)
    text = page(lab_client, campaign).text
    assert f"{dispatch.public_id}</a> is queued</span>" in text
    assert "<progress" not in text
    Dispatch.objects.filter(pk=dispatch.pk).update(state="running", started_at=timezone.now(), duration_s=4)
    assert "0 of 4 s</label> <progress" in page(lab_client, campaign).text
