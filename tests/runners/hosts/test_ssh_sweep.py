"""A YCSB sweep with the real client on lab hosts: over SSH, by an agent, and on two hosts."""

import json
import re
import shlex
import shutil

import pytest

from results.ingest import queue as ingest_queue
from results.models import YcsbRun
from runners.dispatch.orders import Order, expected_refusal, order
from runners.errors import StartRefusedError
from runners.hosts import connect
from runners.hosts.protocol import ProgramState
from runners.inventory import health
from runners.inventory.devices import bind
from runners.models.states import State
from runners.recipes import ycsb
from tests.results.fixtures import real_reader
from tests.runners.hosts.test_local import wait_until
from tests.runners.hosts.test_ssh_dispatch import BOTH_KINDS, enrolled, run_to_its_end
from tests.runners.ycsb_from_maven import client_argv, jars

__all__ = ["enrolled", "jars", "real_reader"]

pytestmark = [pytest.mark.lab_hosts, pytest.mark.django_db(transaction=True)]
NOBODY = 65534
OPTIONS = {"preset": "no-database", "threads": [1], "operation_count": 1000, "status_interval_s": 1,
           "properties": {"basicdb.verbose": "false"}}  # fmt: skip
JARS_THERE = "/opt/ycsb"
PROGRAMS_FILE = "/etc/drivecert/programs.json"


def allow(there, programs):
    """Write the list of programs of a host's operator."""
    there.write(PROGRAMS_FILE, json.dumps({"schema": "drivecert.programs/1", "programs": programs}))


def allow_client(there, jars):
    """Install the client and allow it, as a user who owns nothing on the host."""
    shutil.copytree(jars, there.path(JARS_THERE))
    there.run("chmod", "-R", "a+rX", JARS_THERE)
    allow(there, {"ycsb": {"argv": client_argv(JARS_THERE), "uid": NOBODY, "gid": NOBODY}})


def bound(row, staff):
    return bind(row, connect(row).identify("/dev/nvme0n1"), f"the drive of {row.name}", staff)


@BOTH_KINDS
def test_a_sweep_ends_as_runs_with_the_histograms_of_its_client(enrolled, jars, real_reader, staff, a_lab):
    there, row = enrolled
    allow_client(there, jars)
    assert health.check(row) == []
    dispatch = order(bound(row, staff), a_lab, Order(recipe="ycsb", options=OPTIONS), staff)
    run_to_its_end(dispatch)
    assert (dispatch.state, dispatch.reason) == (State.DONE, "all stages finished")
    ingest_queue.sweep()
    load, run = YcsbRun.objects.order_by("run__ordinal")
    assert (load.phase, run.phase, run.done_ops_count, run.workload) == ("load", "run", 1000, "a")
    assert "hdr" in set(run.operations.filter(name="READ").values_list("taken_from", flat=True))


def test_the_requests_of_a_sweep_come_from_a_host_without_a_drive(new_enrolled, jars, real_reader, staff, a_lab):
    _, database = new_enrolled("database-host")
    there, sender = new_enrolled("sender")
    there.path("/etc/drivecert/host.toml").unlink()
    allow_client(there, jars)
    assert [health.check(row) for row in (database, sender)] == [[], []]
    dispatch = order(bound(database, staff), a_lab, Order(recipe="ycsb", options=OPTIONS, load_host=sender), staff)
    run_to_its_end(dispatch)
    assert (dispatch.state, dispatch.reason) == (State.DONE, "all stages finished")
    assert there.path(f"/var/lib/drivecert/{dispatch.public_id}.run-a-t001/log").exists()
    ingest_queue.sweep()
    assert YcsbRun.objects.filter(phase="run", done_ops_count=1000).count() == 1


# Stand-ins of the programs that an operator installs: each notes its arguments. That of the client runs the real client
# without a database.
NOTE = """#!/bin/sh -e
echo "{name} $*" >> /var/log/calls
"""
STAND_INS = {
    "mkfs-xfs": "", "mount": "", "unmount": "", "aerospike-stop": "", "mongodb-stop": "",
    "aerospike-start": 'cat "$1" >> /var/log/calls\n', "mongodb-start": 'cat "$1" >> /var/log/calls\n',
}  # fmt: skip
OF_PRESETS = {
    "micron-x100-aerospike": (["aerospike-start ../database.conf"], ["aerospike-stop "], "AerospikeClient"),
    "mongodb": (
        ["mkfs-xfs -f {device}", "mount -t xfs -o noatime,nodiratime,norelatime /dev/nvme0n1 /var/lib/mongodb",
         "mongodb-start ../database.conf"],
        ["mongodb-stop ", "unmount /var/lib/mongodb"], "MongoDbClient",
    ),
}  # fmt: skip


XFS = ["-t", "xfs", "-o", "noatime,nodiratime,norelatime", "{device}", "/var/lib/mongodb"]
OF_ROOT = {
    "mkfs-xfs": {"lines": [["-f", "{device}"]]},
    "mount": {"lines": [XFS], "keeps_data": True},
    "unmount": {"lines": [["/var/lib/mongodb"]]},
}
WITHOUT_DATABASE = "sed 's/site.ycsb.db.[A-Za-z]*/site.ycsb.BasicDB/'"


