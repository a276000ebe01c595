"""Whole hosts: a YCSB sweep measures its hosts' processors too, so nothing else of ours runs there meanwhile."""

from django.db.models import Q

from runners.locks import hold_host
from runners.models import Dispatch
from runners.models.dispatch_rows import read
from runners.models.states import LIVE

# The recipes that need their hosts for themselves; ACT's loads may share one, each with a drive of its own.
ALONE = frozenset({"ycsb"})


def holder_of_hosts(dispatch: Dispatch) -> Dispatch | None:
    """Return a live dispatch that keeps this one from its hosts, None where they are free for it.

    Belongs into the transaction of the claim: the hosts are held to its end, by rising number, so that two claims do
    not wait for each other.
    """
    second = set() if dispatch.load_host_id is None else {dispatch.load_host_id}
    hosts = sorted({dispatch.device.host_id} | second)
    for host_id in hosts:
        hold_host(host_id)
    there = Q(device__host__in=hosts) | Q(load_host__in=hosts)
    others = Dispatch.objects.filter(there, state__in=LIVE).exclude(pk=dispatch.pk)
    holders = others if dispatch.recipe in ALONE else others.filter(recipe__in=ALONE)
    return next((read(pk) for pk in holders.values_list("pk", flat=True)[:1]), None)
