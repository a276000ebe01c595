"""The pages of certificate requests: choose submissions, and see what the certificate still needs."""

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from results.errors import ReviewRefusedError
from results.intake.certificate_requests import request_certificate
from results.lifecycle.submission_states import StatedSubmission, SubmissionState, in_states, with_state
from results.models import CertificateRequest, Profile, Run, Submission, Verdict, Visibility
from webapp.accounts.permissions import Action, may, organisations_of
from webapp.accounts.requests import UserRequest, members_only
from webapp.register.http.query_params import ParameterError, number, read_parameters
from webapp.register.http.responses import parameter_error_page
from webapp.register.trial.certificate import needs_of
from webapp.submissions.review_warnings import with_virtual_device_flag

REQUESTABLE = (
    SubmissionState.AWAITING_IDENTITY,
    SubmissionState.IN_REVIEW,
    SubmissionState.EMBARGOED,
    SubmissionState.PUBLISHED,
)
SHOWN = 200
PARTS_MAX = 5  # of SHOWN submissions that one page reads
BEFORE = number("before", "Submissions before", ("1", str(2**63 - 1)), is_whole=True)


class RequestForm(forms.Form):
    """The submissions of a request, and a note for the reviewer."""

    submissions = forms.ModelMultipleChoiceField(
        Submission.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        to_field_name="public_id",
        error_messages={"required": "No submission was chosen."},
    )
    note = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), required=False, max_length=2000)

    def __init__(self, own: QuerySet[Submission], *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type] # a POST or nothing
        self.fields["submissions"].queryset = own  # type: ignore[attr-defined]


def _newest(own: QuerySet[Submission], before: int | None) -> tuple[list[StatedSubmission], int | None]:
    """Return the newest submissions that can be chosen, of those before a key, and the key before which more may be.

    Submissions are read in parts, because some cannot be chosen; the states of older ones are not computed. The second
    value is None at the end.
    """
    found: list[StatedSubmission] = []
    keys = own.order_by("-pk").values_list("pk", flat=True)
    end = before
    for _ in range(PARTS_MAX):
        part = list((keys if end is None else keys.filter(pk__lt=end))[:SHOWN])
        found += in_states(Submission.objects.filter(pk__in=part), REQUESTABLE).select_related("log").order_by("-pk")
        if len(found) > SHOWN:
            return found[:SHOWN], found[SHOWN - 1].pk
        if len(part) < SHOWN:
            return found, None
        end = part[-1]
    return found, end


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def request_list(request: UserRequest) -> HttpResponse:
    """Show the requests of the organisations and the form for a new one, or create it."""
    try:
        before = read_parameters(request.GET, [BEFORE])["before"]
    except ParameterError as error:
        return parameter_error_page(request, error)
    organisations = organisations_of(request.user, Action.SUBMIT)
    if request.method == "POST" and not organisations.exists():
        raise PermissionDenied("Only owners and submitters of an organisation request certificates.")
    own = Submission.objects.filter(organisation__in=organisations)
    form = RequestForm(in_states(own, REQUESTABLE), *([request.POST] if request.method == "POST" else []))
    if request.method == "POST" and form.is_valid():
        chosen = list(form.cleaned_data["submissions"].select_related("organisation"))
        try:
            created = request_certificate(chosen[0].organisation, chosen, request.user, form.cleaned_data["note"])
            return redirect("certificate-request", created.public_id)
        except ReviewRefusedError as refusal:
            form.add_error("submissions", str(refusal))
    readable = organisations_of(request.user, Action.READ)
    choices, older_before = _newest(own, before)
    page = {
        "form": form,
        "choices": choices,
        "before": before,
        "older_before": older_before,
        "chosen": request.POST.getlist("submissions"),
        "requests": CertificateRequest.objects.filter(organisation__in=readable).order_by("-pk")[:SHOWN],
        "section": "submit",
    }
    return render(request, "submissions/certificate_requests/list.html", page, status=400 if form.errors else 200)


@require_safe
@members_only
def request_detail(request: UserRequest, public_id: str) -> HttpResponse:
    """Show a request with its submissions, and what the certificate still needs."""
    found = CertificateRequest.objects.select_related("organisation").filter(public_id=public_id).first()
    if found is None or not may(request.user, Action.READ, found.organisation_id):
        raise Http404(f"No certificate request is named {public_id}.")
    submissions = with_virtual_device_flag(with_state(found.submissions.all())).select_related("log", "organisation")
    page = {
        "certificate_request": found,
        "submissions": submissions.order_by("pk"),
        "needs": needs_of(_judged_runs(found), Profile.current()),
        "section": "submit",
    }
    return render(request, "submissions/certificate_requests/detail.html", page)


def _judged_runs(found: CertificateRequest) -> list[tuple[str, Run, Verdict | None]]:
    """Return the runs that count for the certificate, with their newest verdicts."""
    gone = [Visibility.WITHDRAWN, Visibility.SUPERSEDED, Visibility.RETRACTED, Visibility.SEQUESTERED]
    runs = Run.objects.filter(submission__in=found.submissions.all()).exclude(visibility__in=gone).order_by("pk")
    return [(run.public_id, run, run.verdicts.first()) for run in runs.prefetch_related("verdicts")]
