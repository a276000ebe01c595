"""Middleware of every request: tracking parameters are ignored, and pages run only the register's own files.

Mail programs, search engines and networks add tracking parameters to links. They only report where a reader came from,
so a link that carries some gets the response of the link without them. Any other unknown parameter is refused by name.
"""

from collections.abc import Callable
from urllib.parse import unquote_plus

from django.http import HttpRequest, HttpResponse

CAMPAIGN = "utm_"  # utm_source, utm_medium, utm_campaign, ...: new ones keep the prefix
# Each from the documentation of the service that adds it: Google, Meta, Microsoft, Yandex, X, TikTok, LinkedIn,
# Pinterest, Mailchimp, HubSpot, Marketo, Olytics, Vero.
MARKS = frozenset([
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "_ga", "_gl", "fbclid",
    "igshid", "igsh", "msclkid", "yclid", "ysclid", "twclid", "ttclid", "li_fat_id", "epik", "mc_cid", "mc_eid",
    "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking", "mkt_tok", "oly_anon_id", "oly_enc_id",
    "vero_id", "vero_conv",
])  # fmt: skip


def is_mark(name: str) -> bool:
    """Return whether a parameter only reports where a reader came from.

    >>> [is_mark(name) for name in ("utm_source", "fbclid", "hsCtaTracking", "sort", "utm", "clid")]
    [True, True, True, False, False, False]
    """
    lower = name.lower()
    return lower in MARKS or lower.startswith(CAMPAIGN)


def without_marks(query: str) -> str:
    """Return a query string, as an address has it, without such parameters; all others as they are.

    >>> without_marks("utm_source=mail&sort=-tps&fbclid=x"), without_marks("a=1&&b="), without_marks("utm_source")
    ('sort=-tps', 'a=1&&b=', '')
    """
    parts = query.split("&")
    remaining = [part for part in parts if not is_mark(unquote_plus(part.partition("=")[0]))]
    return query if len(remaining) == len(parts) else "&".join(remaining)


class TrackingMarksMiddleware:
    """Leaves the marks out of a request's query, for pages, files and the API alike."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.META["QUERY_STRING"] = without_marks(request.META.get("QUERY_STRING", ""))
        return self.get_response(request)


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Plotly writes style attributes and a style element while it draws.
CHART_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
CHART_ROUTES = frozenset({"home", "drives", "historical", "category", "compare", "run-detail"})


class ContentSecurityPolicyMiddleware:
    """Add the policy to every answer that does not bring its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        route = request.resolver_match and request.resolver_match.url_name
        policy = CHART_POLICY if route in CHART_ROUTES else POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        return response
