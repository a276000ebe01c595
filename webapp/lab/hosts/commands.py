"""Actions of operators on hosts, for the pages and the API: check, join code, pin, revoke, retire, return.

Each raises RequestRefusedError with a code and a sentence.
"""

from django.conf import settings

from runners.errors import RequestRefusedError
from runners.inventory import agents, health
from runners.inventory.enrolment import own_program_sha256
from runners.inventory.service_state import OutOfServiceError, retired_message
from runners.models import Host
from runners.retention import retirement
from webapp.accounts.models import User


def check_host(host: Host) -> list[str]:
    """Check a remote host now, and return why it gets no work. Raises RequestRefusedError."""
    if not host.is_remote:
        raise RequestRefusedError(f"Host {host} is the register's own machine, which is not checked.", "not-remote")
    if retired := retired_message(host):
        raise OutOfServiceError(f"Host {host} is {retired}. Retired hosts are not checked.")
    return health.check(host)


def new_join_code(host: Host, actor: User) -> str:
    """Return a new join code for the agent of a host. Raises RequestRefusedError."""
    _require_agent(host)
    return agents.new_join_code(host, actor)


def pin_own_program(host: Host, actor: User) -> str:
    """Pin the register's own drivetest on an agent host, and return its SHA-256. Raises RequestRefusedError."""
    _require_agent(host)
    own = own_program_sha256()
    if not own:
        sentence = f"The register has no drivetest at {settings.DRIVETEST}. Build it first."
        raise RequestRefusedError(sentence, "program-missing")
    agents.pin_program(host, own, actor)
    return own


def revoke_agent(host: Host, actor: User) -> None:
    """Revoke the agent of a host: its secret and its join code stop working. Raises RequestRefusedError without one."""
    _require_agent(host)
    agents.revoke(host, actor)


def restore_host(host: Host, actor: User) -> None:
    """Return a host to service. Raises RequestRefusedError if it is in service."""
    if not retirement.return_to_service(host, actor):
        raise RequestRefusedError(f"Host {host} is already in service.", "in-service")


def _require_agent(host: Host) -> None:
    if host.kind != Host.Kind.AGENT:
        sentence = f"Expected a host with an agent; host {host} is {host.get_kind_display()}."
        raise RequestRefusedError(sentence, "no-agent")
