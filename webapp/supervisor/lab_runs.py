"""Runs on lab hosts. They belong to their hosts and continue while the register is stopped."""

from django.db import Error, connections

from runners.models import Dispatch
from runners.models.states import State
from webapp import env


def running_message(database_url: str) -> str:
    """Return a message that names the runs that continue after this stop, or an empty string if there are none."""
    # The supervisor read its own settings before it had started a server.
    connections.settings["default"].update(env.parse_database_url(database_url))
    try:
        running = list(Dispatch.objects.filter(state=State.RUNNING).values_list("public_id", flat=True))
    except Error as error:
        return f"the lab runs that continue could not be listed: {error}"
    finally:
        connections["default"].close()
    if not running:
        return ""
    return f"these lab runs continue, and the next start watches them again: {', '.join(running)}"
