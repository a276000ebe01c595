"""The pages of a submission before it is one: upload, preview, submit, and the ways back."""

from collections.abc import Iterable

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.errors import ReviewRefusedError
from results.evidence.staging import StagedBytesLostError
from results.evidence.store import StoreFullError, StoreUnavailableError
from results.ingest.several_drives import SeveralDrivesError
from results.intake.archive_logs import submit_logs
from results.intake.drafts import (
    DraftState,
    DraftUnreadError,
    change_draft_slices,
    delete_draft,
    state_of,
    submit_draft,
)
from results.intake.submissions import Receipt
from results.intake.uploads import DraftGoneError, UploadRefusedError, complete, create_draft, open_drafts, store_files
from results.lifecycle.embargo import MomentError
from results.models import Draft, DraftReading, Organisation, Submission
from webapp.accounts.permissions import Action, organisations_of
from webapp.accounts.requests import UserRequest, members_only
from webapp.register.http.store_unavailable import NO_SPACE, may_repeat
from webapp.submissions.changes import refusals_shown
from webapp.submissions.drafts.forms import FactsForm, UploadForm
from webapp.submissions.drafts.log_forms import LogForms
from webapp.submissions.drafts.page import draft_page
from webapp.submissions.drafts.preview import preview_of
from webapp.submissions.drafts.receipts import ReceiptNote, notes_of
from webapp.submissions.drafts.senders import find_draft
from webapp.submissions.forms import SlicesForm, valid_data
from webapp.submissions.uploads import is_too_large, size_complaint

NO_DRAFT = "No draft is named {}. It was deleted, or has expired after 7 days."
EACH = "each"  # the value of `drives` that asks for the drive of each log of an archive
UNREAD = "The register has not read the log yet. Wait for the result, then submit it."


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def submit(request: UserRequest) -> HttpResponse:
    organisations = list(organisations_of(request.user, Action.SUBMIT))
    if not organisations:
        page = {"section": "submit", "is_viewer": request.user.memberships.exists()}
        status = 403 if request.method == "POST" else 200  # a new user reads the next step, and was refused nothing
        return render(request, "submissions/submit/no_organisation.html", page, status=status)
    if request.method != "POST":
        return _show_upload(request, UploadForm(organisations), organisations, 200)
    form = UploadForm(organisations, request.POST, request.FILES)
    if is_too_large(request.META):
        form.errors["log"] = form.error_class([size_complaint()])  # instead of the one about a missing file
        return _show_upload(request, form, organisations, 413)
    if not form.is_valid():
        return _show_upload(request, form, organisations, 400)
    return _receive(request, form, organisations)


def _show_upload(
    request: HttpRequest, form: UploadForm, organisations: Iterable[Organisation], status: int
) -> HttpResponse:
    drafts = open_drafts().filter(organisation__in=organisations).prefetch_related("files").select_related("created_by")
    page = {"form": form, "section": "submit", "drafts": drafts, "reviews_needed": settings.REVIEWS_NEEDED}
    return render(request, "submissions/submit/submit.html", page, status=status)


def _receive(request: UserRequest, form: UploadForm, organisations: list[Organisation]) -> HttpResponse:
    """Store the files of the form as a draft, and show it. A refused form leaves no draft."""
    draft = create_draft(form.chosen_organisation, request.user, form.cleaned_data["slice_length_s"])
    try:
        store_files(draft, form.arrived_files())
    except UploadRefusedError as error:
        delete_draft(draft)
        form.add_error("log", str(error))
        return _show_upload(request, form, organisations, 507)
    except StoreFullError:
        delete_draft(draft)
        form.add_error("log", NO_SPACE)
        return may_repeat(_show_upload(request, form, organisations, 507))
    except StoreUnavailableError:
        delete_draft(draft)
        raise
    return redirect("draft", draft.public_id)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def draft(request: UserRequest, public_id: str) -> HttpResponse:
    """Show what the register read, or submit it."""
    found = _find(request, public_id)
    if found.submission is not None:
        return redirect("submission-detail", found.submission.public_id)
    if request.method == "POST":
        return _submit(request, found)
    try:
        complete(found)  # if the process that received the last byte ended before it queued the reading
    except DraftGoneError:  # submitted or deleted a moment ago
        return redirect("draft", public_id)
    except StagedBytesLostError:
        messages.error(request, "The register has lost a file of this draft. Delete the draft, and send it again.")
    return _show_draft(request, found, None, 200)


