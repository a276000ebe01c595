"""Reception of the form of a trial: its files go straight into the temporary directory of the request.

Django's own handlers would write them to other temporary files first, and the register's handler wants a known sender.
"""

import time
from contextlib import suppress
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, QueryDict, UnreadablePostError
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from results.demonstration.examples import MAIN, stored_files
from results.reader.unstored import UnstoredFiles
from webapp.register.trial import refusals
from webapp.register.trial.refusals import TrialRefusedError

FORM_BYTES = 1024**2  # beside the files: fields, names and boundaries
DRAINED_RATIO = 4  # of the limit: what is read of a form that is refused
PIECE_BYTES = 4 * 1024  # of one read: a slow sender is refused at most the time of a piece after its deadline
UPLOAD_TIMEOUT_S = 120  # of a form, also of one that is refused: 64 MiB at 4.5 Mbit/s
SLICE_LENGTH_MAX_S = 86_400
LENGTH_DIGITS_MAX = 20  # of Content-Length; int() refuses very long numbers


class TrialUploadHandler(FileUploadHandler):
    """Writes the files of the form, up to TRIAL_UPLOAD_MAX_BYTES in all. Files in unknown fields are skipped."""

    def __init__(self, files: UnstoredFiles) -> None:
        super().__init__()
        self.files = files
        self.target: IO[bytes] | None = None
        self.received_bytes = 0
        self.logs_count = 0

    @property
    def is_too_large(self) -> bool:
        """Return whether more bytes came than are allowed."""
        return self.received_bytes > settings.TRIAL_UPLOAD_MAX_BYTES

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, file_name, *args, **kwargs)
        if field_name == "log":
            self.logs_count += 1
        if field_name == "log" and self.logs_count == 1:
            self.target = self.files.create_log()
        elif field_name == "companions":
            self.target = self.files.create_companion(file_name)
        else:
            raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received_bytes += len(raw_data)
        if self.is_too_large or self.target is None:
            raise SkipFile
        self.target.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        self.close()

    def upload_interrupted(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the file that is being written."""
        if self.target is not None:
            self.target.close()


class UploadTooSlowError(Exception):
    """The form did not arrive in UPLOAD_TIMEOUT_S."""


class TimedBody:
    """The body of a request, with a deadline, and with the number of bytes that came.

    After a lost connection, they are too few. Pieces are small, because the server's read() has no timeout: it waits
    until a whole piece came. If a client sends nothing, it waits until the connection ends, in the thread of the
    request. Another thread must not wait instead: Granian takes the lock of the body when a request ends, without
    releasing the GIL, so that a read which still has the lock stops the whole process.
    """

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.received_bytes = 0
        self.deadline = time.monotonic() + UPLOAD_TIMEOUT_S

    def read(self, size: int) -> bytes:
        """Return the next bytes; none at the end. Raises UploadTooSlowError."""
        if time.monotonic() > self.deadline:
            raise UploadTooSlowError
        chunk = self.request.read(min(size, PIECE_BYTES))
        self.received_bytes += len(chunk)
        return chunk


def receive_form(request: HttpRequest, files: UnstoredFiles) -> int | None:
    """Write the files of a form and return the chosen slice length in seconds; None if the sender chose none.

    Raises TrialRefusedError and UploadTooSlowError.
    """
    body = TimedBody(request)
    try:
        return _receive(request, body, files)
    except TrialRefusedError:
        _drain(body)
        raise


def _receive(request: HttpRequest, body: TimedBody, files: UnstoredFiles) -> int | None:
    length, handler = _announced_bytes(request), TrialUploadHandler(files)
    if length > settings.TRIAL_UPLOAD_MAX_BYTES + FORM_BYTES:
        raise TrialRefusedError(refusals.too_large())
    try:
        fields = _parse(request, body, length, handler)
    finally:
        handler.close()
    if handler.is_too_large:
        raise TrialRefusedError(refusals.too_large())
    if fields.get("example"):
        _write_example(files)
    elif not handler.logs_count and (pasted := fields.get("text", "")).strip():
        _write(files.create_log(), pasted.replace("\r\n", "\n").encode())  # a browser sends line ends as CRLF
    elif handler.logs_count != 1:
        raise TrialRefusedError(refusals.SEVERAL_LOGS if handler.logs_count else refusals.NO_FILE)
    return _slice_length_s(fields)


def _write_example(files: UnstoredFiles) -> None:
    """Write the log of the example run, and its side file."""
    log, side_file = stored_files(MAIN).items()
    _write(files.create_log(), log[1])
    _write(files.create_companion(side_file[0]), side_file[1])


def _write(file: IO[bytes], content: bytes) -> None:
    with file:
        file.write(content)


def _announced_bytes(request: HttpRequest) -> int:
    length = str(request.META.get("CONTENT_LENGTH") or "").strip()
    if not (length.isascii() and length.isdigit() and len(length) <= LENGTH_DIGITS_MAX):
        raise TrialRefusedError(refusals.INCOMPLETE)
    return int(length)


def _parse(request: HttpRequest, body: TimedBody, length: int, handler: TrialUploadHandler) -> QueryDict:
    """Return the fields of the form. A lost connection ends the body without an error, so its bytes are counted."""
    try:
        parser = MultiPartParser(request.META, body, [handler], request.encoding)  # type: ignore[arg-type]  # reads only
        fields, _ = parser.parse()
    except TooManyFilesSent as error:
        raise TrialRefusedError(refusals.too_many_files()) from error
    except (MultiPartParserError, SuspiciousOperation, RequestDataTooBig, UnreadablePostError) as error:
        raise TrialRefusedError(refusals.INCOMPLETE) from error
    if body.received_bytes != length:
        raise TrialRefusedError(refusals.INCOMPLETE)
    return fields


def _slice_length_s(fields: QueryDict) -> int | None:
    text = fields.get("slice_length_s", "").strip()
    if not text:
        return None
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(SLICE_LENGTH_MAX_S)) else 0
    if not 1 <= number <= SLICE_LENGTH_MAX_S:
        raise TrialRefusedError(refusals.invalid_slice_length(text, SLICE_LENGTH_MAX_S))
    return number


def _drain(body: TimedBody) -> None:
    """Read the rest of a refused form and drop it: a browser that still sends would show a broken connection."""
    most = body.received_bytes + DRAINED_RATIO * settings.TRIAL_UPLOAD_MAX_BYTES
    with suppress(UnreadablePostError):
        while body.received_bytes < most and body.read(PIECE_BYTES):
            pass
