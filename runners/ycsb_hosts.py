"""Where a YCSB sweep can be carried out: its programs are allowed by name on the register's own machine only."""

from runners.models import Host


def objection_to_hosts(drive_host: Host, load_host: Host | None) -> str:
    """Say why a sweep cannot use these hosts; empty where it can. `load_host` is None where it is the drive's own."""
    for host in filter(None, [drive_host, load_host]):
        if host.kind == Host.Kind.SSH:
            return (
                f"{host} is reached over SSH: such a host starts ACT loads and preparations only, no YCSB; "
                "expected this machine"
            )
    if load_host is not None and load_host.machine_id != drive_host.machine_id:
        return f"{load_host} is another machine than {drive_host}; no worker can ask both; expected one machine"
    return ""
