"""Groups of metrics. Each group is one function: it either returns all of its metrics, or raises.

A new group is a function here and a row in GROUPS. docs/reference/metrics.md lists the metrics, and a test compares
both. Labels have few values: no label names an organisation, a product, a host or a run.
"""

import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Case, Count, F, Max, Min, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from results.evidence.store import free_bytes
from results.models import DraftReading, Evidence, Reading, Scrub, ScrubFault
from runners.models import Dispatch, Host, HostOutage
from runners.models.states import FINAL, LIVE, State
from webapp.access_limits.shared_limits import failures_reported, redis
from webapp.backup.models import Backup
from webapp.celery import PARTS, REMEMBERED_S, WORKER_TTL_S, beat_limit_s, silences_s
from webapp.monitoring.page_times import page_times
from webapp.monitoring.tallies import stored_tallies
from webapp.notices.models import Mail, Notice
from webapp.register.dumps.store import dumps_directory, newest_day
from webapp.register.snapshots.store import COMPARED_AT
from webapp.webhooks.models import UNFINISHED, Delivery

STORE_ANSWER_S = 3  # a client of object storage waits for a minute, and a scrape for 10 s
MISSED_CHECKS = 3  # as runners/inventory/health.py: a host without a check for three periods gets no work
BEFORE_THE_FIRST = "; before the first one, since the first evidence came."


@dataclass(frozen=True)
class Group:
    """A named function that returns metrics. Without a database, those that need it are not called."""

    name: str
    collect: Callable[[], Iterable[Metric]]
    needs_database: bool = True


def gauge(name: str, text: str, samples: Mapping[str, float] | float | None, label: str = "") -> Metric:
    """Return a gauge with one value, or with one for each value of its label; None is a value that is not known."""
    family = GaugeMetricFamily(f"drivecert_{name}", text, labels=[label] if label else None)
    if isinstance(samples, Mapping):
        for value, number in samples.items():
            family.add_metric([value], number)
    elif samples is not None:
        family.add_metric([], samples)
    return family


def heartbeats() -> Iterator[Metric]:
    """Yield how long each part has been silent, and its limit."""
    with failures_reported():
        silences = silences_s(redis())
    limits = dict.fromkeys(PARTS, float(WORKER_TTL_S)) | {"beat": float(beat_limit_s())}
    heard = {part: silences.get(part, float(REMEMBERED_S)) for part in PARTS}
    text = "Time since the last sign of life of a part; a week if there was none."
    yield gauge("heartbeat_silence_seconds", text, heard, "part")
    yield gauge("heartbeat_limit_seconds", "The longest silence of a part that is alive.", limits, "part")


def readings() -> Iterator[Metric]:
    """Yield the queue of readings: the partial indexes of unfinished readings serve these queries."""
    waiting = {
        "submission": _waiting(Reading.objects.unfinished()),
        "draft": _waiting(DraftReading.objects.unfinished()),
    }
    yield from _queue("readings", "readings", waiting)


def deliveries() -> Iterator[Metric]:
    """Yield the queues of notices, mails and messages to webhooks."""
    mails = Mail.objects.filter(state__in=[Mail.State.PENDING, Mail.State.SENDING])
    messages = Delivery.objects.filter(state__in=UNFINISHED, webhook__ended_at__isnull=True)
    waiting = {
        "notice": _waiting(Notice.objects.filter(state=Notice.State.WAITING)),
        "mail": _waiting(mails),
        "webhook": _waiting(messages, "queued_at"),
    }
    yield from _queue("deliveries", "notices, mails and messages to webhooks", waiting)


def _queue(name: str, what: str, waiting: Mapping[str, tuple[int, float]]) -> Iterator[Metric]:
    counts = {kind: count for kind, (count, _) in waiting.items()}
    ages = {kind: age_s for kind, (_, age_s) in waiting.items()}
    yield gauge(f"{name}_waiting", f"Number of {what} that are not done, by kind.", counts, "kind")
    yield gauge(f"{name}_oldest_seconds", f"Age of the oldest of the waiting {what}, by kind.", ages, "kind")


