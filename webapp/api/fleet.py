"""The fleet check for scripts: a list of drives as the body, an answer for each. Nothing is stored."""

from typing import IO, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from webapp.api.authentication import ReadThrottle
from webapp.api.problems import TooLargeProblem
from webapp.register.fleet.answers import answers, counts
from webapp.register.fleet.drives import FleetError, read_drives
from webapp.register.fleet.views import LIST_BYTES_MAX, NO_STORE, SCHEMA, TOO_LARGE, decoded, values_of
from webapp.register.products.model_index import register_index


class AnyParser(BaseParser):
    """Accepts a body of any content type: tools print JSON, tables are CSV, and both are sent as text."""

    media_type = "*/*"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> dict[str, bytes]:
        """Return the bytes under the key `list`. Raises TooLargeProblem if the list is too long."""
        content = stream.read(LIST_BYTES_MAX + 1)
        if len(content) > LIST_BYTES_MAX:
            raise TooLargeProblem(TOO_LARGE)
        return {"list": content}


class FleetCheck(APIView):
    """The state in the register of each drive of a list."""

    permission_classes = [AllowAny]
    parser_classes = [AnyParser]
    throttle_classes = [ReadThrottle]

    @extend_schema(
        summary="Check a list of drives",
        description="The body is what `nvme list -o json`, `lsblk -O -J` or `smartctl -j` print, or CSV with a column "
        "model; a column count gives the number of drives of a row. States: certified, other-firmware, tested, "
        "published, withdrawn, unknown. Nothing is stored.",
        request={"application/json": OpenApiTypes.STR, "text/csv": OpenApiTypes.STR},
        responses={200: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request) -> Response:
        """Return the state of every drive; 400 with a reason if the body is not a list."""
        content = request.data.get("list", b"") if isinstance(request.data, dict) else b""
        try:
            found = answers(read_drives(decoded(content)), register_index())
        except FleetError as error:
            raise ParseError(str(error)) from error
        counts_by_state = {state.value: number for state, _, number, _ in counts(found)}
        body = {"schema": SCHEMA, "counts": counts_by_state, "rows": [values_of(each) for each in found]}
        return Response(body, headers={"Cache-Control": NO_STORE})
