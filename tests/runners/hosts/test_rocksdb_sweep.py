"""A sweep with YCSB's binding for RocksDB, on xfs on a drive of a lab host, from its order to the page of curves."""

import shutil

import pytest

from results.ingest import queue as ingest_queue
from results.models import Run, Visibility, YcsbRun
from runners.dispatch.orders import Order, order
from runners.hosts import connect
from runners.inventory import health
from runners.inventory.devices import bind
from runners.models.states import State
from tests.results.fixtures import real_reader
from tests.results.rows import make_product
from tests.runners.hosts.test_ssh_dispatch import BOTH_KINDS, enrolled, run_to_its_end
from tests.runners.hosts.test_ssh_sweep import JARS_THERE, NOBODY, allow
from tests.runners.ycsb_from_maven import client_argv, needs_rocksdb, rocksdb_jars
from webapp.register.ycsb.loads import LOAD_KEY_DIGITS

__all__ = ["enrolled", "real_reader", "rocksdb_jars"]

pytestmark = [pytest.mark.lab_hosts, pytest.mark.django_db(transaction=True), pytest.mark.long, needs_rocksdb]

DRIVE_MIB = 512  # the smallest xfs has 300
MOUNT_POINT = "/var/lib/rocksdb"
OPTIONS = {"preset": "micron-7450-rocksdb", "record_count": 2000, "operation_count": 4000, "threads": [1, 2, 4],
           "status_interval_s": 1}  # fmt: skip
# A new file system belongs to root, and the client runs as a user without rights.
MOUNT = f"""#!/bin/sh -e
mount "$@"
chown {NOBODY}:{NOBODY} {MOUNT_POINT}
"""


def allow_programs(there, jars):
    shutil.copytree(jars, there.path(JARS_THERE))
    there.run("chmod", "-R", "a+rX", JARS_THERE)
    there.run("mkdir", "-p", MOUNT_POINT)
    there.write("/usr/local/sbin/mount-for-client", MOUNT, 0o755)
    mounted = ["-t", "xfs", "-o", "noatime,nodiratime,norelatime", "{device}", MOUNT_POINT]
    allow(there, {
        "mkfs-xfs": {"argv": [shutil.which("mkfs.xfs")], "lines": [["-f", "{device}"]]},
        "mount": {"argv": ["/usr/local/sbin/mount-for-client"], "keeps_data": True, "lines": [mounted]},
        "unmount": {"argv": [shutil.which("umount")], "keeps_data": True, "lines": [[MOUNT_POINT]]},
        "ycsb": {"argv": client_argv(JARS_THERE), "uid": NOBODY, "gid": NOBODY},
    })  # fmt: skip


@BOTH_KINDS
def test_a_sweep_of_rocksdb_ends_as_the_curves_of_its_drive(enrolled, rocksdb_jars, real_reader, staff, a_lab, client):
    there, row = enrolled
    allow_programs(there, rocksdb_jars)
    assert health.check(row) == []
    device = bind(row, connect(row).identify("/dev/nvme0n1"), "the drive", staff)
    dispatch = order(device, a_lab, Order(recipe="ycsb", options=OPTIONS), staff)
    run_to_its_end(dispatch, for_s=600)
    assert (dispatch.state, dispatch.reason) == (State.DONE, "all stages finished")
    ingest_queue.sweep()
    load, *measured = YcsbRun.objects.select_related("run").order_by("run__ordinal")
    assert [(each.phase, each.threads_count, each.done_ops_count) for each in measured] == [
        ("run", threads, 4000) for threads in OPTIONS["threads"]
    ]
    assert {each.binding for each in (load, *measured)} == {"site.ycsb.db.rocksdb.RocksDBClient"}
    assert len({each.sweep_key for each in measured}) == 1
    # As if a reviewer had published runs on a physical drive: those on loop devices are never published.
    published = {"visibility": Visibility.PUBLIC, "predates_approvals": True, "is_virtual": False}
    Run.objects.update(product=make_product(model="SWEPT"), **published)
    page = client.get(f"/ycsb/loads/{measured[0].sweep_key[:LOAD_KEY_DIGITS]}/").text
    assert "SWEPT" in page
    for each in measured:
        assert f"/runs/{each.run.public_id}/" in page
