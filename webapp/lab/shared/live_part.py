"""The live part of a page: asked for every two seconds, answered with nothing while nothing has changed."""

import hashlib
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

PERIOD_S = 2
DIGEST_CHARS = 16


def version_of(facts: Any) -> str:
    """Return what tells one content of a live part from another; `facts` is all that it shows, times apart."""
    text = json.dumps(facts, cls=DjangoJSONEncoder, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARS]


def is_known(request: HttpRequest, version: str) -> bool:
    """Tell whether the page that asks shows this version already."""
    return request.GET.get("version") == version


def unchanged() -> HttpResponse:
    """Answer that the part stays as it is: 204, which htmx leaves the page alone at."""
    return HttpResponse(status=204)


def renewed(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Answer with the part as it is now."""
    return render(request, template, context | {"period_s": PERIOD_S})
