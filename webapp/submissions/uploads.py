"""A limit on uploads that holds while they arrive: a file too large is not even spooled."""

from typing import Any, Protocol

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

TOO_LARGE = "drivecert.upload_too_large"


class HasMeta(Protocol):
    """A request of Django or of the REST framework."""

    META: dict[str, Any]


class SizeLimitHandler(FileUploadHandler):
    """Stands before Django's own handlers: counts, and skips the file beyond UPLOAD_MAX_BYTES.

    The fields around the file are still read, so that the form keeps what was typed.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.received_bytes = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received_bytes += len(raw_data)
        if self.received_bytes > settings.UPLOAD_MAX_BYTES:
            if self.request is not None:
                self.request.META[TOO_LARGE] = True
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> "UploadedFile[bytes] | None":
        return None


def is_too_large(request: HasMeta) -> bool:
    """Tell whether a file of this request was skipped for its size."""
    return bool(request.META.get(TOO_LARGE))


def size_complaint() -> str:
    """Return what the sender of such a file is told."""
    return f"The file is larger than {settings.UPLOAD_MAX_BYTES:,} bytes. Compress it with gzip and send it again."
