"""Endpoints of the agents of lab hosts: they join with a code, fetch requests, answer them, and fetch drivetest."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models.functions import Now
from django.http import FileResponse, HttpResponse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotFound
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runners.hosts.wire import ANSWER_BYTES_MAX
from runners.inventory.agents import JoinRefusedError, WaitingExchanges, authenticate, join, waiting_exchanges
from runners.inventory.enrolment import own_program_sha256
from runners.models import Agent, AgentExchange
from runners.models.agent import VERSION_CHARS
from webapp.access_limits.shared_limits import LimitReachedError, LimitsDownError
from webapp.accounts.tokens.rules import SCHEME, bearer_secret
from webapp.api.authentication import SenderThrottle
from webapp.api.problems import Problem
from webapp.api.views import View
from webapp.register.http.responses import PRIVATE

EXCHANGES_SHOWN = 16
REVOKED = "The register does not know this agent, or has revoked it. Print a new command on the page of the host."
LATE = "No worker waits for this answer any more: the time of the exchange is over, or it is not of this host."
TOO_LONG = "Expected at most {most} bytes of answer, got more."
NO_PROGRAM = "This register has no drivetest to offer. Build one (`make drivetest-static`) and copy it to the host."
OTHER_PROGRAM = "This register's drivetest has the SHA-256 {own}. Pin that one on the page of the host."
OCTETS = "application/octet-stream"
DIGEST_CHARS = 16


class AgentAuthentication(BaseAuthentication):
    """`Authorization: Bearer <agent secret>`. It opens the exchanges of one host and nothing else."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Agent] | None:
        """Return the agent that sends; None without the header."""
        secret = bearer_secret(request.headers.get("Authorization", ""))
        if secret is None:
            return None
        agent = authenticate(secret)
        if agent is None:
            raise AuthenticationFailed(REVOKED)
        return AnonymousUser(), agent

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return f'{SCHEME} realm="drivecert agents"'


