"""The host of files as they were received. The server asks before Django is set up, so nothing here imports models."""

from django.conf import settings


def is_evidence_host(host: str) -> bool:
    """Return whether a request names the host of EVIDENCE_ORIGIN, with or without its port."""
    own = settings.EVIDENCE_ORIGIN.partition("://")[2].lower()
    return bool(own) and host.lower() in {own, own.partition(":")[0]}
