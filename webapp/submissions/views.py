"""The list of one's own submissions, and a submission's page."""

from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from results.access.links import has_link, is_opened_by
from results.access.withholding import visible_events, visible_reading_error, visible_reading_findings
from results.ingest.rows import identity_of
from results.ingest.same_logs import known_logs_of
from results.lifecycle.questions import open_question
from results.lifecycle.review_claims import claim_of
from results.lifecycle.submission_states import REVIEWABLE, UNFINISHED, StatedSubmission, SubmissionState, with_state
from results.models import YCSB, Event, Objection, Product, Run, Submission, Visibility
from webapp.accounts.models import User
from webapp.accounts.permissions import NO_ORGANISATION, Action, may, organisations_of
from webapp.accounts.requests import UserRequest, mark_private, members_only
from webapp.register.http.access import LINK_KEY, is_public
from webapp.register.objections.page import line_of
from webapp.submissions.approvals import approvals_part
from webapp.submissions.changes import embargo_form, embargo_sentence, find_submission, slices_form
from webapp.submissions.comparison import comparison_part
from webapp.submissions.forms import AnswerForm, IdentityForm, ProductForm, QuestionForm, ReasonForm
from webapp.submissions.hidden_files import file_parts
from webapp.submissions.listing import PAGE_ROWS, OwnListForm, listed_rows, page_of_keys
from webapp.submissions.objections.replies import replies_part
from webapp.submissions.own_withdrawal import withdrawal_parts
from webapp.submissions.page import (
    attempts_sentences,
    entries_of,
    members_of,
    product_sentence,
    run_parts,
    shared_findings,
    steps_of,
    sweep_rows,
)
from webapp.submissions.review_warnings import review_warnings, size_sentences, with_virtual_device_flag
from webapp.submissions.run_facts import facts_form
from webapp.submissions.waiting import next_in_queue, waiting_part


@require_safe
@members_only
def submission_list(request: UserRequest) -> HttpResponse:
    own = Submission.objects.filter(organisation__in=organisations_of(request.user, Action.READ))
    form, order = OwnListForm(request.GET), ("-received_at", "-pk")
    page = page_of_keys(form.filtered(own).order_by(*order), request.GET.get("page"))
    shown = with_virtual_device_flag(with_state(Submission.objects.filter(pk__in=page.object_list)))
    rows = listed_rows(shown.select_related("organisation", "log").order_by(*order))
    objections = Objection.objects.filter(filed_by=request.user).select_related("run").order_by("-filed_at", "-pk")
    context = {"page": page, "rows": rows, "form": form, "section": "submit"}
    context |= {"objections": [line_of(each) for each in objections[:PAGE_ROWS]]}
    return render(request, "submissions/list.html", context | {"has_any": bool(page.object_list) or own.exists()})


@require_safe
@never_cache
def submission_detail(request: HttpRequest, public_id: str) -> HttpResponse:
    # Responses to who may not read it must take as long as for one that does not exist: the rest is loaded later.
    row = Submission.objects.filter(public_id=public_id).first()
    is_reader = may(request.user, Action.READ, row.organisation_id if row else NO_ORGANISATION)
    if (
        row
        and (is_reader or is_opened_by(row, request.GET.get(LINK_KEY, "")))
        and (found := find_submission(public_id))
    ):
        return mark_private(render(request, "submissions/detail.html", submission_page(request, found)))
    if request.user.is_authenticated:
        raise Http404(f"No submission is named {public_id}.")
    return redirect_to_login(request.get_full_path())  # the same whether it exists or not


