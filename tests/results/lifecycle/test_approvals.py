import threading
from datetime import timedelta

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.lifecycle import review, visibility
from results.lifecycle.approvals import counted_approvals, progress_of, retract_approval
from results.lifecycle.corrections import correct
from results.lifecycle.embargo import disclose_due
from results.models import Approval, ApprovedStep, Event, Maker, Reading, Run, Submission
from tests.results.builders import make_organisation, make_user
from tests.results.rows import from_a_log, judge, make_product, make_run
from webapp.accounts.models import FormerMembership, Membership

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_needed(settings):
    settings.REVIEWS_NEEDED = 2


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def rolf(db):
    return make_user("rolf", is_reviewer=True)


@pytest.fixture
def run(db):
    """Return a judged run that waits for review."""
    fields = {"visibility": "unreviewed", "tier": "vendor-reported", "predates_approvals": False}
    run = make_run(make_product(), **fields, **from_a_log())
    judge(run, "pass")
    return run


def state_of(run):
    return Run.objects.get(pk=run.pk).visibility


def check_now():
    """Let the database check now what it otherwise checks at the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


def write(table, **columns):
    """Write columns of all rows past the code that decides, and let the database check them."""
    with transaction.atomic():
        table.objects.update(**columns)
        check_now()


def test_one_reviewer_is_enough_where_one_is_needed(run, rita, settings):
    settings.REVIEWS_NEEDED = 1
    assert visibility.publish(run, rita) is True
    check_now()
    (approval,) = counted_approvals(Run.objects.get(pk=run.pk))
    assert (approval.reviewer, approval.reviews_needed, approval.verdict) == (rita, 1, run.verdicts.get())
    assert not Event.objects.filter(kind="run-approved").exists()


def test_a_run_is_public_with_the_second_of_two_approvals(run, rita, rolf, two_needed):
    assert visibility.publish(run, rita) is False
    assert state_of(run) == "unreviewed"
    event = Event.objects.get(kind="run-approved")
    assert (event.actor, event.details["given"], event.details["needed"]) == (rita, 1, 2)
    assert visibility.publish(run, rolf) is True
    check_now()
    assert [approval.reviewer for approval in counted_approvals(Run.objects.get(pk=run.pk))] == [rita, rolf]


def test_one_reviewer_does_not_count_twice(run, rita, two_needed):
    visibility.publish(run, rita)
    with pytest.raises(ReviewRefusedError, match="You have approved this step"):
        visibility.publish(run, rita)
    assert state_of(run) == "unreviewed"


@pytest.mark.parametrize("step", ["withdraw-reinstate", "supersede-unsupersede"])
def test_every_other_step_to_a_public_result_needs_two_as_well(run, rita, rolf, two_needed, step):
    successor = make_run(run.product)
    visibility.publish(run, rita)
    visibility.publish(run, rolf)
    if step == "withdraw-reinstate":
        visibility.withdraw(run, rita, "wrong drive")
        back = visibility.reinstate
    else:
        assert visibility.supersede(run, successor, rita, "longer") is False
        assert state_of(run) == "public"
        assert visibility.supersede(run, successor, rolf, "longer") is True
        back = visibility.unsupersede
    assert back(run, rita, "it was right") is False
    assert state_of(run) != "public"
    assert back(run, rolf, "it was right") is True
    assert state_of(run) == "public"
    check_now()


def test_approvals_of_two_successors_do_not_add_up(run, rita, rolf, two_needed):
    visibility.publish(run, rita)
    visibility.publish(run, rolf)
    assert visibility.supersede(run, make_run(run.product), rita, "longer") is False
    assert visibility.supersede(run, make_run(run.product), rolf, "longer") is False
    assert state_of(run) == "public"


def test_an_approval_under_embargo_counts_after_its_end(run, rita, rolf, two_needed):
    Submission.objects.filter(pk=run.submission_id).update(embargo_until=timezone.now() + timedelta(days=1))
    visibility.publish(run, rita)
    Submission.objects.filter(pk=run.submission_id).update(embargo_until=None)
    assert visibility.publish(run, rolf) is True
    assert state_of(run) == "public"
    check_now()


def test_the_end_of_an_embargo_needs_no_further_approval(run, rita, rolf, two_needed):
    Submission.objects.filter(pk=run.submission_id).update(embargo_until=timezone.now() + timedelta(days=1))
    visibility.publish(run, rita)
    visibility.publish(run, rolf)
    assert state_of(run) == "embargoed"
    Submission.objects.filter(pk=run.submission_id).update(embargo_until=timezone.now() - timedelta(minutes=1))
    assert disclose_due() == 1
    check_now()
    assert state_of(run) == "public"


def change_verdict(run, rita):
    judge(run, "fail")


def change_reading(run, rita):
    other = Reading.objects.create(evidence=run.submission.log, reader_version="0.2.0", state="done")
    Run.objects.filter(pk=run.pk).update(reading=other)


def change_fact(run, rita):
    correct(run, {"firmware": "FW9"}, rita, "as its label says")


def change_product(run, rita):
    review.name_product(run.submission, make_product(model="EX5"), rita)


CHANGES = {
    change_verdict: "re-evaluated",
    change_reading: "re-evaluated",
    change_fact: "corrected",
    change_product: "another-product",
}


@pytest.mark.parametrize(("change", "reason"), CHANGES.items())
def test_a_change_makes_open_approvals_void(change, reason, run, rita, rolf, two_needed):
    Submission.objects.filter(pk=run.submission_id).update(product=run.product)
    visibility.publish(run, rita)
    change(run, rita)
    assert Approval.objects.get().void_reason == reason
    assert visibility.publish(run, rolf) is False
    assert visibility.publish(run, rita) is True


@pytest.mark.parametrize("change", [change_verdict, change_reading])
def test_a_run_whose_reading_or_verdict_changed_under_embargo_returns_to_review(change, run, rita, rolf, two_needed):
    Submission.objects.filter(pk=run.submission_id).update(embargo_until=timezone.now() + timedelta(days=1))
    visibility.publish(run, rita)
    visibility.publish(run, rolf)
    change(run, rita)
    Submission.objects.filter(pk=run.submission_id).update(embargo_until=timezone.now() - timedelta(minutes=1))
    assert disclose_due() == 0
    assert state_of(run) == "unreviewed"


def test_approvals_of_a_public_run_stay_valid_when_it_is_re_evaluated(run, rita, settings):
    settings.REVIEWS_NEEDED = 1
    visibility.publish(run, rita)
    judge(run, "fail")
    check_now()
    assert Approval.objects.get().voided_at is None


def test_a_retracted_approval_does_not_count(run, rita, rolf, two_needed):
    visibility.publish(run, rita)
    retract_approval(run, rita)
    assert visibility.publish(run, rolf) is False
    with pytest.raises(ReviewRefusedError, match="no open approval"):
        retract_approval(run, rita)


def test_a_declined_submission_loses_its_approvals(run, rita, rolf, two_needed):
    visibility.publish(run, rita)
    review.decline(run.submission, rolf, "another drive")
    assert Approval.objects.get().void_reason == "declined"


def test_a_member_of_the_submitting_organisation_approves_nothing(run, rita):
    Membership.objects.create(user=rita, organisation=run.submission.organisation, role="viewer")
    with pytest.raises(ReviewRefusedError, match="You belong to"):
        visibility.publish(run, rita)
    assert not Approval.objects.exists()


def test_a_member_at_the_time_of_the_submission_approves_nothing_after_leaving(run, rita):
    membership = Membership.objects.create(user=rita, organisation=run.submission.organisation, role="viewer")
    before = timezone.now() - timedelta(days=9)
    Membership.objects.filter(pk=membership.pk).update(joined_at=before)
    membership.delete()
    former = FormerMembership.objects.get()
    assert (former.user_id, former.organisation, former.joined_at) == (rita.pk, run.submission.organisation, before)
    with pytest.raises(ReviewRefusedError, match="or did when the log"):
        visibility.publish(run, rita)
    FormerMembership.objects.update(left_at=run.submission.received_at - timedelta(seconds=1))
    assert visibility.publish(run, rita) is True


@pytest.mark.parametrize("spelling", ["Exemplar", "EXEMPLAR"])
def test_a_member_of_the_maker_approves_nothing(run, rita, spelling):
    maker = make_organisation("subsidiary")
    Membership.objects.create(user=rita, organisation=maker, role="owner")
    Maker.objects.create(spelling=spelling, organisation=maker)
    with pytest.raises(ReviewRefusedError, match="You belong to Subsidiary"):
        visibility.publish(run, rita)
    Maker.objects.update(spelling="Another")
    assert visibility.publish(run, rita) is True


def test_a_member_of_an_organisation_with_the_name_of_the_vendor_approves_nothing(run, rita):
    Membership.objects.create(user=rita, organisation=make_organisation("exemplar"), role="owner")
    with pytest.raises(ReviewRefusedError, match="You belong to Exemplar"):
        visibility.publish(run, rita)


def test_the_database_refuses_a_public_run_without_approvals(run):
    with pytest.raises(IntegrityError, match="found too few"):
        write(Run, visibility="public")


def test_the_database_refuses_a_public_run_with_one_of_two_approvals(run, rita, two_needed):
    visibility.publish(run, rita)
    Approval.objects.update(carried_out_at=TransactionNow())
    with pytest.raises(IntegrityError, match="found too few"):
        write(Run, visibility="public")


def test_the_database_refuses_an_embargo_without_approvals(run):
    with pytest.raises(IntegrityError, match="found too few"):
        write(Run, visibility="embargoed")


@pytest.mark.parametrize(
    "fields",
    [{"tier": "published"}, {"predates_approvals": True}, {"submission": None, "reading": None}],
    ids=["published", "public before this release", "mirrored"],
)
def test_exempt_runs_are_public_without_approvals(run, fields):
    Run.objects.filter(pk=run.pk).update(**fields)
    Run.objects.filter(pk=run.pk).update(visibility="public")
    check_now()
    assert state_of(run) == "public"


def test_a_run_that_was_public_before_is_not_exempt_from_new_steps(run):
    Run.objects.filter(pk=run.pk).update(predates_approvals=True)
    Run.objects.filter(pk=run.pk).update(visibility="withdrawn")
    with pytest.raises(IntegrityError, match="found too few"):
        write(Run, visibility="public")


def approval_of(run, user, **fields):
    stated = {"step": "publish", "reading_id": run.reading_id, "verdict": run.verdicts.first(), "reviews_needed": 1}
    barred = [run.submission.organisation_id]
    return Approval.objects.create(run=run, reviewer=user, **{**stated, "barred_organisations": barred, **fields})


def test_the_database_refuses_an_approval_that_does_not_fit(run, rita):
    organisation = run.submission.organisation_id
    Maker.objects.create(spelling=run.product.vendor, organisation=make_organisation("maker"))
    barred = [organisation, Maker.objects.get().organisation_id]
    for fields, what in (
        ({"verdict": None}, "expected its current reading"),
        ({"reading_id": None}, "expected its current reading"),
        ({"barred_organisations": [organisation]}, "among its barred organisations"),
        ({"organisations": [organisation]}, "approver_is_independent"),
        ({"organisations_at_submission": [organisation]}, "approver_is_independent"),
        ({"reviews_needed": 3}, "one_or_two_reviews_needed"),
    ):
        with pytest.raises(IntegrityError, match=what), transaction.atomic():
            approval_of(run, rita, **({"barred_organisations": barred} | fields))
    approval_of(run, rita, barred_organisations=barred)


def test_the_database_refuses_an_approval_by_the_sender(run, rita):
    Submission.objects.filter(pk=run.submission_id).update(submitted_by=rita)
    with pytest.raises(IntegrityError, match="its reviewer submitted it"), transaction.atomic():
        approval_of(run, rita)


def test_the_database_refuses_to_change_an_approval_or_to_carry_out_a_void_one(run, rita, rolf, two_needed):
    visibility.publish(run, rita)
    for change in ({"reviewer": rolf}, {"reviews_needed": 1}, {"note": "other"}):
        with pytest.raises(IntegrityError, match="approval is carried out once"), transaction.atomic():
            Approval.objects.update(**change)
    with pytest.raises(IntegrityError, match="approval is carried out once"), transaction.atomic():
        Approval.objects.all().delete()
    retract_approval(run, rita)
    with pytest.raises(IntegrityError, match="approval is carried out once"), transaction.atomic():
        Approval.objects.update(carried_out_at=timezone.now())


def test_the_database_refuses_to_void_the_approvals_of_a_public_run(run, rita, settings):
    settings.REVIEWS_NEEDED = 1
    visibility.publish(run, rita)
    check_now()
    with pytest.raises(IntegrityError, match="cannot become void"):
        write(Approval, voided_at=timezone.now(), void_reason="retracted")


def test_the_larger_number_counts_if_the_setting_was_lowered_between_approvals(run, rita, rolf, settings):
    settings.REVIEWS_NEEDED = 2
    visibility.publish(run, rita)
    settings.REVIEWS_NEEDED = 1
    assert progress_of(run, ApprovedStep.PUBLISH).needed == 2
    assert visibility.publish(run, rolf) is True
    check_now()


@pytest.mark.django_db(transaction=True)
def test_of_two_reviewers_at_the_same_moment_both_count_and_the_run_is_published_once(run, rita, rolf, two_needed):
    barrier, results = threading.Barrier(2), []

    def approve(user):
        try:
            barrier.wait()
            results.append(visibility.publish(run, user))
        finally:
            connection.close()

    threads = [threading.Thread(target=approve, args=[user]) for user in (rita, rolf)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, True]
    assert state_of(run) == "public"
    assert Event.objects.filter(kind="run-published").count() == 1


@pytest.mark.django_db(transaction=True)
def test_earlier_approvals_do_not_count_for_a_second_reinstatement(run, rita, rolf, two_needed):
    visibility.publish(run, rita)
    visibility.publish(run, rolf)
    for _ in range(2):
        visibility.withdraw(run, rita, "wrong drive")
        assert visibility.reinstate(run, rita, "right") is False
        with pytest.raises(IntegrityError, match="found too few"):
            Run.objects.filter(pk=run.pk).update(visibility="public")
        assert visibility.reinstate(run, rolf, "right") is True
