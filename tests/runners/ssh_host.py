"""Remote hosts as rows, one over SSH and one with an agent, and the report of a healthy host."""

from datetime import timedelta

from django.utils import timezone

from runners.models import Agent, Host

PINNED = {
    "address": "192.0.2.1",
    "port": 22,
    "user": "drivecert",
    "host_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJZZIsqBneVmzODvmgCl0dGypX7DnXU92iTIsmjy6CeB",
    "program_sha256": "5e" * 32,
}
HEALTH = {
    "schema": "drivecert.host-health/1",
    "program_version": "0.2.0",
    "program_sha256": PINNED["program_sha256"],
    "hostname": "lab-host",
    "kernel": "6.1.0",
    "boot_id": "d69091e8-ef90-4bf9-8e4c-a6d3faf882ee",
    "init": "systemd",
    "clock_unix_ns": 1_800_000_000 * 10**9,
    "clock_offset_s": 0.01,
    "state_dir": "/var/lib/drivecert",
    "free_bytes": 50 * 2**30,
    "size_bytes": 100 * 2**30,
    "drives": ["nvme:M:S1"],
    "devices": [],
}


def ssh_host(name="lab-1", **columns):
    """Add a host that was never checked, unless the columns differ."""
    return Host.objects.create(name=name, kind="ssh", **PINNED | columns)


def agent_host(name="lab-1", is_joined=True, **columns):
    """Add a host whose agent has joined, or waits to join with a code that is valid for an hour."""
    columns = {"program_sha256": PINNED["program_sha256"] if is_joined else ""} | columns
    host = Host.objects.create(name=name, kind="agent", **columns)
    state = {"code_hash": "c0" * 32, "code_expires_at": timezone.now() + timedelta(hours=1)}
    if is_joined:
        state = {"secret_hash": "5e" * 32, "joined_at": timezone.now(), "version": "0.5.0"}
    Agent.objects.create(host=host, **state)
    return host
