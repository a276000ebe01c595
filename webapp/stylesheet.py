"""The stylesheet of all pages: the source files of static/css/ in one response, named by a hash of its content.

One request instead of a dozen. The source files stay separate; a process joins them when it is first asked. An address
with an older hash, for example on a page of a snapshot, gets the present stylesheet.
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

# In this order: tokens first, print last. Pages of one feature link their own files after it.
FILES = (
    "tokens", "base", "parts", "tables", "withdrawn", "forms", "limits", "drives", "charts", "landscape", "home",
    "other-pages", "touch", "print",
)  # fmt: skip
HASH_DIGITS = 12
FOR_EVER = "public, max-age=31536000, immutable"
BRIEFLY = "public, max-age=60"


@cache
def _joined() -> tuple[str, bytes, bytes]:
    """Return the hash of the stylesheet, the stylesheet, and the same compressed by gzip."""
    directory = Path(settings.BASE_DIR) / "static" / "css"
    plain = b"".join((directory / f"{name}.css").read_bytes() for name in FILES)
    return hashlib.sha256(plain).hexdigest()[:HASH_DIGITS], plain, gzip.compress(plain, compresslevel=9, mtime=0)


def stylesheet_address() -> str:
    """Return the address of the present stylesheet."""
    return reverse("stylesheet", args=[_joined()[0]])


@require_safe
def stylesheet(request: HttpRequest, digest: str) -> HttpResponse:
    """Return the stylesheet; caches may keep it for ever under its own hash."""
    if len(digest) != HASH_DIGITS or digest.strip("0123456789abcdef"):
        raise Http404(f"There is no stylesheet {digest}.")
    current, plain, compressed = _joined()
    is_compressed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(compressed if is_compressed else plain, content_type="text/css; charset=utf-8")
    response["Cache-Control"] = FOR_EVER if digest == current else BRIEFLY
    response["Vary"] = "Accept-Encoding"
    if is_compressed:
        response["Content-Encoding"] = "gzip"
    return response