def allow_stand_ins(there, jars):
    """Install the stand-ins and the client, and allow all of them."""
    allow_client(there, jars)
    there.write("/var/log/calls", "", 0o666)
    client = f'exec {shlex.join(client_argv(JARS_THERE))} $(echo "$@" | {WITHOUT_DATABASE})\n'
    programs = {}
    for name, action in (STAND_INS | {"ycsb": client}).items():
        there.write(f"/usr/local/bin/{name}", NOTE.format(name=name) + action, 0o755)
        own = OF_ROOT.get(name, {"uid": NOBODY, "gid": NOBODY})
        programs[name] = {"argv": [f"/usr/local/bin/{name}"]} | own
    allow(there, programs)


@BOTH_KINDS
@pytest.mark.parametrize("preset", OF_PRESETS)
def test_the_programs_of_a_database_server_are_run_in_their_order(enrolled, jars, staff, a_lab, monkeypatch, preset):
    monkeypatch.setattr(ycsb, "QUIET_FOR_S", 1)
    there, row = enrolled
    allow_stand_ins(there, jars)
    assert health.check(row) == []
    changes = {"preset": preset, "workloads": ["a"], "record_count": 100, "configuration": "of the order\n"}
    dispatch = order(bound(row, staff), a_lab, Order(recipe="ycsb", options=OPTIONS | changes), staff)
    run_to_its_end(dispatch)
    assert (dispatch.state, dispatch.reason) == (State.DONE, "all stages finished")
    before, after, binding = OF_PRESETS[preset]
    # A program that overwrites the drive gets the one that drivetest has checked and opened.
    calls = re.sub(r"/proc/self/fd/\d+", "{device}", there.path("/var/log/calls").read_text()).splitlines()
    load, run = calls[len(before) + 1 : -len(after)]
    assert calls == [*before, "of the order", load, run, *after]
    assert load.startswith(f"ycsb -load -db site.ycsb.db.{binding} -P ../workloada ")
    assert run.startswith(f"ycsb -t -db site.ycsb.db.{binding} -P ../workloada ")


@pytest.mark.parametrize(
    ("programs", "sentence"),
    [
        ({}, f"allows no program of sweeps; its operator has to list the programs in {PROGRAMS_FILE}"),
        ({"mount": {"argv": ["/usr/bin/mount"], "lines": []}}, "allows no ycsb; it allows mount"),
        (
            {"ycsb": {"argv": ["/nowhere/java"], "uid": NOBODY}},
            "ycsb needs /nowhere/java, which lab-host does not",
        ),
        ("no list", "expected drivecert.programs/1"),
    ],
)
def test_a_sweep_whose_programs_are_missing_is_refused_before_its_order(new_enrolled, staff, programs, sentence):
    there, row = new_enrolled()
    allow(there, programs)
    assert health.check(row) == []
    refusal = expected_refusal(bound(row, staff), Order(recipe="ycsb", options=OPTIONS))
    assert sentence in refusal


def test_a_program_that_the_operator_took_off_the_list_is_not_run(new_enrolled, jars, staff, a_lab):
    there, row = new_enrolled()
    allow_client(there, jars)
    assert health.check(row) == []
    dispatch = order(bound(row, staff), a_lab, Order(recipe="ycsb", options=OPTIONS), staff)
    allow(there, {})
    run_to_its_end(dispatch)
    assert dispatch.state == State.REFUSED
    assert "allows no program `ycsb`" in dispatch.reason


def test_a_register_cannot_leave_out_the_safety_gate_for_a_program_that_gets_the_drive(new_enrolled, loop_drives):
    there, row = new_enrolled()
    drive = there.devices["nvme0n1"]
    mkfs = {"argv": ["/usr/sbin/mkfs.ext4"], "lines": [["-q", "{device}"]]}
    host, key = connect(row), loop_drives.key_of(drive)
    words = [
        "watch",
        "/dev/nvme0n1",
        "--expect-drive",
        key,
        "--side-file",
        "side.jsonl",
        "--",
        "mkfs",
        "-q",
        "{device}",
    ]
    allow(there, {"mkfs": mkfs})
    host.put("d-a.format", {})
    with pytest.raises(StartRefusedError, match="gets the drive without --will-overwrite"):
        host.start("d-a.format", key, 1, words)
    allow(there, {"mkfs": mkfs | {"keeps_data": True}})
    host.start("d-a.format", key, 1, words)
    wait_until(lambda: host.status("d-a.format").state is ProgramState.ENDED)
    assert host.status("d-a.format").exit_status == 0


def test_the_use_of_the_drives_of_a_remote_host_is_reported(new_enrolled, loop_drives):
    there, row = new_enrolled()
    assert [drive.uses for drive in connect(row).list_drives() if drive.path == "/dev/nvme0n1"] == [[]]
    there.run("mkfs.ext4", "-q", "/dev/nvme0n1")
    there.run("mount", "/dev/nvme0n1", "/mnt")
    found = [drive for drive in connect(row).list_drives() if drive.path == "/dev/nvme0n1"]
    assert [(drive.uses, drive.mount_points) for drive in found] == [(["mounted"], ["/mnt"])]
    there.run("umount", "/mnt")
