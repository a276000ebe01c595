"""Search, filters and verdicts of the lists of submissions, and decisions about several at once."""

from dataclasses import replace

import pytest

from results.ingest.queue import sweep
from results.lifecycle.review_claims import claim
from results.models import Event, ReviewClaim, Run, Submission
from tests.results.builders import FACTS, log_bytes, make_organisation, make_user, send
from webapp.submissions.listing import verdict_words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]


@pytest.fixture
def pair(exemplar, vera):
    """Two submissions of different drives: one fails, the other one is undecided."""
    undecided = send(exemplar, log_bytes("four-us"), vera)
    fails = send(exemplar, log_bytes("slow-disk-ms"), vera, replace(FACTS, vendor="Sample", model="S1"))
    sweep()
    for run in Run.objects.all():
        Run.objects.filter(pk=run.pk).update(facts=run.facts | {"devices": [], "is_virtual_device": None})
    return undecided, fails


def shown(client, address, pair):
    page = client.get(address).text
    return [each for each in pair if each.public_id in page]


def test_a_verdict_of_several_runs_has_their_numbers(pair):
    undecided, fails = pair
    words = verdict_words(pair)
    assert words[fails.pk] == "fails"
    Run.objects.update(submission=fails)
    assert verdict_words(pair)[fails.pk] in {"fails (1), passes (1)", "fails (1), undecided (1)", "fails (2)"}
    assert undecided.pk not in verdict_words(pair)


@pytest.mark.parametrize("address", ["/submissions/", "/submissions/review/"])
def test_lists_show_verdicts_and_are_searched_and_filtered(as_user, rita, vera, pair, address):
    first, fails = pair
    client = as_user(rita if "review" in address else vera)
    assert "<td>fails</td>" in client.get(address).text
    assert shown(client, address, pair) == [first, fails]
    for query, found in [
        ("q=sample", [fails]), ("q=SAMPLE+s1", [fails]), ("q=sample+ex5", []), (f"q={first.public_id}", [first]),
        ("verdict=fail", [fails]), ("verdict=none", []), ("verdict=nonsense", [first, fails]),
    ]:  # fmt: skip
        assert shown(client, f"{address}?{query}", pair) == found, query


def test_the_own_list_is_filtered_by_state(as_user, vera, pair):
    client = as_user(vera)
    Submission.objects.filter(pk=pair[0].pk).update(demo_run_id="demo-loop")
    assert shown(client, "/submissions/?state=awaiting-identity", pair) == [pair[1]]
    assert shown(client, "/submissions/?state=declined", pair) == []
    assert "Show all" in client.get("/submissions/?state=declined").text


def test_the_queue_is_filtered_by_claim_and_by_what_is_missing(as_user, rita, pair):
    client, rolf = as_user(rita), make_user("rolf", is_reviewer=True)
    claim(pair[0], rolf)
    assert "<td>rolf</td>" in client.get("/submissions/review/").text
    assert shown(client, "/submissions/review/?claim=free", pair) == [pair[1]]
    assert shown(client, "/submissions/review/?claim=mine", pair) == []
    assert shown(as_user(rolf), "/submissions/review/?claim=mine", pair) == [pair[0]]
    assert shown(client, "/submissions/review/?missing=product", pair) == list(pair)
    assert shown(client, "/submissions/review/?missing=answer", pair) == []


def test_one_decision_is_made_about_several_submissions(as_user, rita, pair):
    client = as_user(rita)
    ids = [each.public_id for each in pair]

    def decide(batch, chosen=ids, **fields):
        return client.post("/submissions/review/", {"batch": batch, "chosen": chosen, **fields}, follow=True).text

    assert "Claim: done for 2 of 2 submissions." in decide("claim")
    assert ReviewClaim.objects.filter(reviewer=rita).count() == 2
    assert "Release: done for 1 of 1 submissions." in decide("release", ids[:1])
    page = decide("publish")
    assert "The run has no product yet." in page
    assert "done for" not in page
    assert "Enter a reason" in decide("decline")
    assert "Decline: done for 2 of 2 submissions." in decide("decline", reason="no such drives")
    assert Event.objects.filter(kind="submission-declined", reason="no such drives").count() == 2


