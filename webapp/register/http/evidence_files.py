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

from results.access.withholding import is_file_withheld, is_sequestered
from results.evidence.store import open_evidence
from results.models import Evidence, ObjectionFile, Run
from webapp.register.http.evidence_host import is_evidence_host
from webapp.register.http.responses import NO_STORE, UNAVAILABLE_FOR_LEGAL_REASONS, response_with_etag

LINK_AGE_S = 60
LINK_PATH = "/file/"
SALT = "evidence-file"
OF_OBJECTION = "objection"  # in a link, instead of the key of a run
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
        address = f"{settings.EVIDENCE_ORIGIN}{LINK_PATH}{signing.dumps(named, salt=SALT)}"
        return HttpResponseRedirect(address, headers={"Cache-Control": NO_STORE})
    return _as_evidence(response_with_etag(request, file.sha256, lambda: _file_response(file)))


class EvidenceHostMiddleware:
    """Serves the host of EVIDENCE_ORIGIN, and takes cookies out of the responses that are files."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_evidence_host(request.META.get("HTTP_HOST", "")):
            return _as_evidence(_linked_file(request))
        response = self.get_response(request)
        if getattr(response, "is_evidence", False):
            response.cookies.clear()
        return response


def _linked_file(request: HttpRequest) -> HttpResponseBase:
    """Return the file that the link in the address names; 404 for any other address."""
    if request.method not in {"GET", "HEAD"} or not request.path.startswith(LINK_PATH):
        return _sentence(NO_FILE, 404)
    try:
        owner, file_id = signing.loads(request.path.removeprefix(LINK_PATH), salt=SALT, max_age=LINK_AGE_S)
    except signing.BadSignature:
        return _sentence(NO_FILE, 404)
    return _linked_attachment(file_id) if owner == OF_OBJECTION else _linked_evidence(owner, file_id)


def _linked_attachment(file_id: int) -> HttpResponseBase:
    file = ObjectionFile.objects.select_related("objection__run").get(pk=file_id)
    if is_sequestered(file.objection.run):  # since the link was made
        return _sentence(WITHHELD, UNAVAILABLE_FOR_LEGAL_REASONS)
    return _file_response(file)


def _linked_evidence(run_id: int, evidence_id: int) -> HttpResponseBase:
    run = Run.objects.filter(pk=run_id).with_withheld_flag().select_related("submission", "reading__evidence").get()
    evidence = Evidence.objects.get(pk=evidence_id)
    if is_sequestered(run) or is_file_withheld(run, evidence):  # since the link was made
        return _sentence(WITHHELD, UNAVAILABLE_FOR_LEGAL_REASONS)
    return _file_response(evidence)


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
