"""The time between two polls of a running program."""

from django.conf import settings

from runners.models import Dispatch
from runners.models.states import State


def run_period_s() -> float:
    """Return the time between two polls of a running program: longer if so many run that polls would take all time."""
    running_count = Dispatch.objects.filter(state=State.RUNNING).count()
    return float(max(settings.WATCH_PERIOD_S, running_count / settings.RUN_POLLS_PER_S))