class IsAgent(BasePermission):
    """Only an agent, which `request.auth` names; it is no user."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, Agent)


class AgentScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The authentication of agents, as the schema describes it."""

    target_class = AgentAuthentication
    name = "agent"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Return an OpenAPI security scheme."""
        return {"type": "http", "scheme": "bearer", "description": "The secret that the agent generated."}


class AgentThrottle(SenderThrottle):
    """The limit for one agent: while it sends a log, it answers some exchanges a second."""

    scope = "agent"
    rate = "6000/min"

    @staticmethod
    def sender_of(agent_pk: int) -> str:
        """Return the name by which an agent is counted."""
        return f"agent-{agent_pk}"

    def _sender(self, request: Request) -> str:
        return self.sender_of(request.auth.pk) if request.auth else super()._sender(request)


class JoinThrottle(SenderThrottle):
    """The limit for tries of join codes, by the network of the client."""

    scope = "join"
    rate = "20/min"


class ProgramThrottle(SenderThrottle):
    """The limit for copies of the program: one for each host that is set up or updated."""

    scope = "program"
    rate = "60/min"


class OctetParser(BaseParser):
    """The bytes of an answer, as they are. One byte more than the longest answer is read at most."""

    media_type = OCTETS

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        """Return the body as `content`. Raises Problem if it is longer than any answer."""
        content = stream.read(ANSWER_BYTES_MAX + 1)
        if len(content) > ANSWER_BYTES_MAX:
            raise Problem(413, TOO_LONG.format(most=ANSWER_BYTES_MAX), code="answer-too-long")
        return {"content": content}


class JoinSerializer(serializers.Serializer[Any]):
    """The join code, the hash of the secret that the agent generated, and its program."""

    code = serializers.CharField(max_length=100, help_text="As the page of the host shows it once.")
    secret_sha256 = serializers.RegexField(r"\A[0-9a-f]{64}\Z", help_text="SHA-256 of the secret's text, in hex.")
    program_sha256 = serializers.RegexField(r"\A[0-9a-f]{64}\Z", help_text="SHA-256 of the agent's drivetest, in hex.")
    version = serializers.CharField(max_length=VERSION_CHARS)


class JoinedSerializer(serializers.Serializer[Any]):
    """The agent that has joined."""

    agent = serializers.CharField(help_text="Its id.")
    host = serializers.CharField(help_text="The name of its host.")
    live_url = serializers.CharField(help_text="The origin where agents wait for exchanges; empty: this one.")


class ExchangeSerializer(serializers.Serializer[Any]):
    """One batch of requests."""

    id = serializers.CharField()
    requests = serializers.CharField(help_text="The bytes for `drivetest host`, in base64.")


class ExchangesSerializer(serializers.Serializer[Any]):
    """The exchanges that wait for an agent."""

    agent = serializers.CharField()
    program_sha256 = serializers.CharField(help_text="Of the drivetest that the register expects on the host.")
    answer_within_s = serializers.IntegerField(help_text="So many seconds after its creation, an exchange is over.")
    exchanges = ExchangeSerializer(many=True)


class AgentList(View):
    """POST lets an agent join with the code of its host."""

    authentication_classes = ()
    permission_classes = [AllowAny]
    parser_classes = [JSONParser]
    throttle_classes = [JoinThrottle]

    @extend_schema(
        summary="Join as the agent of a host",
        description=(
            "POST stores the hash of an agent's secret for the host of a join code. The first secret uses up the code; "
            "the same request again has the same response. An unknown, used or expired code is refused with 403."
        ),
        request=JoinSerializer,
        responses={201: JoinedSerializer},
    )
    def post(self, request: Request) -> Response:
        stated = JoinSerializer(data=request.data)
        stated.is_valid(raise_exception=True)
        try:
            agent = join(**stated.validated_data)
        except JoinRefusedError as error:
            raise Problem(403, str(error), code=error.code) from error
        shown = {"agent": agent.public_id, "host": agent.host.name, "live_url": settings.LIVE_URL}
        return Response(JoinedSerializer(shown).data, 201, headers={"Cache-Control": PRIVATE})


class OfAgent(View):
    """The base of views that only an agent may use: each has access to its own host's exchanges."""

    authentication_classes = [AgentAuthentication]
    permission_classes = [IsAgent]
    throttle_classes = [AgentThrottle]

    @property
    def agent(self) -> Agent:
        """Return the agent that sends the request."""
        if not isinstance(self.request.auth, Agent):
            raise TypeError(f"{self.request.path}: expected an agent, got {self.request.auth!r}")
        return self.request.auth


class AgentExchangeList(OfAgent):
    """GET returns the exchanges that wait for an agent, oldest first."""

    @extend_schema(
        operation_id="agents_exchanges_list",
        summary="List the exchanges that wait for an agent",
        description=(
            f"GET returns at most {EXCHANGES_SHOWN} batches of requests to the agent's host, oldest first, that are "
            "neither answered nor over. /api/v1/live/agents/exchanges/ waits for the next one."
        ),
        responses=ExchangesSerializer,
    )
    def get(self, request: Request) -> Response:
        """Return the exchanges, with an ETag that names them: the live server finds new ones by it."""
        waiting = waiting_exchanges(bearer_secret(request.headers["Authorization"]) or "", EXCHANGES_SHOWN)
        if waiting is None:
            raise AuthenticationFailed(REVOKED)
        document, etag = exchanges_document(waiting)
        return Response(ExchangesSerializer(document).data, headers={"ETag": etag})


def quick_exchanges(secret: str, is_repeat: bool) -> HttpResponse | None:
    """Return what AgentExchangeList sends to a known agent within its rate, without the work of a view.

    A thousand idle agents poll some 27 times a second. None for all others: the view answers them.
    """
    waiting = waiting_exchanges(secret, EXCHANGES_SHOWN)
    if waiting is None:
        return None
    if not is_repeat:
        try:
            AgentThrottle().limit.take(AgentThrottle.sender_of(waiting.agent_pk))
        except (LimitReachedError, LimitsDownError):
            return None
    document, etag = exchanges_document(waiting)
    headers = {"ETag": etag, "Cache-Control": PRIVATE}
    return HttpResponse(JSONRenderer().render(document), content_type="application/json", headers=headers)


