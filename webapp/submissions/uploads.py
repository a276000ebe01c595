"""Upload limits by sender and size. They apply while a file arrives: a refused file is not even spooled.

They count the received bytes. drivetest limits the content of an archive (crates/cli/src/input/limits.rs).
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict

from webapp.accounts.models import User
from webapp.accounts.tokens.rules import bearer_secret, find_token

OBJECTION_ADDRESS = "objection-new"
# By their names in urls.py.
UPLOAD_ADDRESSES = frozenset({"submit", "api-submission-list", "api-validate", OBJECTION_ADDRESS})
FILE_FIELDS = frozenset({"log", "companions"})
TOO_LARGE = "drivecert.upload_too_large"
# About a log that was submitted before.
MOVED = "The embargo of the submission was changed as stated."
LEFT_OUT = (
    "These files were not accepted, because the log is being read, or was read, without them: {names}. Put log and "
    "files into one tar or zip, and send that file as a new submission."
)


class UploadLimitHandler(FileUploadHandler):
    """Runs before Django's own handlers: refuses files of unknown senders, and skips files beyond `bytes_max`.

    Django searches the body for the form's token before any view checks the user, so unknown senders must be refused
    here. The count is of all files of a request. The other fields are still read, so that the form
    shows them again.
    """

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.received_bytes = 0

    @property
    def bytes_max(self) -> int:
        """Return the limit on all files of the request: a lower one for the attachments of an objection."""
        match = self.request.resolver_match if self.request is not None else None
        is_objection = match is not None and match.url_name == OBJECTION_ADDRESS
        return settings.OBJECTION_UPLOAD_MAX_BYTES if is_objection else settings.UPLOAD_MAX_BYTES

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self.request is None or not may_upload(self.request):
            raise StopUpload(connection_reset=True)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received_bytes += len(raw_data)
        if self.received_bytes > self.bytes_max:
            if self.request is not None:
                self.request.META[TOO_LARGE] = True
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> "UploadedFile[bytes] | None":
        return None


def may_upload(request: HttpRequest) -> bool:
    """Return whether the address accepts files and the sender is known."""
    if request.resolver_match is None or request.resolver_match.url_name not in UPLOAD_ADDRESSES:
        return False
    secret = bearer_secret(request.headers.get("Authorization", ""))
    return isinstance(request.user, User) or (secret is not None and find_token(secret) is not None)


def is_too_large(request_meta: Mapping[str, Any]) -> bool:
    """Return whether a file of the request with these META values was skipped for its size."""
    return bool(request_meta.get(TOO_LARGE))


def files_complaint(files: "MultiValueDict[str, UploadedFile[bytes]]") -> str:
    """Return the error about files of a request that the intake would ignore; "" if there are none."""
    if len(files.getlist("log")) > 1:
        return "Expected one log, got several. Send each log in a request of its own, or all in one tar or zip."
    if unknown := sorted(set(files) - FILE_FIELDS):
        return (
            f"Expected files in the fields log and companions, got also {', '.join(unknown)[:200]}. Send each log in a "
            "request of its own, and what belongs to it as companions."
        )
    return ""


def size_complaint() -> str:
    """Return the message to the sender of such a file."""
    return f"The file is larger than {settings.UPLOAD_MAX_BYTES:,} bytes. Compress it with gzip and send it again."
