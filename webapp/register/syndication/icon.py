"""`/favicon.ico`: asked for by programs that do not read the page's head."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.views.decorators.http import require_safe


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """Lead to the mark that every page names; its address changes with its content."""
    return HttpResponseRedirect(static("img/mark.svg"), headers={"Cache-Control": "public, max-age=86400"})
