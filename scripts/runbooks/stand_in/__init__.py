"""A stand-in for systemd, for a root directory whose first process cannot be systemd.

    python3 -m stand_in manager      be the first process of a process namespace: start, watch and reap services
    systemctl VERB [UNIT ...]        `python3 -m stand_in VERB [UNIT ...]` asks the manager, as systemctl does

It is no init system: it exists so that the commands of docs/how-to/deploy-with-systemd.md run as they are written. It
uses only the standard library of Debian 12, as this folder is copied into the root directory.

It reads units as systemd does, with instances (`%i`), drop-ins and the generators of packages. It applies the
directives in `units.APPLIED`, and honours Requires, Wants, After, Before, PartOf and Conflicts. It does not apply the
others: sandboxes, limits of control groups, devices. `systemd-analyze` checks those (tests/operations/test_systemd.py).
Timers and sockets only count as started. Services start one after the other.
"""