def _waiting(rows: QuerySet[Any], since: str = "created_at") -> tuple[int, float]:
    found = rows.aggregate(count=Count("pk"), oldest=Min(since))
    return found["count"], _age_s(found["oldest"])


def _age_s(moment: datetime | None) -> float:
    return max(0.0, (timezone.now() - moment).total_seconds()) if moment else 0.0


def dispatches() -> Iterator[Metric]:
    """Yield the dispatches that are not final, by the index of due ones, and the open outages."""
    unfinished = Dispatch.objects.exclude(state__in=sorted(FINAL - {State.LOST})).order_by()
    open_ones = unfinished.filter(~Q(state=State.LOST) | Q(ended_at__isnull=True))
    states = [state for state in State.values if state not in FINAL or state == State.LOST]
    found = dict(open_ones.values_list("state").annotate(Count("pk")))
    text = "Number of dispatches that are not over, by state; a lost one is over when nothing of it runs."
    yield gauge("dispatches_unfinished", text, dict.fromkeys(states, 0) | found, "state")
    late = Dispatch.objects.filter(state__in=LIVE).aggregate(oldest=Min("next_poll_at"))["oldest"]
    yield gauge("dispatch_poll_delay_seconds", "How late the poll is that is due for longest.", _age_s(late))
    open_count = HostOutage.objects.filter(until=None).count()
    yield gauge("outages_open", "Number of open outages of lab hosts on which dispatches depend.", open_count)


def hosts() -> Iterator[Metric]:
    """Yield the number of lab hosts by state, and the longest silence of a remote host in service."""
    period_s = settings.HOST_CHECK_PERIOD_S
    since = Coalesce(F("checked_at"), F("added_at"))
    late = timezone.now() - timedelta(seconds=MISSED_CHECKS * period_s)
    state = Case(
        When(retired_at__isnull=False, then=Value("retired")),
        When(kind=Host.Kind.LOCAL, then=Value("local")),
        When(checked_at__isnull=True, then=Value("unchecked")),
        When(Q(silent_checks__gt=0) | Q(checked_at__lt=late), then=Value("silent")),
        When(~Q(objections=[]), then=Value("refused")),
        default=Value("working"),
    )
    rows = Host.objects.annotate(state=state, silence=Now() - since).values("state").order_by("state")
    found = {row["state"]: row for row in rows.annotate(count=Count("pk"), longest=Max("silence"))}
    states = ("working", "refused", "silent", "unchecked", "local", "retired")
    counts = {name: found[name]["count"] if name in found else 0 for name in states}
    yield gauge("hosts", "Number of lab hosts by state.", counts, "state")
    longest = [row["longest"].total_seconds() for name, row in found.items() if name not in {"local", "retired"}]
    text = "Time since the last check of the remote host that was checked first."
    yield gauge("host_oldest_check_seconds", text, max(longest, default=0.0))


