"""Status 503 for requests that need the evidence store while it does not answer. Nothing is stored or lost then."""

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin

from results.evidence.store import StoreUnavailableError

RETRY_AFTER_S = 30
HEADERS = {"Retry-After": str(RETRY_AFTER_S), "Cache-Control": "no-store"}
SENTENCE = (
    "The register cannot store or read files now. Nothing that it received is lost. Repeat the request in a minute."
)


class StoreUnavailableMiddleware(MiddlewareMixin):
    """Turns the failure of the evidence store into a 503 page. The API and uploads have answers of their own."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the 503 page if the store does not answer."""
        if not isinstance(exception, StoreUnavailableError):
            return None
        content = render_to_string("store_unavailable.html", {"sentence": SENTENCE}, request)
        return HttpResponse(content, status=503, headers=HEADERS)