def test_several_submissions_are_approved_only_without_warnings(as_user, rita, pair):
    client, (first, fails) = as_user(rita), pair
    for each in pair:
        form = {"category": "nvme-flash", "vendor": each.vendor, "model": each.model, "capacity_gb": "3200"}
        client.post(f"/submissions/{each.public_id}/new-product/", form)
    run = fails.runs.get()
    fails.runs.update(facts=run.facts | {"devices": [{"name": "/dev/nvme0n1", "size_bytes": 10**9}]})
    order = {"batch": "publish", "chosen": [each.public_id for each in pair]}
    page = client.post("/submissions/review/", order, follow=True).text
    assert "Approve: done for 1 of 2 submissions." in page
    assert "Tick each warning" in page
    assert (first.runs.get().visibility, fails.runs.get().visibility) == ("public", "unreviewed")


@pytest.mark.parametrize("order", [{}, {"batch": "claim"}, {"batch": "withdraw", "chosen": "all"}])
def test_an_incomplete_decision_changes_nothing(as_user, rita, pair, order):
    chosen = {"chosen": [each.public_id for each in pair]} if order.get("chosen") == "all" else {}
    answer = as_user(rita).post("/submissions/review/", order | chosen, follow=True)
    assert "Nothing was changed." in answer.text
    assert not ReviewClaim.objects.exists()


def test_members_decide_nothing_in_the_queue(as_user, vera, pair):
    order = {"batch": "decline", "chosen": [each.public_id for each in pair], "reason": "x"}
    assert as_user(vera).post("/submissions/review/", order).status_code == 403
    assert not Event.objects.filter(kind="submission-declined").exists()


def test_a_product_is_assigned_to_all_waiting_submissions_of_the_same_name(as_user, rita, exemplar, vera):
    logs = [log_bytes("four-us"), log_bytes("slow-disk-ms"), log_bytes("four-us") + b"\n"]
    first, second, other = (
        send(exemplar, logs[0], vera), send(exemplar, logs[1], vera),
        send(exemplar, logs[2], vera, replace(FACTS, model="EX5")),
    )  # fmt: skip
    foreign = send(make_organisation("other"), logs[0])
    sweep()
    form = {"category": "nvme-flash", "vendor": "Exemplar", "model": "Other name", "capacity_gb": "3200"}
    page = as_user(rita).post(f"/submissions/{first.public_id}/new-product/", form, follow=True).text
    assert f"Also assigned to submissions that state the same name: {second.public_id}." in page
    for each in (first, second, other, foreign):
        each.refresh_from_db()
    assert second.product == first.product
    assert second.runs.get().product == first.product
    assert (other.product, foreign.product) == (None, None)  # another name; another organisation, and not public
    event = Event.objects.get(kind="identity-named", subject_id=second.public_id)
    assert (event.actor, event.details["with"]) == (rita, first.public_id)


def test_a_public_product_is_assigned_to_other_organisations_too(as_user, rita, exemplar, vera):
    public = send(exemplar, log_bytes("four-us"), vera, replace(FACTS, model="EX5"))
    mine = send(exemplar, log_bytes("slow-disk-ms"), vera)
    foreign = send(make_organisation("other"), log_bytes("slow-disk-ms"))
    sweep()
    form = {"category": "nvme-flash", "vendor": "Exemplar", "model": "EX5", "capacity_gb": "3200"}
    client = as_user(rita)
    client.post(f"/submissions/{public.public_id}/new-product/", form)
    run = public.runs.get()
    public.runs.update(facts=run.facts | {"devices": [], "is_virtual_device": None})
    client.post(f"/submissions/{public.public_id}/publish/")
    product = public.runs.get().product
    client.post(f"/submissions/{mine.public_id}/product/", {"product": product.pk})
    foreign.refresh_from_db()
    assert foreign.product == product
