import html
import re

import pytest

from results.lifecycle.takedowns import request_takedown
from results.models import Event, Profile, Run, Takedown
from tests.results.builders import make_user
from tests.results.rows import from_a_log, make_product, make_run
from webapp.submissions.succession import succession_warnings

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(db):
    return make_run(make_product(), firmware="FW1")


def act(client, run, name, **fields):
    return client.post(f"/review/runs/{run.public_id}/{name}/", fields, follow=True)


@pytest.mark.parametrize("path", ["", "withdraw/"])
def test_only_reviewers_see_or_decide(client, as_user, vera, run, path):
    method = "post" if path else "get"
    address = f"/review/runs/{run.public_id}/{path}"
    assert getattr(client, method)(address).status_code == 302
    assert getattr(as_user(vera), method)(address).status_code == 403
    assert not Event.objects.exists()


def test_a_reviewer_withdraws_and_reinstates_a_published_result(as_user, rita, run):
    client = as_user(rita)
    withdrawn = act(client, run, "withdraw", reason="wrong firmware").text
    assert "The run is withdrawn. Its page stays and shows a notice within about " in withdrawn
    page = act(client, run, "reinstate", reason="the right one")
    assert "Reinstated." in page.text
    assert "wrong firmware" in page.text
    assert [event.actor for event in Event.objects.all()] == [rita, rita]


def test_a_reviewer_supersedes_a_run_and_reverts_it(as_user, rita, run):
    client, successor = as_user(rita), make_run(run.product, firmware="FW1")
    act(client, run, "supersede", successor=successor.public_id, reason="longer")
    assert Run.objects.get(pk=run.pk).superseded_by == successor
    act(client, run, "unsupersede", reason="both count")
    assert Run.objects.get(pk=run.pk).superseded_by is None


@pytest.fixture
def short(run):
    """A run that says less than `run`: one device instead of four, for a minute instead of a day, and it fails."""
    Run.objects.filter(pk=run.pk).update(device_count=4, duration_s=86_400)
    add_verdict(run, "undecided")
    short = make_run(run.product, firmware="FW2", device_count=1, duration_s=60)
    add_verdict(short, "fail")
    return short


def add_verdict(run, outcome):
    document = {"reasons": [], "violations": [], "shares": []}
    columns = {"outcome": outcome, "headline": outcome, "document": document, "reader_version": "1"}
    run.verdicts.create(profile=Profile.current(), **columns)


def test_the_comparison_warns_of_a_run_that_says_less(as_user, rita, run, short):
    page = as_user(rita).get(f"/review/runs/{run.public_id}/?successor={short.public_id}").text
    ticks = [html.unescape(tick) for tick in re.findall(r'name="accepted_warnings" value="([^"]+)" required', page)]
    one, other = short.public_id, run.public_id
    assert [tick.replace("\N{NO-BREAK SPACE}", " ") for tick in ticks] == [
        f"{one} ran for 1 min; {other} ran for 24 h.",
        f"{one} loaded 1 device; {other} loaded 4 devices.",
        f"{one} fails; {other} is undecided.",
        "The firmware differs: FW2 instead of FW1.",
    ]
    page = as_user(rita).get(f"/review/runs/{short.public_id}/?successor={run.public_id}").text
    assert page.count('name="accepted_warnings"') == 1  # the firmware


def test_each_warning_of_a_succession_must_be_ticked(as_user, rita, run, short):
    client, ticks = as_user(rita), succession_warnings(Run.objects.get(pk=run.pk), short)
    order = {"successor": short.public_id, "reason": "newer"}
    for given in ([], ticks[:-1]):
        page = act(client, run, "supersede", **order, accepted_warnings=given).text
        assert "Not superseded. Tick each warning" in page
        assert Run.objects.get(pk=run.pk).superseded_by is None
    act(client, run, "supersede", **order, accepted_warnings=ticks)
    assert Run.objects.get(pk=run.pk).superseded_by == short
    assert Event.objects.get(kind="run-superseded").details["in_spite_of"] == ticks


