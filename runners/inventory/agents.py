"""Agents of lab hosts: how one joins with a code, proves who it is with its secret, and is revoked.

An operator's page shows the join code once. The agent generates its secret itself and sends its hash: the register
stores neither code nor secret.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from results.history import record_event
from runners.errors import RequestRefusedError
from runners.inventory.enrolment import SHA256, check_replaceable
from runners.inventory.service_state import SUBJECT_ID_CHARS
from runners.models import Agent, AgentExchange, Host
from runners.models.agent import VERSION_CHARS
from runners.models.postgres import lock_host, storable

CODE_PREFIX = "dcj_"  # by which scanners recognise a join code; so a code never looks like an option
CODE_LIFETIME = timedelta(hours=1)
# The time of the last request is stored once in this period: an agent sends some requests per exchange.
SEEN_PERIOD = timedelta(seconds=10)
# Written once: a thousand agents poll, and Django would compose it for each poll.
WAITING = f"""
SELECT a.id, a.public_id, a.seen_at, h.program_sha256, x.public_id, x.payload
FROM "{Agent._meta.db_table}" a JOIN "{Host._meta.db_table}" h ON h.id = a.host_id
LEFT JOIN "{AgentExchange._meta.db_table}" x
    ON x.host_id = a.host_id AND x.answered_at IS NULL AND x.expires_at > statement_timestamp()
WHERE a.secret_hash = %s AND a.secret_hash <> '' ORDER BY x.id LIMIT %s
"""  # noqa: S608 - the models' own names
UNKNOWN_CODE = "The join code is unknown, used or expired. Print a new command on the page of the host."
FOREIGN_SECRET = (
    "Another host's agent has joined with this secret. Delete /etc/drivecert/agent.toml on this host, and print a new "
    "command on the page of the host."
)


class JoinRefusedError(RequestRefusedError):
    """An agent may not join. The text says what to do on the page of the host."""

    code = "join-refused"


def enrol_agent_host(name: str, actor: AbstractBaseUser | None) -> tuple[Host, str]:
    """Add a host that its agent reaches, and return it with a join code. For an agent host, return a new code.

    Raise RequestRefusedError if the name belongs to another kind of host or a retired one, and while a run may be
    active there.
    """
    with transaction.atomic():
        host, is_new = Host.objects.get_or_create(name=name, defaults={"kind": Host.Kind.AGENT})
        if host.kind != Host.Kind.AGENT:
            raise RequestRefusedError(
                f"{name}: expected an agent host, found one {host.get_kind_display()}; choose another name",
                "name-taken",
            )
        if is_new:
            Agent.objects.create(host=host, created_by_id=actor.pk if actor else None)
            _record(actor, "host-added", host, kind=host.kind)
        return host, new_join_code(host, actor)


def new_join_code(host: Host, actor: AbstractBaseUser | None) -> str:
    """Return a new join code of an agent host, valid for an hour. Earlier codes end. The secret stays until it is used.

    Raise RequestRefusedError if the host is retired, and while a run may be active there: another machine may join.
    """
    code = CODE_PREFIX + secrets.token_hex(20)
    with transaction.atomic():
        check_replaceable(host)
        columns = {"code_hash": _hash(code), "code_expires_at": timezone.now() + CODE_LIFETIME}
        Agent.objects.filter(host=host).update(**columns)
        _record(actor, "host-join-code-created", host)
    return code


def join(code: str, secret_sha256: str, program_sha256: str, version: str) -> Agent:
    """Let the agent with a code join with the hash of its secret. The first secret uses up the code.

    The same code with the same secret returns the agent again: the response may have been lost. The first program of a
    host is pinned. Raise JoinRefusedError if the code is of no use, and ValueError for a text that is no hash.
    """
    for digest in (secret_sha256, program_sha256):
        if not SHA256.fullmatch(digest):
            raise ValueError(f"Expected 64 hexadecimal digits in lower case, got {digest[:80]!r}.")
    with transaction.atomic():
        agent = _lock_agent_of(code)
        if agent is None:
            raise JoinRefusedError(UNKNOWN_CODE)
        if agent.code_expires_at is None and agent.secret_hash == secret_sha256:
            return agent
        if agent.code_expires_at is None or agent.code_expires_at <= timezone.now():
            raise JoinRefusedError(UNKNOWN_CODE)
        if Agent.objects.filter(secret_hash=secret_sha256).exclude(pk=agent.pk).exists():
            raise JoinRefusedError(FOREIGN_SECRET)
        _join(agent, secret_sha256, program_sha256, version)
    return agent


def _lock_agent_of(code: str) -> Agent | None:
    """Return the agent with a code and lock it, after its host, as all who change one do; None for an unknown code."""
    found = Agent.objects.filter(code_hash=_hash(code))
    if (known := found.first()) is None:
        return None
    lock_host(known.host_id)
    return found.select_related("host").select_for_update().first()


def _join(agent: Agent, secret_sha256: str, program_sha256: str, version: str) -> None:
    """Store the secret of an agent. Forget the reports of the host: it may be another machine."""
    host = agent.host
    try:
        check_replaceable(host)
    except ValueError as error:
        raise JoinRefusedError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
    agent.secret_hash, agent.code_expires_at = secret_sha256, None
    agent.joined_at, agent.seen_at, agent.revoked_at = timezone.now(), None, None
    agent.version = storable(version)[:VERSION_CHARS]
    agent.save()
    host.exchanges.all().delete()
    host.program_sha256 = host.program_sha256 or program_sha256
    host.health, host.objections, host.checked_at, host.silent_checks = {}, [], None, 0
    host.save(update_fields=["program_sha256", "health", "objections", "checked_at", "silent_checks"])
    Host.objects.filter(pk=host.pk).update(next_check_at=Now())
    _record(None, "host-agent-joined", host, program_sha256=program_sha256, version=agent.version)


def revoke(host: Host, actor: AbstractBaseUser | None) -> None:
    """End the secret of a host's agent, and its join code, at once. Runs that it started go on."""
    with transaction.atomic():
        agents = Agent.objects.filter(host=host).exclude(secret_hash="", code_hash="")
        ended = {"secret_hash": "", "code_hash": "", "code_expires_at": None, "revoked_at": timezone.now()}
        if agents.update(**ended):
            # Until its next check a host that nobody can reach would still be given work.
            Host.objects.filter(pk=host.pk).update(checked_at=None, next_check_at=Now())
            _record(actor, "host-agent-revoked", host)


