"""A WSGI program that only returns one body with its headers, as a baseline for measuring a server."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESPONSE = json.loads(Path(os.environ["BARE_ANSWER"]).read_text()) if "BARE_ANSWER" in os.environ else {}
HEADERS = [(name, value) for name, value in RESPONSE.get("headers", [])]
CONTENT = Path(RESPONSE["content"]).read_bytes() if RESPONSE else b""


def application(_environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Return the fixed response."""
    start_response("200 OK", HEADERS)
    return [CONTENT]
