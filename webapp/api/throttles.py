"""How often one sender may ask. Counted per server process: enough against a script that runs away."""

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView


class SenderThrottle(SimpleRateThrottle):
    """Counts by token, or by address where there is none."""

    def get_cache_key(self, request: Request, view: APIView) -> str:
        sender = f"token-{request.auth.pk}" if request.auth else self.get_ident(request)
        return self.cache_format % {"scope": self.scope, "ident": sender}


class ReadThrottle(SenderThrottle):
    """Pages of rows: ten a second is more than a person or a fair script needs."""

    scope = "read"
    rate = "600/min"


class SubmitThrottle(SenderThrottle):
    """Logs: a campaign sends a few an hour."""

    scope = "submit"
    rate = "60/min"


class IntervalsThrottle(SenderThrottle):
    """Windows of a run: a person who drags over a chart asks one or two a second."""

    scope = "intervals"
    rate = "120/min"


class ValidateThrottle(SenderThrottle):
    """Readings while the sender waits: each holds a server thread for as long as it takes."""

    scope = "validate"
    rate = "20/min"
