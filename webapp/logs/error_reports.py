"""The response to an error of the register: a page, or problem details of the API, with the id of the report.

It needs no database and no session: one of them may be what failed.
"""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from webapp.logs.request_ids import request_id_of

API = "/api/"


def server_error(request: HttpRequest) -> HttpResponse:
    """Return status 500 with the id under which the log has the trace."""
    error_id = request_id_of(request)
    if not request.path.startswith(API):
        return HttpResponse(render_to_string("500.html", {"error_id": error_id}), status=500)
    problem = {
        "type": "about:blank",
        "title": "Internal Server Error",
        "status": 500,
        "detail": f"The register failed. Its operator finds the cause under the id {error_id}. Try again later.",
        "error_id": error_id,
    }
    return JsonResponse(problem, status=500, content_type="application/problem+json")
