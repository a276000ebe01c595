"""Caching and errors of public pages: the same response for everyone, with an ETag that caches can check.

The page of status 400 names the parameter that was not understood, and what was expected.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import conditional_page, require_safe

from results.access.withholding import SequesteredError
from results.lifecycle.takedowns import takedown_of
from results.models import Run
from webapp.register.http.query_params import ADDRESS_AT_MOST, LONGEST_QUERY, ParameterError, words_of

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

PUBLIC = "public, max-age=60"  # a minute: corrections show soon, and many readers at once meet a cache
PRIVATE = "private, no-cache"
NO_STORE = "no-store"
UNAVAILABLE_FOR_LEGAL_REASONS = 451
FIELDS_AT_MOST = 60  # of the page for a rejected parameter
TYPED_AT_MOST = 400  # characters of a field; longer text was not typed by hand


def public_page(view: View[P]) -> View[P]:
    """Answer GET and HEAD with an ETag of the content, cacheable for a minute unless the view sets another rule."""

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except ParameterError as error:
            return parameter_error_page(request, error)
        except SequesteredError as error:
            return withheld_page(request, error)
        response.headers.setdefault("Cache-Control", PUBLIC)
        return response

    page = require_safe(conditional_page(answer))
    vars(page)["is_public_page"] = True  # webapp/register/syndication/public_addresses.py finds public pages by it
    return page


def is_public_page(view: object) -> bool:
    """Return whether a view was made by `public_page`."""
    return getattr(view, "is_public_page", False)


def public_form(show: View[[]], receive: Callable[[HttpRequest], HttpResponse]) -> View[[]]:
    """Return a view that shows a public page, and lets `receive` answer a form that is sent to it.

    The form has no CSRF token: a token would make the page different for each visitor, and no cache could keep it. So
    `receive` must change nothing for the visitor, and use no session. Another site can make a browser send the form,
    but it cannot read the response. No cache keeps the response, and no search engine lists it.
    """

    @wraps(show)
    def view(request: HttpRequest, /) -> HttpResponseBase:
        if request.method != "POST":
            return show(request)
        response = receive(request)
        response.headers["Cache-Control"] = NO_STORE
        response.headers["X-Robots-Tag"] = "noindex"
        return response

    form: View[[]] = csrf_exempt(view)
    vars(form)["is_public_page"] = is_public_page(show)
    return form


def mark_private(response: HttpResponseBase) -> HttpResponseBase:
    """Mark a response with content that is not public: not for caches, not for search engines."""
    response.headers["Cache-Control"] = PRIVATE
    return mark_unlisted(response)


def mark_unlisted(response: HttpResponseBase) -> HttpResponseBase:
    """Mark a response as not for search engines. Anyone may cache it."""
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


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a 404 page with the view's own sentence, or with the address if no view was found.

    The page has a search with the words of the address, or with the second argument of Http404 if the view gives one.
    """
    reason, subject = (*exception.args, "", "")[:2]
    sentence = reason if isinstance(reason, str) and reason else f"There is no page at {request.path}."
    context = {"sentence": sentence, "query": search_words(subject or request.path)}
    return render(request, "404.html", context, status=404)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return a 403 page for a form without its valid secret: its page is old, or another site sent the form."""
    return mark_unlisted(render(request, "403_csrf.html", {"reason": reason}, status=403))  # type: ignore[return-value]


def search_words(path: str) -> str:
    """Return the words of the last part of an address, as a query for the search.

    >>> search_words("/drive/intel-p4611-1600gb/"), search_words("/")
    ('intel p4611 1600gb', '')
    """
    last = path.strip("/").rpartition("/")[2]
    return " ".join(words_of(last))[:LONGEST_QUERY]


def withheld_page(request: HttpRequest, error: SequesteredError) -> HttpResponse:
    """Return the public page that remains of a run while a takedown withholds it, with status 451."""
    context = {"sentence": str(error), "takedown": takedown_of(error.run)}
    response = render(request, "451.html", context, status=UNAVAILABLE_FOR_LEGAL_REASONS)
    response.headers["Cache-Control"] = NO_STORE  # the result may return at any time
    return response


def bad_request(
    request: HttpRequest, sentence: str, path: str, details: Mapping[str, object] = MappingProxyType({})
) -> HttpResponse:
    """Return a 400 page that says what is wrong and links to `path`; `details` are those of a rejected parameter."""
    return render(request, "400.html", {"sentence": sentence, "path": path, **details}, status=400)


def parameter_error_page(request: HttpRequest, error: ParameterError) -> HttpResponse:
    """Return a 400 page that names the rejected parameter.

    It repeats the parameters that the page has as fields, and links the same address without the rejected one.
    """
    rest = request.GET.copy()
    rest.pop(error.parameter, None)
    without = f"{request.path}?{rest.urlencode()}" if rest else request.path
    details = {
        "in_address": error.in_address,
        "wrong_label": error.labels.get(error.parameter, "") if error.found is not None else "",
        "fields": _fields_to_correct(request.GET, error),
        "without": without if len(without) <= ADDRESS_AT_MOST else "",
    }
    return bad_request(request, error.sentence, request.path, details)


def _fields_to_correct(query: QueryDict, error: ParameterError) -> list[dict[str, str]]:
    """Return the parameters of an address as fields with their labels, and the error of the rejected one."""
    pairs = [(name, text) for name, texts in query.lists() for text in texts if text]
    known = [pair for pair in pairs if not (error.is_unknown and pair[0] == error.parameter)]
    return [
        {
            "name": name,
            "label": error.labels.get(name, name),
            "text": text[:TYPED_AT_MOST],
            "error": error.expected if name == error.parameter else "",
        }
        for name, text in known[:FIELDS_AT_MOST]
    ]