def submission_page(request: HttpRequest, submission: StatedSubmission) -> dict[str, object]:
    """Return everything that the submission's page shows."""
    reading = submission.log.readings.order_by("-created_at", "-pk").first()
    runs = run_parts(submission)
    all_runs: list[Run] = [part["run"] for part in runs]
    about_runs = Q(subject_type="run", subject_id__in=[run.public_id for run in all_runs])
    about = about_runs | Q(subject_type="submission", subject_id=submission.public_id)
    events = visible_events(Event.objects.filter(about).select_related("actor").order_by("at", "id"))
    may_read = may(request.user, Action.READ, submission.organisation_id)
    may_change = may_read and may(request.user, Action.CHANGE, submission.organisation_id)
    may_answer = may_read and may(request.user, Action.SUBMIT, submission.organisation_id)
    reviewer = request.user if isinstance(request.user, User) and may(request.user, Action.REVIEW) else None
    if may_read and may(request.user, Action.SUBMIT, submission.organisation_id):
        runs = [part | {"facts_form": facts_form(part["run"])} for part in runs]
    is_publishable = not submission.is_virtual and not (all_runs and all(run.is_virtual for run in all_runs))
    return {
        "section": "submit",
        "submission": submission,
        "reading": reading,
        "reading_error": visible_reading_error(submission, reading) if reading else None,
        "reading_findings": visible_reading_findings(submission, reading) if reading else [],
        "attempts": attempts_sentences(reading),
        "is_unfinished": submission.state in UNFINISHED,
        "files": file_parts(submission, request.user),
        "runs": runs,
        "sweep": sweep_rows(all_runs),
        "shared_findings": shared_findings(all_runs)[0],
        "warnings": review_warnings(submission, all_runs),
        "size_sentences": size_sentences(submission, all_runs),
        "is_virtual": submission.is_virtual or any(run.is_virtual for run in all_runs),
        "sequestered_runs": list(submission.runs.filter(visibility=Visibility.SEQUESTERED).order_by("pk")),
        "public_runs": [run for run in all_runs if is_public(run)],
        "members": members_of(None if submission.log.hidden else reading),
        "known_logs": known_logs_of(submission) if may_read else {},
        "steps": steps_of(submission, reading, events, is_publishable=is_publishable),
        "may_share_link": may_change,
        "has_link": has_link(submission),
        # Pages that a link opens lead to pages that the same link opens. A session opens them without a key.
        "link_query": "" if may_read else "?" + urlencode({LINK_KEY: request.GET.get(LINK_KEY, "")}),
        "history": entries_of(events) if may_read else [],
        "has_slices": any(run.workload != YCSB for run in all_runs) or not runs,
        "product_sentence": product_sentence(submission),
        "has_product_page": submission.product is not None
        and Product.objects.public().filter(pk=submission.product.pk).exists(),
        "embargo_form": embargo_form(submission, is_own=may_answer)
        if may_change and (is_publishable or submission.embargo_until)
        else None,
        "embargo_sentence": embargo_sentence(submission),
        "slices_form": slices_form(submission, reading) if may_change else None,
        "certificate_requests": list(submission.certificate_requests.order_by("pk")) if may_read else [],
        **withdrawal_parts(submission, request.user),
        "is_reviewer": reviewer is not None,
        "is_reviewable": submission.state in REVIEWABLE or _is_declined(submission),
        "is_declined": _is_declined(submission),
        "is_own": submission.submitted_by_id == request.user.pk,
        "approvals": approvals_part(submission, all_runs, reviewer) if reviewer else None,
        "is_under_embargo": submission.embargo_until is not None and submission.embargo_until > timezone.now(),
        "has_open_question": open_question(submission) is not None,
        "waiting": waiting_part(submission),
        "questions": list(submission.questions.select_related("asked_by", "answered_by")) if may_read else [],
        "may_answer": may_answer,
        "replies": replies_part(submission, is_sender=may_answer),
        "question_form": QuestionForm(),
        "answer_form": AnswerForm(),
        "next_submission": next_in_queue(submission, reviewer) if reviewer else None,
        "claim": claim_of(submission) if reviewer else None,
        **(comparison_part(all_runs) if reviewer else {}),
        "product_form": ProductForm(submission, initial={"product": submission.product_id}),
        "identity_form": IdentityForm(initial=dict(identity_of(submission))),
        "reason_form": ReasonForm(),
    }


def _is_declined(submission: StatedSubmission) -> bool:
    """Return whether a reviewer declined the submission or some of its runs."""
    past_review = {SubmissionState.EMBARGOED, SubmissionState.PUBLISHED, SubmissionState.WITHDRAWN}
    has_other_runs = submission.state in past_review and submission.has_unreviewed
    return submission.state == SubmissionState.DECLINED or has_other_runs
