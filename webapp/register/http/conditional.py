"""Answers that are costly to make and change only when a run is read or judged anew: named before they are made."""

import hashlib
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response

from results.models import Run


def kept_answer(
    request: HttpRequest, run: Run, what: tuple[object, ...], make: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """Return 304, making nothing, where the asker has the answer already; `what` names all else that it depends on."""
    newest = run.verdicts.values_list("pk", flat=True).first()
    parts = [run.public_id, run.reading_id, newest, *what]
    etag = f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'
    response = get_conditional_response(request, etag=etag) or make()
    response.headers["ETag"] = etag
    return response
