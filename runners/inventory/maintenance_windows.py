"""Maintenance windows: planning, ending, and the window that blocks a queued run.

A pause of the lab is a current window of all hosts.
"""

from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from results.history import record_event
from runners.errors import RequestRefusedError
from runners.inventory.service_state import SUBJECT_ID_CHARS
from runners.models import Dispatch, Host, MaintenanceWindow
from runners.models.postgres import storable

PLANNED, ENDED = "maintenance-planned", "maintenance-ended"
REASON_CHARS_MAX = 500


def plan_window(
    host: Host | None, starts_at: datetime, ends_at: datetime | None, reason: str, actor: AbstractBaseUser
) -> MaintenanceWindow:
    """Plan a window of a host, or of all hosts. Raise RequestRefusedError without a reason or for a past period."""
    why = storable(reason.strip())[:REASON_CHARS_MAX]
    if not why:
        raise RequestRefusedError("Enter the reason for the maintenance. Waiting runs show it.", "reason-missing")
    if ends_at is not None and ends_at <= max(starts_at, timezone.now()):
        sentence = f"Expected an end after the start and after now, got {ends_at:%-d %B %Y, %H:%M} UTC."
        raise RequestRefusedError(sentence, "period-invalid")
    with transaction.atomic():
        window = MaintenanceWindow.objects.create(host=host, starts_at=starts_at, ends_at=ends_at, reason=why)
        _record(window, PLANNED, actor)
    return window


def end_window(window: MaintenanceWindow, actor: AbstractBaseUser) -> bool:
    """End a window now, also one that has not begun. Return False if it has ended already."""
    now = timezone.now()
    with transaction.atomic():
        found = MaintenanceWindow.objects.select_for_update().filter(_unfinished(now), pk=window.pk).first()
        if found is None:
            return False
        # The event keeps the planned period.
        _record(found, ENDED, actor)
        MaintenanceWindow.objects.filter(pk=found.pk).update(starts_at=min(found.starts_at, now), ends_at=now)
    return True


def current_and_planned(host: Host | None = None) -> QuerySet[MaintenanceWindow]:
    """Return the windows that have not ended: of a host and of all hosts; without a host, those of all hosts only."""
    windows = MaintenanceWindow.objects.filter(_unfinished(timezone.now())).select_related("host")
    return windows.filter(Q(host=None) | Q(host=host)) if host else windows.filter(host=None)


def current_pause() -> MaintenanceWindow | None:
    """Return the pause of the whole lab; None while runs may start."""
    return current_and_planned().filter(starts_at__lte=timezone.now()).first()


def blocking_window(dispatch: Dispatch) -> MaintenanceWindow | None:
    """Return a window that a run would reach into if it started now; None if it may start.

    The end of a run without an ordered time is not known: only windows that have begun keep it from starting.
    """
    now = timezone.now()
    until = now + timedelta(seconds=dispatch.duration_s or 0)
    hosts = [each for each in (dispatch.device.host_id, dispatch.load_host_id) if each is not None]
    windows = MaintenanceWindow.objects.filter(Q(host=None) | Q(host__in=hosts), _unfinished(now))
    return windows.filter(starts_at__lte=until).select_related("host").first()


def window_message(window: MaintenanceWindow) -> str:
    """Return why a run waits for a window, such as "host lab-1 has maintenance from ... to ...: new firmware"."""
    subject = "the lab" if window.host is None else f"host {window.host}"
    end = "until a person ends it" if window.ends_at is None else f"to {window.ends_at:%-d %B %Y, %H:%M} UTC"
    return f"{subject} has maintenance from {window.starts_at:%-d %B %Y, %H:%M} UTC {end}: {window.reason}"


def _unfinished(now: datetime) -> Q:
    return Q(ends_at=None) | Q(ends_at__gt=now)


def _record(window: MaintenanceWindow, kind: str, actor: AbstractBaseUser) -> None:
    subject = ("lab", "all") if window.host is None else ("host", window.host.name[:SUBJECT_ID_CHARS])
    ends_at = window.ends_at and window.ends_at.isoformat()
    details = {"window": window.pk, "starts_at": window.starts_at.isoformat(), "ends_at": ends_at}
    record_event(actor, kind, subject, window.reason, details)
