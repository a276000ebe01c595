"""Where a host is, as its operator states it: what is run there says so from then on."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results.models import Event
from runners.models import Host


def state_place(host: Host, region: str, zone: str, actor: AbstractBaseUser) -> bool:
    """Keep region and zone of a host, empty where they are not stated, and tell whether that changed anything.

    Runs that were handed in before keep what was stated then.
    """
    with transaction.atomic():
        held = Host.objects.select_for_update().get(pk=host.pk)
        changes = {"region": [held.region, region], "zone": [held.zone, zone]}
        changes = {name: values for name, values in changes.items() if values[0] != values[1]}
        if changes:
            Host.objects.filter(pk=host.pk).update(region=region, zone=zone)
            Event.objects.create(
                actor_id=actor.pk,
                kind="host-place-stated",
                subject_type="host",
                subject_id=host.name[:40],
                details={"changes": changes},
            )
    return bool(changes)
