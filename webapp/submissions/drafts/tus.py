"""The upload protocol tus 1.0: core, and the extensions creation, termination and expiration.

A browser or a script announces a file, sends its bytes, and asks after a broken connection how many have arrived.
"""

import base64
import binascii
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import BoundedSemaphore

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.urls import reverse
from django.utils.http import http_date
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from results.evidence.staging import StagedBytesLostError
from results.evidence.store import StoreFullError, StoreUnavailableError
from results.intake.drafts import remove_file
from results.intake.uploads import (
    PIECE_BYTES,
    DraftGoneError,
    FileTooLargeError,
    OffsetError,
    QuotaReachedError,
    UploadRefusedError,
    add_file,
    append_piece,
    complete,
    create_draft,
    open_drafts,
)
from results.models import Draft, DraftFile
from results.models.evidence import SLICE_LENGTH_DEFAULT_S
from webapp.register.http.store_unavailable import RETRY_AFTER_S, SENTENCE
from webapp.submissions.drafts.senders import Sender, SenderRefusedError, find_draft, sender_of
from webapp.submissions.forms import SlicesForm

VERSION = "1.0.0"
EXTENSIONS = "creation,termination,expiration"
BODY_TYPE = "application/offset+octet-stream"
READ_BYTES = 256 * 1024  # the server's read() waits until a whole one came
REQUEST_S = 600  # a slower request ends with what has arrived, and the client continues with another one
# Uploads occupy threads, and `manage.py up` gives a web process 8 of them.
UPLOADS_OF_PROCESS = 5
BUSY_RETRY_S = 2
_uploads_of_process = BoundedSemaphore(UPLOADS_OF_PROCESS)
SIZE_DIGITS_MAX = 15
DRAFT_HEADER = "Drivecert-Draft"

NO_SPACE = "The register has no space for the file now. The bytes that arrived are kept. Try again later."
LOST = "The register has lost bytes of this file. Delete this upload, and send the file again."
GONE = "There is no such upload: its draft was submitted or deleted, or it has expired. Send the file again."

STATUSES: dict[type[UploadRefusedError], int] = {FileTooLargeError: 413, QuotaReachedError: 507}
AGAIN = {"Retry-After": str(RETRY_AFTER_S)}
FAILURES: dict[type[Exception], tuple[int, str, dict[str, str]]] = {
    DraftGoneError: (410, GONE, {}),
    StagedBytesLostError: (410, LOST, {}),
    StoreFullError: (507, NO_SPACE, AGAIN),
    StoreUnavailableError: (503, SENTENCE, AGAIN),
}