def exchanges_document(waiting: WaitingExchanges) -> tuple[dict[str, Any], str]:
    """Return the document of what waits for an agent, and its ETag."""
    shown = {
        "agent": waiting.agent_id,
        "program_sha256": waiting.program_sha256,
        "answer_within_s": settings.HOST_ANSWER_TIMEOUT_S,
    }
    exchanges = [{"id": each, "requests": b64encode(sent).decode()} for each, sent in waiting.payloads.items()]
    return {**shown, "exchanges": exchanges}, exchanges_etag(shown, waiting.payloads)


class AgentExchangeDetail(OfAgent):
    """PUT answers an exchange of the agent's host."""

    parser_classes = [OctetParser]

    @extend_schema(
        operation_id="agents_exchanges_update",
        summary="Answer an exchange",
        description=(
            f"PUT stores the output of `drivetest host`, at most {ANSWER_BYTES_MAX} bytes. The same answer may be sent "
            "again. 410 means that no worker waits for it any more."
        ),
        request={OCTETS: OpenApiTypes.BINARY},
        responses={204: OpenApiResponse(description="the answer is stored")},
    )
    def put(self, request: Request, public_id: str) -> Response:
        sent: Any = request.data  # empty for a body without a byte
        answer = sent["content"] if sent else b""
        own = AgentExchange.objects.filter(public_id=public_id, host=self.agent.host_id)
        is_stored = own.filter(answered_at=None, expires_at__gt=Now()).update(answer=answer, answered_at=Now())
        if not is_stored and not own.exclude(answered_at=None).exists():
            raise Problem(410, LATE, code="exchange-over")
        return Response(status=204)


def exchanges_etag(rest: Mapping[str, Any], ids: Iterable[str]) -> str:
    """Return the ETag of a list of exchanges: a digest of the rest of the document, and the ids."""
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:DIGEST_CHARS]
    return f'"{".".join([digest, *ids])}"'


def has_no_new_exchange(etag: str, known: Iterable[str]) -> bool:
    """Return whether one of the known ETags has the digest of an ETag and all its ids."""
    digest, *ids = _parts(etag)
    return any(digest == before and set(ids) <= set(earlier) for before, *earlier in map(_parts, known))


def _parts(etag: str) -> list[str]:
    return etag.removeprefix("W/").strip('"').split(".")


PROGRAM = {(200, OCTETS): OpenApiResponse(OpenApiTypes.BINARY, description="the program")}


class AgentProgram(View):
    """GET returns the register's own drivetest."""

    authentication_classes = ()
    permission_classes = [AllowAny]
    throttle_classes = [ProgramThrottle]

    @extend_schema(
        operation_id="agents_program_retrieve",
        summary="Fetch drivetest",
        description="GET returns the register's own drivetest for 64-bit Linux. The response is the file.",
        responses=PROGRAM,
    )
    def get(self, request: Request) -> FileResponse:
        return _program()


class AgentProgramVersion(AgentProgram):
    """GET returns the register's own drivetest if it has this SHA-256."""

    @extend_schema(
        operation_id="agents_program_by_hash_retrieve",
        summary="Fetch drivetest by its SHA-256",
        description="GET returns the register's own drivetest, or 404 if that has another SHA-256.",
        responses=PROGRAM,
    )
    def get(self, request: Request, sha256: str) -> FileResponse:  # type: ignore[override]
        own = own_program_sha256()
        if own and sha256 != own:
            raise Problem(404, OTHER_PROGRAM.format(own=own), code="other-program")
        return _program()


def _program() -> FileResponse:
    path = Path(settings.DRIVETEST)
    if not path.is_file():
        raise NotFound(NO_PROGRAM)
    return FileResponse(path.open("rb"), as_attachment=True, filename="drivetest", content_type=OCTETS)
