from contextlib import nullcontext
from dataclasses import replace

import pytest

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.ingest.rows import Identity
from results.lifecycle.review import create_product, decline, name_product, publish
from results.lifecycle.submission_states import with_state
from results.lifecycle.visibility import withdraw
from results.models import Event, Product, Run, Submission, Verdict
from tests.results.builders import FACTS, log_bytes, make_organisation, make_user, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def sender():
    return make_user("vera", make_organisation())


@pytest.fixture
def reviewer(sender):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def submission(evidence_dir, stand_in, sender):
    submission = send(sender.memberships.get().organisation, log_bytes("four-us"), sender)
    sweep()
    return submission


def state_of(submission):
    return with_state(Submission.objects.filter(pk=submission.pk)).get().state


def test_a_submission_passes_through_its_states(evidence_dir, stand_in, sender, reviewer):
    submission = send(sender.memberships.get().organisation, log_bytes("four-us"), sender)
    assert state_of(submission) == "received"
    submission.log.readings.update(state="reading")
    assert state_of(submission) == "reading"
    sweep()
    assert state_of(submission) == "awaiting-identity"
    create_product(submission, reviewer)
    assert state_of(submission) == "in-review"
    publish(submission, reviewer)
    assert state_of(submission) == "published"
    withdraw(submission.runs.get(), reviewer, "wrong firmware")
    assert state_of(submission) == "withdrawn"


def test_an_unreadable_submission_ends_as_failed(evidence_dir, stand_in, sender):
    submission = send(sender.memberships.get().organisation, b"no log", sender)
    sweep()
    assert state_of(submission) == "failed"


def test_a_reviewed_run_is_public_with_its_tier_and_event(submission, reviewer):
    create_product(submission, reviewer)
    publish(submission, reviewer)

    run = submission.runs.get()
    assert (run.visibility, run.tier, run.product.slug) == ("public", "reviewed", "exemplar-ex4-3200gb")
    assert run.published_at is not None
    assert Event.objects.get(kind="run-published", subject_id=run.public_id).actor == reviewer


def test_a_run_of_our_lab_stays_lab_verified(submission, reviewer):
    submission.runs.update(tier="lab-verified")
    create_product(submission, reviewer)
    publish(submission, reviewer)
    assert submission.runs.get().tier == "lab-verified"


def test_a_reviewer_cannot_publish_their_own_submission(submission, sender):
    create_product(submission, sender)
    with pytest.raises(ReviewRefusedError, match="yourself"):
        publish(submission, sender)
    assert submission.runs.get().visibility == "unreviewed"


def test_nothing_is_published_without_a_product_or_twice(submission, reviewer):
    with pytest.raises(ReviewRefusedError, match="The run has no product"):
        publish(submission, reviewer)
    create_product(submission, reviewer)
    publish(submission, reviewer)
    with pytest.raises(ReviewRefusedError, match="waits for review"):
        publish(submission, reviewer)


def test_a_declined_submission_has_its_run_and_the_reason(submission, reviewer):
    decline(submission, reviewer, "the log is of another drive")
    assert state_of(submission) == "declined"
    assert submission.runs.get().visibility == "unreviewed"
    assert Event.objects.get(kind="submission-declined").reason == "the log is of another drive"


def test_a_published_run_can_be_withdrawn_but_not_declined(submission, reviewer):
    create_product(submission, reviewer)
    publish(submission, reviewer)
    with pytest.raises(ReviewRefusedError, match="Withdraw"):
        decline(submission, reviewer, "late")
    withdraw(submission.runs.get(), reviewer, "late")
    assert Event.objects.get(kind="run-withdrawn").reason == "late"
    with pytest.raises(ReviewRefusedError, match="is withdrawn; only a run that is public"):
        withdraw(submission.runs.get(), reviewer, "again")


def test_the_same_facts_make_one_product(submission, reviewer):
    assert create_product(submission, reviewer) == create_product(submission, reviewer)
    assert Product.objects.count() == Event.objects.filter(kind="product-created").count() == 1


def test_a_product_of_the_same_name_and_another_part_number_gets_a_number(submission, reviewer):
    stated = {"category": "nvme-flash", "vendor": "Exemplar", "model": "EX4", "capacity_gb": 3200}
    Product.objects.create(slug="exemplar-ex4-3200gb", part_number="other", **stated)
    assert create_product(submission, reviewer).slug == "exemplar-ex4-3200gb-2"


def test_a_product_needs_a_name(submission, reviewer):
    submission.model = ""
    with pytest.raises(ReviewRefusedError, match="Not stated: model"):
        create_product(submission, reviewer)


def test_a_change_of_the_product_records_the_previous_one(submission, reviewer):
    create_product(submission, reviewer)
    other = Product.objects.create(slug="other", category="nvme-flash", vendor="Other", model="O1")
    name_product(submission, other, reviewer)
    assert submission.runs.get().product == other
    details = Event.objects.filter(kind="identity-named").order_by("-pk")[0].details
    assert details == {"before": "exemplar-ex4-3200gb", "after": "other"}


@pytest.mark.parametrize("is_virtual", [False, True])
def test_a_run_on_a_virtual_device_is_never_published(evidence_dir, stand_in, sender, reviewer, is_virtual):
    facts = replace(FACTS, is_virtual=is_virtual)
    submission = send(sender.memberships.get().organisation, log_bytes("four-us"), sender, facts)
    sweep()
    create_product(submission, reviewer)
    run = submission.runs.get()
    assert run.is_virtual is is_virtual
    with pytest.raises(ReviewRefusedError, match="virtual device") if is_virtual else nullcontext():
        publish(submission, reviewer)
    assert Run.objects.public().exists() is not is_virtual


@pytest.mark.parametrize("visibility", ["public", "withdrawn"])
def test_a_virtual_run_is_in_no_public_table_whatever_its_visibility(submission, reviewer, visibility):
    create_product(submission, reviewer)
    submission.runs.update(visibility=visibility, predates_approvals=True)
    assert Run.objects.public().exists()
    submission.runs.update(is_virtual=True)
    assert not Run.objects.public().exists()
    assert not Product.objects.public().exists()


def test_a_reviewer_can_name_a_drive_that_the_sender_did_not(submission, reviewer):
    Submission.objects.filter(pk=submission.pk).update(category="", vendor="", model="", capacity_gb=None)
    submission.refresh_from_db()
    stated = Identity(category="nvme-flash", vendor="Exemplar", model="EX5", part_number="", capacity_gb=960)
    product = create_product(submission, reviewer, stated)
    assert (product.slug, submission.runs.get().product) == ("exemplar-ex5-960gb", product)


def test_a_void_run_is_not_published(submission, reviewer):
    create_product(submission, reviewer)
    Verdict.objects.filter(run__submission=submission).update(outcome="void", headline="void: cut")
    with pytest.raises(ReviewRefusedError, match="void: cut"):
        publish(submission, reviewer)
    assert not Run.objects.public().exists()
