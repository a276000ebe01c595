"""How a list arrives at the fleet check: in memory, bounded, kept nowhere."""

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError

from webapp.register.fleet.drives import FleetError

LIST_BYTES_MAX = (
    4 * 1024**2
)  # 500 drives as smartctl prints them whole are less; settings.py bounds a pasted text alike
TOO_LARGE = f"The list is larger than {LIST_BYTES_MAX:,} bytes: check it in parts."
CUT = "The form did not arrive whole: send it again."
MOST_DIGITS = 20  # of a length: more are too many for int(), too


class InMemoryHandler(FileUploadHandler):
    """Keeps one small file in memory: the register's own handlers would spool it, and only for those signed in."""

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.chunks: list[bytes] = []
        self.received_bytes = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received_bytes += len(raw_data)
        if self.received_bytes > LIST_BYTES_MAX:
            raise StopUpload(connection_reset=True)
        self.chunks.append(raw_data)

    def file_complete(self, file_size: int) -> "UploadedFile[bytes]":
        content, self.chunks = b"".join(self.chunks), []
        return SimpleUploadedFile("list", content)


def listed_text(request: HttpRequest) -> str:
    """Return the list that a form sends, pasted or as a file. Raises FleetError where there is none, or too much."""
    told = str(request.META.get("CONTENT_LENGTH") or "0").strip()
    if not (told.isascii() and told.isdigit()):
        raise FleetError(CUT)
    if len(told) > MOST_DIGITS or int(told) > LIST_BYTES_MAX + 1024**2:  # form fields and boundaries around it
        raise FleetError(TOO_LARGE)
    handler = InMemoryHandler(request)
    request.upload_handlers = [handler]
    try:
        pasted, file = str(request.POST.get("list", "")), request.FILES.get("file")
    except (RequestDataTooBig, TooManyFilesSent) as error:
        raise FleetError(TOO_LARGE) from error
    except (MultiPartParserError, SuspiciousOperation) as error:
        raise FleetError(CUT) from error
    if handler.received_bytes > LIST_BYTES_MAX:
        raise FleetError(TOO_LARGE)
    if pasted.strip():
        return pasted
    return decoded(file.read()) if file else ""


def decoded(content: bytes) -> str:
    """Return bytes as text; what is no UTF-8 is replaced: a model number is ASCII. UTF-16 is told by its mark."""
    is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content.decode("utf-16" if is_utf16 else "utf-8", errors="replace")
