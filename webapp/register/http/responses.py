"""How public pages answer: the same for everyone, kept by caches, and with a page for what was not understood."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import conditional_page, require_safe

from webapp.register.http.errors import ask_again
from webapp.register.http.parameter_errors import ParameterError

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

PUBLIC = "public, max-age=60"  # a minute: a correction or a withdrawal shows soon, a crowd still meets a cache
PRIVATE = "private, no-cache"


def public_page(view: View[P]) -> View[P]:
    """Answer GET and HEAD with an ETag of the content, kept by anyone for a minute unless the view says otherwise."""

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except ParameterError as error:
            return ask_again(request, error)
        response.headers.setdefault("Cache-Control", PUBLIC)
        return response

    page = require_safe(conditional_page(answer))
    vars(page)["is_public_page"] = True  # what webapp/register/syndication/public_addresses.py finds it by
    return page


def is_public_page(view: object) -> bool:
    """Tell whether a view was made by `public_page`."""
    return getattr(view, "is_public_page", False)


def keep_private(response: HttpResponseBase) -> HttpResponseBase:
    """Mark an answer that holds what is not public: not for caches, not for search engines."""
    response.headers["Cache-Control"] = PRIVATE
    response.headers["X-Robots-Tag"] = "noindex"
    return response
