"""Random faults over agents in a small form: real hosts that listen on nothing, and a real register behind nginx."""

import shutil
import tempfile
from pathlib import Path

import pytest
from agent_faults import measure, running_lab

from tests.operations.nginx import needs_nginx

pytestmark = [pytest.mark.faults, pytest.mark.lab_hosts, pytest.mark.xdist_group("nginx"), needs_nginx]


def test_random_faults_over_agents_lose_no_log_and_start_no_second_load():
    directory = Path(tempfile.mkdtemp(prefix="drivecert-agent-faults-"))
    directory.chmod(0o711)
    try:
        with running_lab(directory, hosts_count=2) as (site, lab):
            assert {host.listeners() for host, _ in lab.hosts.values()} == {""}
            rows = {row.measure: row for row in measure(site, lab, 6, seed=1, has_clock_steps=False)}
    finally:
        shutil.rmtree(directory)
    assert [row for row in rows.values() if not row.is_met] == []
    assert rows["faults"].found.startswith("6: ")
    assert int(rows["runs"].found.partition(":")[0]) >= 2
