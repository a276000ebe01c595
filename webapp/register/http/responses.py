"""Caching and errors of public pages: the same response for everyone, with an ETag that caches can check."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import conditional_page, require_safe

from results.models import Run
from webapp.register.http.error_pages import parameter_error_page
from webapp.register.http.query_params import ParameterError

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

PUBLIC = "public, max-age=60"  # a minute: corrections show soon, and many readers at once meet a cache
PRIVATE = "private, no-cache"


def public_page(view: View[P]) -> View[P]:
    """Answer GET and HEAD with an ETag of the content, cacheable for a minute unless the view sets another rule."""

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except ParameterError as error:
            return parameter_error_page(request, error)
        response.headers.setdefault("Cache-Control", PUBLIC)
        return response

    page = require_safe(conditional_page(answer))
    vars(page)["is_public_page"] = True  # webapp/register/syndication/public_addresses.py finds public pages by it
    return page


def is_public_page(view: object) -> bool:
    """Return whether a view was made by `public_page`."""
    return getattr(view, "is_public_page", False)


def mark_private(response: HttpResponseBase) -> HttpResponseBase:
    """Mark a response with content that is not public: not for caches, not for search engines."""
    response.headers["Cache-Control"] = PRIVATE
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def conditional_response(
    request: HttpRequest, run: Run, variant: tuple[object, ...], make: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """Return 304 if the client's copy is current, without calling `make`; otherwise return its result with an ETag.

    For responses that are costly to make and change only when the run is read or judged again. `variant` names all
    else that the content depends on.
    """
    newest = run.verdicts.values_list("pk", flat=True).first()
    parts = [run.public_id, run.reading_id, newest, *variant]
    return response_with_etag(request, hashlib.sha256(repr(parts).encode()).hexdigest()[:32], make)


def response_with_etag(request: HttpRequest, tag: str, make: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Return 304 if the client's copy has the tag, without calling `make`; otherwise return its result."""
    etag = f'"{tag}"'
    response = get_conditional_response(request, etag=etag) or make()
    response.headers["ETag"] = etag
    return response
