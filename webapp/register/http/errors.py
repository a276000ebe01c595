"""Pages that say what was not found or not understood."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.drives.search.names import LONGEST_QUERY, words_of
from webapp.register.http.parameter_errors import ParameterError
from webapp.register.http.rejected_fields import typed_fields


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Name what was asked for: the view's own sentence, or the address where no view was found.

    A view that knows better than the address what was looked for gives it after its sentence.
    """
    said, asked = (*exception.args, "", "")[:2]
    sentence = said if isinstance(said, str) and said else f"There is no page at {request.path}."
    return render(request, "404.html", {"sentence": sentence, "asked": asked_words(asked or request.path)}, status=404)


def asked_words(path: str) -> str:
    """Return the words of an address's last part that is no number, to search for.

    >>> asked_words("/drive/intel-p4611-1600gb/"), asked_words("/")
    ('intel p4611 1600gb', '')
    """
    last = path.strip("/").rpartition("/")[2]
    return " ".join(words_of(last))[:LONGEST_QUERY]


def not_understood(request: HttpRequest, sentence: str, path: str = "") -> HttpResponse:
    """Name what was not understood, and offer the page without it; `path` where that is another one."""
    return render(request, "400.html", {"sentence": sentence, "path": path or request.path}, status=400)


def ask_again(request: HttpRequest, refused: ParameterError) -> HttpResponse:
    """Name the parameter that was not understood, and give all that was asked back to be corrected."""
    context = {"sentence": str(refused), "path": request.path, "typed": typed_fields(request, refused)}
    return render(request, "400.html", context, status=400)