def _show_draft(request: HttpRequest, found: Draft, form: FactsForm | LogForms | None, status: int) -> HttpResponse:
    page = draft_page(found, form, request.GET.get("like", ""), is_each=request.GET.get("drives") == EACH)
    return render(request, "submissions/drafts/draft.html", page, status=status)


def _submit(request: UserRequest, found: Draft) -> HttpResponse:
    if request.POST.get("drives") == EACH:
        return _submit_each(request, found)
    form = FactsForm(request.POST)
    if not form.is_valid():
        return _show_draft(request, found, form, 400)
    try:
        receipt = submit_draft(found, form.facts(), request.user, Submission.Origin.FORM)
    except DraftGoneError as error:
        raise Http404(NO_DRAFT.format(found.public_id)) from error
    except DraftUnreadError:
        messages.error(request, UNREAD)
        return redirect("draft", found.public_id)
    except StoreFullError:
        form.add_error(None, NO_SPACE)
        return may_repeat(_show_draft(request, found, form, 507))
    except ReviewRefusedError as refusal:
        form.add_error("model" if isinstance(refusal, SeveralDrivesError) else "embargo_until", str(refusal))
        return _show_draft(request, found, form, 400 if isinstance(refusal, MomentError) else 409)
    _report(request, receipt)
    return redirect("submission-detail", receipt.submission.public_id)


def _submit_each(request: UserRequest, found: Draft) -> HttpResponse:
    """Submit each log of an archive with its own drive."""
    forms = LogForms(preview_of(found).log_facts(), request.POST)
    if not forms.is_valid():
        return _show_draft(request, found, forms, 400)
    try:
        receipts = submit_logs(found, forms.facts(), request.user, Submission.Origin.FORM)
    except DraftGoneError as error:
        raise Http404(NO_DRAFT.format(found.public_id)) from error
    except DraftUnreadError:
        messages.error(request, UNREAD)
        return redirect("draft", found.public_id)
    except StoreFullError:
        forms.shared.add_error(None, NO_SPACE)
        return may_repeat(_show_draft(request, found, forms, 507))
    except ReviewRefusedError as refusal:
        forms.shared.add_error("embargo_until" if isinstance(refusal, MomentError) else None, str(refusal))
        return _show_draft(request, found, forms, 400 if isinstance(refusal, MomentError) else 409)
    for receipt in receipts:
        _report(request, receipt)
    return redirect("submission-list")


def _report(request: HttpRequest, receipt: Receipt) -> None:
    if receipt.is_new:
        messages.success(request, f"Submitted as {receipt.submission.public_id}. Mail about each step follows.")
    for note, sentence in notes_of(receipt):
        (messages.warning if note == ReceiptNote.FILES_LEFT_OUT else messages.info)(request, sentence)


@require_safe
@members_only
def reading_state(request: UserRequest, public_id: str) -> HttpResponse:
    """Report whether the result is there: the script of the page asks often, and loads the page once."""
    found = _find(request, public_id)
    state = state_of(found, list(found.files.all()), DraftReading.objects.filter(draft=found).first())
    return JsonResponse({"is_finished": state in {DraftState.READ, DraftState.FAILED}})


@require_POST
@members_only
def change_slices(request: UserRequest, public_id: str) -> HttpResponse:
    """Read the draft in slices of another length."""
    found = _find(request, public_id)
    with refusals_shown(request):
        change_draft_slices(found, valid_data(SlicesForm(request.POST))["slice_length_s"])
    return redirect("draft", public_id)


@require_POST
@members_only
def delete(request: UserRequest, public_id: str) -> HttpResponse:
    """Delete the draft and its files."""
    found = _find(request, public_id)
    if found.submission is not None:
        return redirect("submission-detail", found.submission.public_id)
    delete_draft(found)
    messages.success(request, "The draft and its files were deleted.")
    return redirect("submit")


def _find(request: UserRequest, public_id: str) -> Draft:
    """Return a draft of the person's organisations that has not expired. Raises Http404."""
    found = find_draft(organisations_of(request.user, Action.SUBMIT), public_id)
    if found is None or (found.submission is None and found.expires_at <= timezone.now()):
        raise Http404(NO_DRAFT.format(public_id))
    return found
