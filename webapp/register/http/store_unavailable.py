"""Status 503 for requests that need the evidence store while it does not answer, and 507 while it has no room.

Nothing is stored or lost then.
"""

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin

from results.evidence.store import StoreFullError, StoreUnavailableError

RETRY_AFTER_S = 30
HEADERS = {"Retry-After": str(RETRY_AFTER_S), "Cache-Control": "no-store"}
SENTENCE = (
    "The register cannot store or read files now. Nothing that it received is lost. Repeat the request in a minute."
)
NO_SPACE = "The register has no space for the files now. Nothing was stored. Try again later."


def may_repeat(response: HttpResponse) -> HttpResponse:
    """Return a form that was refused for lack of space, with the header that says when to send it again."""
    response.headers["Retry-After"] = str(RETRY_AFTER_S)
    return response


class StoreUnavailableMiddleware(MiddlewareMixin):
    """Turns the failure of the evidence store into a page. The API and uploads have answers of their own."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the page if the store does not answer, or has no room."""
        if isinstance(exception, StoreUnavailableError):
            return _page(request, SENTENCE, 503)
        return _page(request, NO_SPACE, 507) if isinstance(exception, StoreFullError) else None


def _page(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    content = render_to_string("store_unavailable.html", {"sentence": sentence}, request)
    return HttpResponse(content, status=status, headers=HEADERS)
