"""Which hosts give no answer about what runs there, for pages that show hosts and not their dispatches."""

from collections import defaultdict

from runners.models import Dispatch
from runners.models.states import ON_HOST
from runners.monitoring.connectivity import silence_words

Silence = tuple[Dispatch, str]


def silences_by_host() -> dict[int, list[Silence]]:
    """Return by the host's id the dispatches on it about which a machine gives no answer, with words that say which."""
    found: dict[int, list[Silence]] = defaultdict(list)
    for dispatch in Dispatch.objects.filter(state__in=ON_HOST).select_related("device__host", "load_host"):
        if words := silence_words(dispatch):
            for host in {dispatch.device.host, dispatch.load_host or dispatch.device.host}:
                found[host.pk].append((dispatch, words))
    return found
