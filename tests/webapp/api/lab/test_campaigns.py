"""Campaigns by API: started with the form of the page, followed, paused, resumed and cancelled."""

import pytest

from runners.campaigns.terms import Terms, parse_terms
from runners.models import Dispatch
from runners.models.campaign import Campaign
from tests.runners.campaigns.lab import campaign, drive_to_end, fake_prep, new_campaign, poll_campaign  # noqa: F401
from tests.webapp.lab.shared.test_drive_status import DATA, EXT4, holding

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/lab/campaigns/"


def post(client, end="", key="", **fields):
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(f"{ADDRESS}{end}", fields, content_type="application/json", headers=headers)


def test_a_campaign_is_started_with_the_terms_of_the_page(olga, device, a_lab, staff):
    answer = post(olga, device=device.pk, max_nx="400", with_prep=False, vendor="Acme")
    started = Campaign.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (201, f"{ADDRESS}{started.public_id}/")
    assert (started.organisation, started.ordered_by, started.facts["vendor"]) == (a_lab, staff, "Acme")
    assert parse_terms(started.terms) == Terms().changed(max_nx=400, with_prep=False, alone_on_host=True)
    shown = answer.json()
    assert (shown["state"], shown["loads"], shown["terms"]["max_nx"]) == ("active", [], "400")
    assert shown["next_load"]["purpose"] == "screening"
    assert [each["threshold_us"] for each in shown["limits"]] == [1000, 8000, 64000]


def test_a_preparation_is_the_default(olga, device):
    assert post(olga, device=device.pk).json()["next_load"]["purpose"] == "prep"


@pytest.mark.parametrize(("fields", "is_alone"), [({}, True), ({"alone_on_host": False}, False)])
def test_loads_are_alone_on_their_host_unless_the_order_says_otherwise(olga, device, fields, is_alone):
    assert post(olga, device=device.pk, **fields).json()["terms"]["alone_on_host"] is is_alone


def test_a_wrong_term_is_named(olga, device):
    answer = post(olga, device=device.pk, max_nx="1.999")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "max_nx")
    assert not Campaign.objects.exists()


def test_data_is_overwritten_only_with_the_consent_of_the_page(olga, device):
    holding(device, **DATA)
    consent = {"shown_signature": EXT4, "shown_place": f"{device.path} of {device.size_bytes} bytes"}
    for fields, code in (({}, "content-changed"), (consent, "label-mismatch")):
        answer = post(olga, device=device.pk, **fields)
        assert (answer.status_code, answer.json()["code"]) == (409, code)
    assert not Campaign.objects.exists()
    assert post(olga, device=device.pk, **consent, typed_label="fake drive").status_code == 201


def test_a_repeated_request_with_its_key_starts_one_campaign(olga, device):
    first, again = (post(olga, key="k", device=device.pk) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    answer = post(olga, device=device.pk)
    assert (answer.status_code, answer.json()["code"]) == (409, "drive-taken")


def test_an_order_under_the_key_of_a_campaign_is_refused(olga, device):
    first = post(olga, key="k", device=device.pk).json()["id"]
    headers, fields = {"Idempotency-Key": "k"}, {"device": device.pk, "recipe": "prep"}
    answer = olga.post("/api/v1/lab/dispatches/", fields, content_type="application/json", headers=headers)
    assert (answer.json()["code"], answer.json()["first"]) == ("key-of-other-order", first)
    assert not Dispatch.objects.exists()


def test_a_campaign_lists_its_loads_and_its_end(watcher, campaign):  # noqa: F811
    drive_to_end(campaign, 30)
    shown = watcher.get(f"{ADDRESS}{campaign.public_id}/").json()
    assert (shown["state"], shown["end"], shown["confirmed_nx"]) == ("finished", "confirmed", "30.0000")
    assert (shown["next_load"], shown["estimate"]) == (None, None)
    assert [each["step"] for each in shown["loads"]] == list(range(1, len(shown["loads"]) + 1))
    assert {each["result"] for each in shown["loads"]} >= {"passed", "failed"}
    assert shown["history"][-1]["kind"] == "finished"


def test_the_next_load_is_unknown_while_a_run_is_open(watcher, campaign):  # noqa: F811
    poll_campaign(campaign)
    shown = watcher.get(f"{ADDRESS}{campaign.public_id}/").json()
    assert [each["result"] for each in shown["loads"]] == ["open"]
    assert shown["next_load"] is None


def test_campaigns_are_filtered_by_state(watcher, campaign):  # noqa: F811
    assert [each["id"] for each in watcher.get(f"{ADDRESS}?state=active").json()["results"]] == [campaign.public_id]
    assert watcher.get(f"{ADDRESS}?state=paused").json()["results"] == []
    assert watcher.get(f"{ADDRESS}?state=gone").status_code == 400


def test_a_campaign_is_paused_resumed_and_cancelled_once(olga, campaign):  # noqa: F811
    def done(command, **fields):
        answer = post(olga, f"{campaign.public_id}/{command}/", **fields)
        return answer.status_code, answer.json().get("state") or answer.json()["code"]

    assert done("resume") == (409, "not-paused")
    assert done("pause") == (200, "paused")
    assert done("pause") == (409, "not-active")
    assert done("resume") == (200, "active")
    assert post(olga, f"{campaign.public_id}/pause/", reason="x").status_code == 400
    assert done("cancel", reason="wrong drive")[0] == 200
    assert campaign.entries.last().reason == "wrong drive"
    assert done("cancel") == (409, "not-cancellable")
    assert post(olga, "k-missing2/pause/").status_code == 404


def test_terms_are_changed_from_the_next_step_on(olga, campaign):  # noqa: F811
    before = parse_terms(campaign.terms)
    answer = post(olga, f"{campaign.public_id}/terms/", screening_s=77, alone_on_host=True)
    assert (answer.status_code, answer.json()["terms"]["screening_s"]) == (200, 77)
    campaign.refresh_from_db()
    assert parse_terms(campaign.terms) == before.changed(screening_s=77, alone_on_host=True)
    again = post(olga, f"{campaign.public_id}/terms/", screening_s=77)
    assert (again.status_code, again.json()["code"]) == (409, "nothing-changed")
    for wrong in ({"start_nx": "4"}, {"screening_s": 0}):
        assert post(olga, f"{campaign.public_id}/terms/", **wrong).status_code == 400
