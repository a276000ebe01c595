"""A WSGI program that does nothing but answer with one body and its headers, to measure a server by."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESPONSE = json.loads(Path(os.environ["BARE_ANSWER"]).read_text()) if "BARE_ANSWER" in os.environ else {}
HEADERS = [(name, value) for name, value in RESPONSE.get("headers", [])]
CONTENT = Path(RESPONSE["content"]).read_bytes() if RESPONSE else b""


def application(_environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer."""
    start_response("200 OK", HEADERS)
    return [CONTENT]
