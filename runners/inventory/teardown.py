"""What the operator of a host over SSH undoes there once it is retired: the set-up of its enrolment, in reverse."""

import shlex

from runners.inventory.enrolment import PROGRAM, READ_AGAIN
from runners.models import Host

STATE_DIR = "/var/lib/drivecert"  # of a host that never told


def undo(host: Host) -> list[tuple[str, str]]:
    """Return what is undone on a host, as sentences with the commands that go with them; the register's way in first.

    The state directory is what the host told: of that only what has the names of runs and locks is removed.
    """
    kept_in = shlex.quote(str(host.health.get("state_dir", STATE_DIR)))
    return [
        (
            "Take the register's key out, and with it its way in.",
            f"rm /etc/ssh/authorized/{host.user} /etc/ssh/sshd_config.d/drivecert.conf\n{READ_AGAIN}",
        ),
        ("Take back the sudo rule.", "rm /etc/sudoers.d/drivecert\nvisudo -c"),
        ("Remove the account.", f"userdel --remove {host.user}"),
        ("Remove the list of drives that may be loaded.", "rm /etc/drivecert/host.toml"),
        (
            "Remove the run directories and the drives' locks, once nothing in them is needed.",
            f"rm -r {kept_in}/d-* {kept_in}/locks",
        ),
        ("Remove drivetest, unless something else there uses it.", f"rm {PROGRAM}"),
    ]
