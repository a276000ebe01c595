"""Pages that say what was not found or not understood."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Name what was asked for: the view's own sentence, or the address where no view was found."""
    said = exception.args[0] if exception.args else ""
    sentence = said if isinstance(said, str) and said else f"There is no page at {request.path}."
    return render(request, "404.html", {"sentence": sentence}, status=404)


def not_understood(request: HttpRequest, sentence: str, path: str = "") -> HttpResponse:
    """Name what was not understood, and offer the page without it; `path` where that is another one."""
    return render(request, "400.html", {"sentence": sentence, "path": path or request.path}, status=400)
