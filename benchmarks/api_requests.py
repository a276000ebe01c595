"""Hooks of schemathesis: tokens and addresses take turns, so that no rate limit refuses a request."""

import itertools
import os
from typing import Any

import schemathesis

TOKENS = os.environ.get("CONFORMANCE_TOKENS", "").split()
numbers, turns = itertools.count(), itertools.cycle(TOKENS)


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """Send each request from another network, as a proxy in front of the register states it."""
    number = next(numbers)
    case.headers["X-Forwarded-For"] = f"10.{number // 200 % 200}.{number % 200}.9"


if TOKENS:

    @schemathesis.auth(refresh_interval=None)  # type: ignore[untyped-decorator,unused-ignore]
    class Token:
        """The next token of the role."""

        def get(self, _case: Any, _context: Any) -> str:
            return next(turns)

        def set(self, case: Any, data: str, _context: Any) -> None:
            case.headers["Authorization"] = f"Bearer {data}"