def database() -> Iterator[Metric]:
    """Yield the connections to the database, and its size."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'none'), count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() GROUP BY 1"
        )
        by_state: dict[str, int] = dict(cursor.fetchall())
        cursor.execute("SELECT current_setting('max_connections')::int, pg_database_size(current_database())")
        limit, size_bytes = cursor.fetchone()
    active, idle = by_state.get("active", 0), by_state.get("idle", 0)
    connections = {"active": active, "idle": idle, "other": sum(by_state.values()) - active - idle}
    yield gauge("database_connections", "Connections to the register's database, by state.", connections, "state")
    yield gauge("database_connections_limit", "max_connections of the PostgreSQL server.", limit)
    yield gauge("database_bytes", "Size of the database.", size_bytes)


def storage() -> Iterator[Metric]:
    """Yield the space of the file system of the data directory."""
    usage = shutil.disk_usage(settings.DATA_DIR)
    yield gauge("disk_free_bytes", "Free space of the file system of the data directory.", usage.free)
    yield gauge("disk_size_bytes", "Size of the file system of the data directory.", usage.total)


class _StoreRequest:
    """The request to the evidence store that is under way. It may outlast a scrape, and has a thread of its own."""

    pending: "Future[int | None] | None" = None

    @classmethod
    def free_bytes(cls) -> int | None:
        """Return the answer. Raises TimeoutError without one, and the errors of the store."""
        if cls.pending is None or cls.pending.done():
            cls.pending = Future()
            threading.Thread(target=cls._ask, args=(cls.pending,), daemon=True).start()
        return cls.pending.result(STORE_ANSWER_S)

    @staticmethod
    def _ask(pending: "Future[int | None]") -> None:
        try:
            pending.set_result(free_bytes())
        except Exception as error:  # noqa: BLE001 - raised again where the result is read
            pending.set_exception(error)


def evidence_store() -> Iterator[Metric]:
    """Yield the free space of the evidence store. Raises an error if it does not answer within STORE_ANSWER_S."""
    free = _StoreRequest.free_bytes()
    yield gauge("evidence_free_bytes", "Free space of the evidence store; object storage does not state it.", free)


def snapshots() -> Iterator[Metric]:
    """Yield the ages of the snapshot and of the newest dump."""
    compared_s = _file_age_s(settings.SNAPSHOT_DIR / COMPARED_AT)
    text = "Time since the snapshot was compared with the register" + BEFORE_THE_FIRST
    yield gauge("snapshot_age_seconds", text, _first_evidence_age_s() if compared_s is None else compared_s)
    day = newest_day()
    written_s = _file_age_s(dumps_directory() / day) if day else None
    text = "Time since the newest dump was written" + BEFORE_THE_FIRST
    yield gauge("dump_age_seconds", text, _first_evidence_age_s() if written_s is None else written_s)


def _file_age_s(path: Path) -> float | None:
    with suppress(FileNotFoundError):
        return max(0.0, time.time() - path.stat().st_mtime)
    return None


def _first_evidence_age_s() -> float | None:
    """Return the age of the first evidence: what was never done since then is as late as that. None without one."""
    oldest = Evidence.objects.order_by("pk").values_list("received_at", flat=True).first()
    return _age_s(oldest) if oldest else None


def stored_files() -> Iterator[Metric]:
    """Yield what the scrub found, and how old its last pass and the last complete backup are."""
    faults_count = ScrubFault.objects.filter(closed_at=None).count()
    yield gauge("stored_file_faults", "Number of stored files that are missing or damaged.", faults_count)
    scrub = Scrub.objects.filter(ended_at__isnull=False).order_by("-ended_at").first()
    backup = Backup.last_good()
    first_s = _first_evidence_age_s()
    text = "Time since the last complete {}" + BEFORE_THE_FIRST
    ended_s = _age_s(scrub.ended_at) if scrub else first_s
    yield gauge("scrub_age_seconds", text.format("pass of the scrub ended"), ended_s)
    began_s = _age_s(backup.started_at) if backup else first_s
    yield gauge("backup_age_seconds", text.format("backup began"), began_s)


def tallies() -> Iterator[Metric]:
    """Yield the last counts of whole tables, which a periodic task makes; without them there is no value."""
    found = stored_tallies() or {}
    yield gauge("readings", "Number of readings of submissions, by state.", found.get("readings", {}), "state")
    yield gauge("submissions", "Number of submissions, by state.", found.get("submissions", {}), "state")
    yield gauge("dispatches", "Number of dispatches, by state.", found.get("dispatches", {}), "state")
    yield gauge("evidence_bytes", "Size of all stored evidence.", found.get("evidence_bytes"))
    yield gauge("evidence_files", "Number of files of stored evidence.", found.get("evidence_files"))
    age_s = max(0.0, datetime.now(UTC).timestamp() - found["at"]) if found else None
    yield gauge("tallies_age_seconds", "Time since the values of this group were counted.", age_s)


GROUPS = (
    Group("heartbeats", heartbeats, needs_database=False),
    Group("pages", page_times, needs_database=False),
    Group("tallies", tallies, needs_database=False),
    Group("storage", storage, needs_database=False),
    Group("evidence_store", evidence_store, needs_database=False),
    Group("snapshots", snapshots),
    Group("stored_files", stored_files),
    Group("readings", readings),
    Group("deliveries", deliveries),
    Group("dispatches", dispatches),
    Group("hosts", hosts),
    Group("database", database),
)