def pin_program(host: Host, program_sha256: str, actor: AbstractBaseUser | None) -> None:
    """Expect another drivetest on an agent host from now on. The health check objects to the earlier one.

    Raise ValueError for a text that is no hash, and RequestRefusedError if the host is retired or a run may be active
    there.
    """
    if not SHA256.fullmatch(program_sha256):
        raise ValueError(f"Expected 64 hexadecimal digits, as sha256sum prints, got {program_sha256[:80]!r}.")
    with transaction.atomic():
        check_replaceable(host)
        Host.objects.filter(pk=host.pk).update(program_sha256=program_sha256, checked_at=None, next_check_at=Now())
        _record(actor, "host-pinned-anew", host, program_sha256=program_sha256)


def authenticate(secret: str) -> Agent | None:
    """Return the agent that a secret belongs to, and note that it was seen; None if it is unknown or revoked."""
    agent = Agent.objects.select_related("host").filter(secret_hash=_hash(secret)).first()
    if agent is not None:
        _record_seen(agent.pk, agent.seen_at)
    return agent


@dataclass(frozen=True)
class WaitingExchanges:
    """The exchanges that wait for an agent, by public id, oldest first, and the program that its host shall have."""

    agent_pk: int
    agent_id: str
    program_sha256: str
    payloads: dict[str, bytes]


def waiting_exchanges(secret: str, limit: int) -> WaitingExchanges | None:
    """Return what waits for the agent that a secret belongs to, as `authenticate`, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(WAITING, [_hash(secret), limit])
        rows = cursor.fetchall()
    if not rows:
        return None
    pk, public_id, seen_at, program_sha256, *_ = rows[0]
    _record_seen(pk, seen_at)
    payloads = {exchange: bytes(payload) for *_, exchange, payload in rows if exchange is not None}
    return WaitingExchanges(pk, public_id, program_sha256, payloads)


def _record_seen(agent_pk: int, seen_at: datetime | None) -> None:
    now = timezone.now()
    if seen_at is None or seen_at <= now - SEEN_PERIOD:
        is_due = Q(seen_at=None) | Q(seen_at__lte=now - SEEN_PERIOD)
        Agent.objects.filter(is_due, pk=agent_pk).update(seen_at=now)


def _hash(secret: str) -> str:
    """Return the digest under which a code or a secret is stored. Both are random, so no slow hash is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _record(actor: AbstractBaseUser | None, event_kind: str, host: Host, **details: str) -> None:
    record_event(actor, event_kind, ("host", host.name[:SUBJECT_ID_CHARS]), details=details)