def test_the_comparison_names_an_unknown_run(as_user, rita, run):
    page = as_user(rita).get(f"/review/runs/{run.public_id}/?successor=r-nothere").text
    assert "No run is named r-nothere." in page


def test_the_comparison_tells_nothing_of_a_withheld_run(as_user, rita, run, short):
    request_takedown(short, make_user("olga", is_operator=True), Takedown.Ground.COURT_ORDER)
    page = as_user(rita).get(f"/review/runs/{run.public_id}/?successor={short.public_id}").text
    assert f"No run is named {short.public_id}." in page
    assert "accepted_warnings" not in page


def test_a_reviewer_annotates_a_run_and_retracts_the_annotation(as_user, rita, run):
    client = as_user(rita)
    assert "beta firmware" in act(client, run, "annotate", text="beta firmware").text
    annotation = run.annotations.get()
    act(client, run, "retract", annotation=annotation.pk, reason="it was not")
    assert not run.annotations.current().exists()


def test_a_reviewer_corrects_a_run_and_reverts_it(as_user, rita, run):
    client = as_user(rita)
    act(client, run, "correct", firmware="FW2", reason="a slip")
    assert Run.objects.get(pk=run.pk).firmware == "FW2"
    act(client, run, "take-back", event=Event.objects.get().pk, reason="no slip")
    assert Run.objects.get(pk=run.pk).firmware == "FW1"


@pytest.mark.parametrize(
    ("name", "fields", "complaint"),
    [
        ("withdraw", {}, "Nothing was changed. Reason: Enter a reason. It is shown with the decision."),
        ("reinstate", {"reason": "x"}, "is public; only a run that is withdrawn can be"),
        ("supersede", {"reason": "x", "successor": "r-nothere"}, "No run is named r-nothere."),
        ("correct", {"reason": "x", "firmware": "FW1"}, "already has these values"),
    ],
)
def test_an_impossible_action_is_refused_with_a_message(as_user, rita, run, name, fields, complaint):
    assert complaint in act(as_user(rita), run, name, **fields).text
    assert not Event.objects.exists()


def test_an_unknown_run_or_action_is_not_found(as_user, rita, run):
    assert as_user(rita).get("/review/runs/r-nothere/").status_code == 404
    assert as_user(rita).post(f"/review/runs/{run.public_id}/delete/").status_code == 404


def test_transitions_that_approve_the_reviewers_own_run_are_not_offered(as_user, rita):
    run = make_run(make_product(), visibility="withdrawn", **from_a_log())
    assert "Reinstate with this reason" in as_user(rita).get(f"/review/runs/{run.public_id}/").text
    run.submission.submitted_by = rita
    run.submission.save()
    page = as_user(rita).get(f"/review/runs/{run.public_id}/").text
    assert "Reinstate with this reason" not in page
    assert "You sent this run" in page


@pytest.mark.parametrize("key", ["", "x", "7", "-1", str(2**63 - 1), str(2**63), "9" * 30, "9" * 5000])
@pytest.mark.parametrize(("name", "field"), [("retract", "annotation"), ("take-back", "event")])
def test_an_id_that_belongs_to_another_run_is_not_found(as_user, rita, run, name, field, key):
    assert act(as_user(rita), run, name, **{field: key}, reason="x").status_code == 404
    assert not Event.objects.exists()


@pytest.mark.parametrize("key", [str(2**63), "9" * 30, "9" * 5000])
@pytest.mark.parametrize("address", ["/lab/devices/{}/order/", "/runs/{run}/earlier/{}.json"])
def test_an_impossible_id_in_the_address_is_not_found(as_user, rita, run, address, key):
    rita.is_operator = True
    rita.save()
    assert as_user(rita).get(address.format(key, run=run.public_id)).status_code == 404


@pytest.mark.parametrize("key", [str(2**63), "9" * 30, "9" * 5000])
def test_forms_refuse_an_impossible_id(as_user, rita, run, key):
    assert as_user(rita).post(f"/accounts/tokens/{key}/revoke/").status_code == 404
    assert as_user(rita).get("/submissions/", {"page": key}).status_code == 200
