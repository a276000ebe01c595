"""The live part of a page: the browser requests it every two seconds and gets 204 while nothing has changed."""

import hashlib
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

PERIOD_S = 2
DIGEST_CHARS = 16


def version_of(content: Any) -> str:
    """Return a digest of the content of a live part; `content` is everything that it shows except relative times."""
    text = json.dumps(content, cls=DjangoJSONEncoder, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARS]


def is_current(request: HttpRequest, version: str) -> bool:
    """Return whether the requesting page already shows this version."""
    return request.GET.get("version") == version


def not_changed() -> HttpResponse:
    """Return 204: htmx then leaves the page as it is."""
    return HttpResponse(status=204)


def render_live(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render a live part, or a page that contains one."""
    return render(request, template, context | {"period_s": PERIOD_S})
