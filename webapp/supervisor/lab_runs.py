"""The runs on lab hosts, which belong to their hosts and go on while the register is away."""

from django.db import Error, connections

from runners.models import Dispatch
from runners.models.states import State
from webapp import env


def tell_running(database_url: str) -> str:
    """Return a sentence on the runs that will outlive this stop, empty where there are none."""
    # The supervisor's own settings were read before there was a server to name in them.
    connections.settings["default"].update(env.parse_database_url(database_url))
    try:
        running = list(Dispatch.objects.filter(state=State.RUNNING).values_list("public_id", flat=True))
    except Error as error:
        return f"could not ask which lab runs go on: {error}"
    finally:
        connections["default"].close()
    if not running:
        return ""
    return f"these lab runs go on, and are picked up at the next start: {', '.join(running)}"
