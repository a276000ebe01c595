from tests.lab_hosts.fixtures import loop_drives, new_lab_host

__all__ = ["loop_drives", "new_lab_host"]
