"""Who answers during a look: each machine of a dispatch is listened to by itself, and charged with its own gaps."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from django.utils import timezone

from runners.errors import HostError, HostSilentError
from runners.hosts import Connect
from runners.hosts.protocol import LabHost
from runners.hosts.response_timer import Ear
from runners.models import Dispatch, Host
from runners.monitoring import gaps

# When a machine answered this process last, about whatever dispatch. A heartbeat is kept every few seconds only.
_last_answers: dict[int, datetime] = {}


class Hearing:
    """The ways to the machines of a dispatch for one look."""

    def __init__(self, dispatch: Dispatch, connect: Connect) -> None:
        self.dispatch, self._connect = dispatch, connect
        dispatch.silences = gaps.silences_of(dispatch)

    def connect(self, host: Host) -> LabHost:
        """Return the way to a host, with what it answers, and that it does not, kept for the dispatch."""
        return cast(LabHost, Heard(self.dispatch, host, self._connect(host)))


class Heard:
    """One machine as a LabHost: every question is passed on, and its answer listened to."""

    def __init__(self, dispatch: Dispatch, host: Host, lab_host: LabHost) -> None:
        self._dispatch, self._host, self._lab_host = dispatch, host, lab_host
        ear = getattr(lab_host, "ear", None)  # this machine has none: nothing comes between it and its answers
        self._ear = ear if isinstance(ear, Ear) else Ear()

    def __getattr__(self, question: str) -> Callable[..., Any]:
        ask = getattr(self._lab_host, question)

        def put(*args: Any, **kwargs: Any) -> Any:
            return self._put(lambda: ask(*args, **kwargs))

        return put

    def _put(self, ask: Callable[[], Any]) -> Any:
        begun_at = timezone.now()
        self._ear.begin()
        try:
            answer = ask()
        except HostSilentError:
            gaps.fell_silent(self._dispatch, self._host.name, self._ear.last_at or self._last_answer(begun_at))
            raise
        except HostError:
            self._answered()
            raise
        self._answered()
        return answer

    def _answered(self) -> None:
        _last_answers[self._host.pk] = self._ear.last_at or timezone.now()
        if not gaps.answers_again(self._dispatch, self._host.name, self._ear.first_at or timezone.now()):
            gaps.enter_late_answer(self._dispatch, self._host.name, self._ear)

    def _last_answer(self, begun_at: datetime) -> datetime:
        """Return when the machine answered last before a question that it gave no answer to; as far as is known."""
        known = filter(None, [_last_answers.get(self._host.pk), self._dispatch.heartbeat_at])
        return min(begun_at, max(known, default=begun_at))
