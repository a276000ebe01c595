"""Counts that read whole tables: a periodic task stores them in Redis, and /metrics only reads the last ones."""

import json
import time
from typing import Any

from django.db.models import Count, Max, Sum

from results.lifecycle.submission_states import SubmissionState, with_state
from results.models import Evidence, Reading, Submission
from runners.models import Dispatch
from runners.models.states import State
from webapp.access_limits.shared_limits import failures_reported, redis

KEY = "drivecert:tallies"
RETENTION_S = 7 * 86_400  # so that the alert on old counts can fire for a week
SHARE = 100  # the task counts again after 100 times as long as it took: it uses at most 1 % of a processor
PAUSE_MAX_S = 1200  # sooner than the limit of the alert TalliesOld


def count_all() -> dict[str, Any]:
    """Return the numbers of all readings, submissions and dispatches by state, and the bytes of the evidence."""
    distinct = Evidence.objects.values("sha256").annotate(bytes=Max("size_bytes"))
    evidence = distinct.aggregate(bytes_sum=Sum("bytes"), files=Count("sha256"))
    return {
        "readings": _by_state(Reading.objects.all(), Reading.State.values),
        "submissions": _by_state(with_state(Submission.objects.all()), SubmissionState.values),
        "dispatches": _by_state(Dispatch.objects.order_by(), State.values),
        "evidence_bytes": int(evidence["bytes_sum"] or 0),
        "evidence_files": evidence["files"],
    }


def _by_state(rows: Any, states: list[str]) -> dict[str, int]:
    return dict.fromkeys(states, 0) | dict(rows.values_list("state").annotate(Count("pk")))


def update_tallies() -> bool:
    """Count and store everything, unless the last count was costly and not long ago. Return whether it counted."""
    last = stored_tallies()
    if last and time.time() - last["at"] < min(last["seconds"] * SHARE, PAUSE_MAX_S):
        return False
    started = time.monotonic()
    tallies = count_all()
    tallies |= {"at": time.time(), "seconds": time.monotonic() - started}
    with failures_reported():
        redis().set(KEY, json.dumps(tallies), ex=RETENTION_S)
    return True


def stored_tallies() -> dict[str, Any] | None:
    """Return the last counts; None before the first. Raises LimitsDownError without Redis."""
    with failures_reported():
        text = redis().get(KEY)
    return json.loads(text) if text else None