class RequestError(Exception):
    """The request cannot be carried out; the message says what was expected."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        self.status, self.headers = status, headers or {}
        super().__init__(message)


@csrf_exempt  # sender_of() checks the CSRF token of a session; a script with a token has none
@never_cache
def uploads(request: HttpRequest) -> HttpResponse:
    """Announce a file (POST), or report what the server supports (OPTIONS)."""
    return _respond(request, {"POST": _create})


@csrf_exempt
@never_cache
def upload(request: HttpRequest, key: str) -> HttpResponse:
    """Report how many bytes of a file arrived (HEAD), append more (PATCH), or remove the file (DELETE)."""
    return _respond(request, {"HEAD": _report, "PATCH": _append, "DELETE": _terminate}, key)


def _respond(request: HttpRequest, methods: dict[str, Callable[..., HttpResponse]], *arguments: str) -> HttpResponse:
    method = request.headers.get("X-HTTP-Method-Override", request.method or "")
    try:
        response = _capabilities() if method == "OPTIONS" else _dispatch(request, method, methods, *arguments)
    except (RequestError, SenderRefusedError) as error:
        headers = error.headers if isinstance(error, RequestError) else {}
        response = _refusal(error.status, str(error), headers)
    response.headers["Tus-Resumable"] = VERSION
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _refusal(status: int, message: str, headers: dict[str, str]) -> HttpResponse:
    response = HttpResponse(message + "\n", content_type="text/plain; charset=utf-8", status=status, headers=headers)
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="drivecert"'
    return response


def _dispatch(
    request: HttpRequest, method: str, methods: dict[str, Callable[..., HttpResponse]], *arguments: str
) -> HttpResponse:
    if method not in methods:
        allowed = ", ".join([*methods, "OPTIONS"])
        raise RequestError(405, f"Expected one of {allowed}, got {method[:20]}.", {"Allow": allowed})
    if request.headers.get("Tus-Resumable") != VERSION:
        raise RequestError(412, f"Expected the header Tus-Resumable: {VERSION}.", {"Tus-Version": VERSION})
    try:
        return methods[method](request, sender_of(request), *arguments)
    except UploadRefusedError as error:
        raise RequestError(STATUSES.get(type(error), 400), str(error)) from error
    except (DraftGoneError, StagedBytesLostError, StoreFullError, StoreUnavailableError) as error:
        raise RequestError(*FAILURES[type(error)]) from error


def _capabilities() -> HttpResponse:
    headers = {
        "Tus-Version": VERSION,
        "Tus-Extension": EXTENSIONS,
        "Tus-Max-Size": str(settings.UPLOAD_MAX_BYTES),
    }
    return HttpResponse(status=204, headers=headers)


def _create(request: HttpRequest, sender: Sender) -> HttpResponse:
    size_bytes = _number(request, "Upload-Length")
    metadata = _metadata(request.headers.get("Upload-Metadata", ""))
    role = _role(metadata.get("role", ""))
    with transaction.atomic():  # a refused file leaves no draft behind
        draft = _draft_of(sender, metadata)
        file = add_file(draft, metadata.get("filename", ""), size_bytes, role)
    if size_bytes == 0:
        complete(draft)
    location = {"Location": reverse("upload", args=[file.key])}
    return HttpResponse(status=201, headers=location | _state(draft))


def _draft_of(sender: Sender, metadata: dict[str, str]) -> Draft:
    if not (public_id := metadata.get("draft", "")):
        organisation = sender.organisation(metadata.get("organisation", ""))
        return create_draft(organisation, sender.user, _slice_length_s(metadata))
    draft = find_draft(sender.organisations, public_id)
    if draft is None:
        raise DraftGoneError(public_id)
    return draft


def _slice_length_s(metadata: dict[str, str]) -> int:
    form = SlicesForm({"slice_length_s": metadata.get("slice_length_s", SLICE_LENGTH_DEFAULT_S)})
    if not form.is_valid():
        raise RequestError(400, " ".join(map(str, form.errors["slice_length_s"])))
    return int(form.cleaned_data["slice_length_s"])


def _role(text: str) -> DraftFile.Role | None:
    if text and text not in DraftFile.Role.values:
        raise RequestError(400, f"Expected the role log or companion, got {text[:40]}.")
    return DraftFile.Role(text) if text else None


def _report(request: HttpRequest, sender: Sender, key: str) -> HttpResponse:
    file = _file(sender, key)
    return HttpResponse(
        status=200,
        headers={"Upload-Offset": str(file.received_bytes), "Upload-Length": str(file.size_bytes)} | _state(file.draft),
    )


def _append(request: HttpRequest, sender: Sender, key: str) -> HttpResponse:
    if request.content_type != BODY_TYPE:
        raise RequestError(415, f"Expected a body of the type {BODY_TYPE}.")
    file, offset = _file(sender, key), _number(request, "Upload-Offset")
    if not _uploads_of_process.acquire(blocking=False):
        raise RequestError(503, "The register is busy with other uploads.", {"Retry-After": str(BUSY_RETRY_S)})
    try:
        offset = append_piece(key, offset, b"")  # also an empty body has to begin where the file ends
        for piece in _pieces(request):
            offset = append_piece(key, offset, piece)
    except OffsetError as error:
        message = f"Expected an Upload-Offset of {error.received_bytes:,}, where the file ends."
        raise RequestError(409, message, {"Upload-Offset": str(error.received_bytes)}) from error
    finally:
        _uploads_of_process.release()
    if offset == file.size_bytes:
        complete(file.draft)
    return HttpResponse(status=204, headers={"Upload-Offset": str(offset)} | _state(file.draft))


def _pieces(request: HttpRequest) -> Iterator[bytes]:
    """Yield the body in pieces; after a broken connection, what came before."""
    deadline = time.monotonic() + REQUEST_S
    piece = bytearray()
    with suppress(UnreadablePostError, OSError):
        while time.monotonic() < deadline and (chunk := request.read(READ_BYTES)):
            piece += chunk
            if len(piece) >= PIECE_BYTES:
                yield bytes(piece)
                piece.clear()
    if piece:
        yield bytes(piece)


def _terminate(request: HttpRequest, sender: Sender, key: str) -> HttpResponse:
    remove_file(_file(sender, key))
    return HttpResponse(status=204)


def _file(sender: Sender, key: str) -> DraftFile:
    """Return a file of an open draft of the sender's organisations. Raises DraftGoneError for others as well."""
    drafts = open_drafts().filter(organisation__in=sender.organisations)
    file = DraftFile.objects.select_related("draft").filter(key=key, draft__in=drafts).first()
    if file is None:
        raise DraftGoneError(key)
    return file


def _state(draft: Draft) -> dict[str, str]:
    return {
        "Upload-Expires": http_date(draft.expires_at.timestamp()),
        DRAFT_HEADER: draft.public_id,
    }


def _number(request: HttpRequest, header: str) -> int:
    text = request.headers.get(header, "")
    if not (text.isascii() and text.isdigit() and len(text) <= SIZE_DIGITS_MAX):
        raise RequestError(400, f"Expected a number of bytes in the header {header}, got {text[:40] or 'none'}.")
    return int(text)


def _metadata(text: str) -> dict[str, str]:
    """Return the key-value pairs of an Upload-Metadata header; the values are Base64 of UTF-8."""
    pairs: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = pair.partition(" ")
        try:
            pairs[name] = base64.b64decode(value, validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise RequestError(400, f"Expected Base64 of UTF-8 in Upload-Metadata for {name[:40]}.") from error
    return pairs
