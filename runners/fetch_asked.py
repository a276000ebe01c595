"""Fetching what an ended dispatch left on its hosts because a person asks, long before it would be removed."""

from runners.hosts import Connect, connect
from runners.left_behind import is_too_large, keep_what_is_left, nothing_runs, unkept_anywhere, what_was_kept
from runners.models import Dispatch, Host
from runners.out_of_service import retired_words
from runners.rows import stepping
from runners.run_dirs import loaded_hosts
from runners.stages import lab_host


class FetchRefusedError(ValueError):
    """It is not fetched now; the text says why, and the remedy."""


def may_be_fetched(dispatch: Dispatch) -> bool:
    """Tell whether a dispatch has ended and its hosts, all in service, may hold files that are in no other place.

    Not where they were found to be too large: they are not fetched again before more may be kept.
    """
    is_left = unkept_anywhere().filter(~is_too_large(), pk=dispatch.pk).exists()
    return is_left and not any(retired_words(host) for host in _hosts(dispatch))


def fetch_now(dispatch: Dispatch, connect_host: Connect = connect) -> bool:
    """Keep what a dispatch left as one archive, read for no run; False where its hosts hold nothing of it.

    Raises FetchRefusedError, HostError where a host gives no answer or no file, and StoreError where it cannot be kept.
    """
    with stepping(dispatch.pk) as held:
        if held is None:
            raise FetchRefusedError(f"a worker is at {dispatch} just now; ask again in a moment")
        if not may_be_fetched(held):
            raise FetchRefusedError(f"nothing of {dispatch} waits on a host in service; look at its page again")
        if loaded := [str(host) for host in _hosts(held) if host.pk in loaded_hosts()]:
            raise FetchRefusedError(f"a run is measured on {' and '.join(loaded)}; ask again when it has ended")
        host = lab_host(held, connect_host)
        if not nothing_runs(held, host):
            raise FetchRefusedError(f"its program still runs on {held.device.host}; wait until that has ended")
        keep_what_is_left(held, host)
    return what_was_kept(dispatch) is not None


def _hosts(dispatch: Dispatch) -> list[Host]:
    return [host for host in (dispatch.device.host, dispatch.load_host) if host is not None]
