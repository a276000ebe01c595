"""Files as they were received, which browsers must never render: sent by the site, or by a host of their own.

With EVIDENCE_ORIGIN, the page that grants access redirects to that host with a signed link. The link names one file of
one run, or one attachment of an objection, and is valid for LINK_AGE_S. The host serves nothing else, so that a file
that a browser did render would be on an origin without sessions.
"""

from collections.abc import Callable

from django.conf import settings
from django.core import signing
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from results.access.withholding import Cause, cause_of_file, is_file_withheld, is_sequestered
from results.evidence.store import StoreUnavailableError, open_evidence
from results.lifecycle.hidden_files import current_hidings
from results.models import Evidence, HiddenFile, ObjectionFile, Run
from webapp.register.http import store_unavailable
from webapp.register.http.evidence_host import is_evidence_host
from webapp.register.http.responses import NO_STORE, UNAVAILABLE_FOR_LEGAL_REASONS, response_with_etag

LINK_AGE_S = 60
LINK_PATH = "/file/"
SALT = "evidence-file"
# In a link, instead of the key of a run.
OF_OBJECTION = "objection"
OF_HIDDEN = "hidden"  # for operators
HEADERS = {"Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff"}
NO_FILE = "There is no file at this address. Links to files are valid for one minute: open the file from its page.\n"
WITHHELD = "This file cannot be shown for legal reasons. Its bytes remain stored.\n"


def send_evidence(request: HttpRequest, run: Run, evidence: Evidence) -> HttpResponseBase:
    """Return a file of a run that the client may read, or a redirect to the host of such files."""
    return _send(request, evidence, [run.pk, evidence.pk])


def send_attachment(request: HttpRequest, file: ObjectionFile) -> HttpResponseBase:
    """Return an attachment of an objection that the client may read, in the same way."""
    return _send(request, file, [OF_OBJECTION, file.pk])


def _send(request: HttpRequest, file: Evidence | ObjectionFile, named: list[object]) -> HttpResponseBase:
    if settings.EVIDENCE_ORIGIN:
        return _redirect_to_host(named)
    return _as_evidence(response_with_etag(request, file.sha256, lambda: _file_response(file)))


def send_hidden_file(hidden: HiddenFile) -> HttpResponseBase:
    """Return a hidden file for an operator, or a redirect to the host of such files."""
    if settings.EVIDENCE_ORIGIN:
        return _redirect_to_host([OF_HIDDEN, hidden.pk])
    return _as_evidence(_hidden_file(hidden))


def _redirect_to_host(named: list[object]) -> HttpResponseRedirect:
    address = f"{settings.EVIDENCE_ORIGIN}{LINK_PATH}{signing.dumps(named, salt=SALT)}"
    return HttpResponseRedirect(address, headers={"Cache-Control": NO_STORE})


class EvidenceHostMiddleware:
    """Serves the host of EVIDENCE_ORIGIN, and takes cookies out of the responses that are files."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_evidence_host(request.META.get("HTTP_HOST", "")):
            return _as_evidence(_linked_file_or_refusal(request))
        response = self.get_response(request)
        if getattr(response, "is_evidence", False):
            response.cookies.clear()
        return response


def _linked_file_or_refusal(request: HttpRequest) -> HttpResponseBase:
    """Return the file of a link, or 503: no middleware handles the errors of this one."""
    try:
        return _linked_file(request)
    except StoreUnavailableError:
        return HttpResponse(
            f"{store_unavailable.SENTENCE}\n", "text/plain; charset=utf-8", 503, headers=store_unavailable.HEADERS
        )


def _linked_file(request: HttpRequest) -> HttpResponseBase:
    """Return the file that the link in the address names; 404 for any other address."""
    if request.method not in {"GET", "HEAD"} or not request.path.startswith(LINK_PATH):
        return _sentence(NO_FILE, 404)
    link = request.path.removeprefix(LINK_PATH)
    try:
        owner, file_id = signing.loads(link, salt=SALT, max_age=LINK_AGE_S)
    except signing.BadSignature:
        return _sentence(NO_FILE, 404)
    of_owner = {OF_OBJECTION: _linked_attachment, OF_HIDDEN: _linked_hidden_file}.get(owner)
    return of_owner(file_id) if of_owner else _linked_evidence(owner, file_id)


def _linked_attachment(file_id: int) -> HttpResponseBase:
    file = ObjectionFile.objects.select_related("objection__run").get(pk=file_id)
    if is_sequestered(file.objection.run):  # since the link was made
        return _sentence(WITHHELD, UNAVAILABLE_FOR_LEGAL_REASONS)
    return _file_response(file)


def _linked_evidence(run_id: int, evidence_id: int) -> HttpResponseBase:
    run = Run.objects.filter(pk=run_id).with_withheld_flag().select_related("submission", "reading__evidence").get()
    evidence = Evidence.objects.get(pk=evidence_id)
    # Since the link was made, a takedown may have begun, or the file may have been hidden.
    if is_sequestered(run) or (is_file_withheld(run, evidence) and cause_of_file(run, evidence) == Cause.LEGAL):
        return _sentence(WITHHELD, UNAVAILABLE_FOR_LEGAL_REASONS)
    return _sentence(NO_FILE, 404) if is_file_withheld(run, evidence) else _file_response(evidence)


def _linked_hidden_file(hidden_id: int) -> HttpResponseBase:
    """Return the hidden file that an operator's link names; 404 once it is no longer hidden."""
    hidden = current_hidings().filter(pk=hidden_id).first()
    return _hidden_file(hidden) if hidden is not None else _sentence(NO_FILE, 404)


def _hidden_file(hidden: HiddenFile) -> HttpResponseBase:
    """Return a hidden file. A sequestered one is sent to no client, operators included."""
    if hidden.evidence.sequestered:
        return _sentence(WITHHELD, UNAVAILABLE_FOR_LEGAL_REASONS)
    return _file_response(hidden.evidence)


def _file_response(file: Evidence | ObjectionFile) -> FileResponse:
    opened, content_type = open_evidence(file), "application/octet-stream"
    return FileResponse(opened, as_attachment=True, filename=file.filename, content_type=content_type)


def _sentence(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, "text/plain; charset=utf-8", status=status)


def _as_evidence(response: HttpResponseBase) -> HttpResponseBase:
    """Give a response the headers of files, and mark it for the middleware."""
    for name, value in HEADERS.items():
        response.headers[name] = value
    if settings.EVIDENCE_ORIGIN:
        response.headers["Cache-Control"] = NO_STORE
    response.is_evidence = True  # type: ignore[attr-defined]
    return response
