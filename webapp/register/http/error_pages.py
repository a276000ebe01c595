"""Pages for what was not found (404) and for parameters that a page cannot use (400)."""

from collections.abc import Mapping, Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.http.query_params import LONGEST_QUERY, ParameterError, words_of

FIELDS_AT_MOST = 60
TYPED_AT_MOST = 400  # characters of a field; longer text was not typed by hand


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a 404 page with the view's own sentence, or with the address if no view was found.

    A view that knows better than the address what to search for gives it after its sentence.
    """
    reason, subject = (*exception.args, "", "")[:2]
    sentence = reason if isinstance(reason, str) and reason else f"There is no page at {request.path}."
    context = {"sentence": sentence, "query": search_words(subject or request.path)}
    return render(request, "404.html", context, status=404)


def search_words(path: str) -> str:
    """Return the words of the last part of an address, as a query for the search.

    >>> search_words("/drive/intel-p4611-1600gb/"), search_words("/")
    ('intel p4611 1600gb', '')
    """
    last = path.strip("/").rpartition("/")[2]
    return " ".join(words_of(last))[:LONGEST_QUERY]


def bad_request(
    request: HttpRequest, sentence: str, path: str, fields: Sequence[Mapping[str, str]] = ()
) -> HttpResponse:
    """Return a 400 page that says what is wrong and links to `path`, with the given fields to be corrected."""
    return render(request, "400.html", {"sentence": sentence, "path": path, "fields": fields}, status=400)


def parameter_error_page(request: HttpRequest, error: ParameterError) -> HttpResponse:
    """Return a 400 page that names the rejected parameter and repeats all others as fields.

    A parameter that the page does not have is left out.
    """
    pairs = [(name, text) for name, texts in request.GET.lists() for text in texts if text]
    known = [pair for pair in pairs if not (error.is_unknown and pair[0] == error.parameter)]
    fields = [
        {"name": name, "text": text[:TYPED_AT_MOST], "error": error.expected if name == error.parameter else ""}
        for name, text in known[:FIELDS_AT_MOST]
    ]
    return bad_request(request, str(error), request.path, fields)
