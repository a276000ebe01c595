"""Pages for what was not found (404) and for parameters that a page cannot use (400)."""

from dataclasses import dataclass

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


def bad_request(request: HttpRequest, sentence: str, path: str = "") -> HttpResponse:
    """Return a 400 page that says what is wrong and links to `path`, by default the page itself without parameters."""
    return render(request, "400.html", {"sentence": sentence, "path": path or request.path}, status=400)


def parameter_error_page(request: HttpRequest, error: ParameterError) -> HttpResponse:
    """Return a 400 page that names the rejected parameter and repeats all others as fields, to be corrected."""
    context = {"sentence": str(error), "path": request.path, "fields": submitted_fields(request, error)}
    return render(request, "400.html", context, status=400)


@dataclass(frozen=True)
class SubmittedField:
    """One parameter as it was given; `error` says what its field expects, empty for a correct one."""

    name: str
    text: str
    error: str = ""


def submitted_fields(request: HttpRequest, error: ParameterError) -> list[SubmittedField]:
    """Return the parameters of a request that are not empty, without one that the page does not have."""
    pairs = [(name, text) for name, texts in request.GET.lists() for text in texts if text]
    known = [pair for pair in pairs if not (error.is_unknown and pair[0] == error.parameter)]
    return [
        SubmittedField(name, text[:TYPED_AT_MOST], error.expected if name == error.parameter else "")
        for name, text in known[:FIELDS_AT_MOST]
    ]
