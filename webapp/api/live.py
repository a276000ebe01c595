"""Endpoints of waiting clients. The process of `webapp.asgi` serves them; a web server only names its address."""

from typing import Any

from django.conf import settings
from django.http import HttpResponseRedirect
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from webapp.api.agents import ExchangesSerializer
from webapp.api.lab.campaigns import CampaignDetailSerializer
from webapp.api.lab.dispatches import DispatchDetailSerializer
from webapp.api.problems import Problem
from webapp.api.serializers import SubmissionSerializer
from webapp.api.views import View
from webapp.live.server import WAIT_DEFAULT_S, WAIT_MOST_S

NO_PROCESS = (
    "This register has no process for waiting clients at this address: LIVE_URL is unset. Request the resource itself "
    "again after some seconds."
)
PARAMETERS = [
    OpenApiParameter("wait", int, description=f"Seconds, at most {WAIT_MOST_S}. Default: {WAIT_DEFAULT_S}."),
    OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="The ETag of the last response."),
]
DESCRIPTION = (
    "GET returns the state of the {what}, as {path} does, with the same token and the same ETag. If the request "
    "repeats the ETag in If-None-Match, the response comes when the state changes, or with 304 after the wait. With "
    "Accept: text/event-stream, the response is a stream of server-sent events: each event named state has the ETag "
    "as its id and the state as its data, an event named problem is the last one, and Last-Event-ID goes on after an "
    "event. If another address serves waiting clients, the response is 307 with that address: send the token there."
)


class Redirected(View):
    """GET on a web server: the address of the process that lets clients wait."""

    authentication_classes = ()
    permission_classes = [AllowAny]
    parameters = ("wait",)

    def get(self, request: Request, **_: str) -> HttpResponseRedirect:
        """Redirect to the process of waiting clients. Raises Problem if there is none."""
        if not settings.LIVE_URL:
            raise Problem(404, NO_PROCESS, code="no-live-process")
        return HttpResponseRedirect(settings.LIVE_URL + request.get_full_path(), status=307)


def _waits_for(what: str, path: str, serializer: type, scheme: str = "token") -> Any:
    """Return the decorator that describes a view in the schema."""
    return extend_schema_view(
        get=extend_schema(
            summary=f"Wait for a {what}",
            description=DESCRIPTION.format(what=what, path=path),
            parameters=PARAMETERS,
            responses={
                200: serializer,
                304: OpenApiResponse(description="not changed within the wait"),
                307: OpenApiResponse(description="served at the address in Location"),
            },
            auth=[{scheme: []}],  # type: ignore[list-item]  # as OpenAPI writes a security requirement
        )
    )


@_waits_for("list of exchanges", "/api/v1/agents/exchanges/", ExchangesSerializer, "agent")
class LiveAgentExchanges(Redirected):
    """The exchanges that wait for an agent."""


@_waits_for("submission", "/api/v1/submissions/<id>/", SubmissionSerializer)
class LiveSubmission(Redirected):
    """The state of a submission."""


@_waits_for("dispatch", "/api/v1/lab/dispatches/<id>/", DispatchDetailSerializer)
class LiveDispatch(Redirected):
    """The state of a dispatch."""


@_waits_for("campaign", "/api/v1/lab/campaigns/<id>/", CampaignDetailSerializer)
class LiveCampaign(Redirected):
    """The state of a campaign."""
