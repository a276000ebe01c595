import pytest

from runners.models import Device, Dispatch, Host
from runners.recipes import ycsb
from runners.recipes.base import Role

SMALL = {"record_count": 1000, "operation_count": 2000, "threads": [4, 8]}


def make(preset, load_host=None, **options):
    device = Device(path="/dev/nvme0n1", size_bytes=1 << 30, host=Host(kind="local"))
    options = {"preset": preset} | SMALL | options
    return Dispatch(public_id="d-1", device=device, drive_key="nvme:X:1", load_host=load_host, options=options)


def named(stages):
    return [stage.name for stage in stages]


def test_rocksdb_is_formatted_mounted_loaded_settled_swept_and_unmounted():
    stages = ycsb.stages(make("micron-7450-rocksdb"))
    assert named(stages) == ["format", "mount", "load", "settle", "run-a-t004", "run-a-t008", "unmount"]
    drive = "watch /dev/nvme0n1 --expect-drive nvme:X:1 --side-file side.jsonl --"
    lines = [" ".join(stage.argv) for stage in stages]
    assert lines[0] == f"{drive} mkfs-xfs -f {{device}}".replace("watch", "watch --will-overwrite", 1)
    assert lines[1] == f"{drive} mount -t xfs -o noatime,nodiratime,norelatime {{device}} /var/lib/rocksdb"
    assert lines[2].startswith(f"{drive} ycsb -load ")
    assert lines[3].endswith("--until-writes-below 10000000 --for-sec 60 --at-most-sec 21600")
    assert lines[6] == f"{drive} unmount /var/lib/rocksdb"
    assert [stage.name for stage in stages if stage.resets_drive] == ["format"]
    assert [stage.name for stage in stages if stage.is_cleanup] == ["unmount"]


@pytest.mark.parametrize("preset", ["micron-7450-rocksdb", "micron-x100-aerospike", "mongodb"])
def test_stages_that_reset_the_drive_check_the_host_and_overwrite_data_only_with_consent(preset):
    for options, flags in ({}, ()), ({"i_know_this_destroys_data": True}, ("--i-know-this-destroys-data",)):
        stages = ycsb.stages(make(preset, **options))
        (reset,) = [stage for stage in stages if stage.resets_drive]
        assert reset.argv[: 2 + len(flags)] == ("watch", "--will-overwrite", *flags)
        others = [word for stage in stages if stage is not reset for word in stage.argv]
        assert not {"--will-overwrite", "--i-know-this-destroys-data"} & set(others)


def test_aerospike_is_started_with_its_stored_configuration_and_stopped():
    stages = ycsb.stages(make("micron-x100-aerospike", configuration="namespace ycsb {}"))
    assert named(stages) == [
        "database",
        "load",
        "settle",
        *(f"run-{w}-t{t:03}" for w in "abcf" for t in (4, 8)),
        "stop",
    ]
    assert stages[0].files == {"database.conf": b"namespace ycsb {}"}
    assert " ".join(stages[0].argv).endswith("-- aerospike-start ../database.conf")
    assert stages[0].resets_drive
    without = ycsb.stages(make("micron-x100-aerospike"))[0]
    assert (without.argv[-1], without.files) == ("aerospike-start", {})


def test_mongodb_is_started_on_its_new_file_system_and_stopped_before_it_is_unmounted():
    stages = ycsb.stages(make("mongodb", workloads=["a"], configuration="storage: {}"))
    expected = ["format", "mount", "database", "load", "settle", "run-a-t004", "run-a-t008", "stop", "unmount"]
    assert named(stages) == expected
    by_name = {stage.name: stage for stage in stages}
    assert by_name["database"].files == {"database.conf": b"storage: {}"}
    assert " ".join(by_name["database"].argv).endswith("-- mongodb-start ../database.conf")
    assert by_name["mount"].argv[-1] == "/var/lib/mongodb"
    assert [stage.name for stage in stages if stage.resets_drive] == ["format"]
    assert [stage.name for stage in stages if stage.is_cleanup] == ["stop", "unmount"]


def test_a_second_host_runs_the_client_alone_and_never_names_the_drive():
    stages = ycsb.stages(make("micron-x100-aerospike", load_host=Host(kind="other")))
    assert {stage.name.split("-")[0] for stage in stages if stage.role is Role.LOAD} == {"load", "run"}
    loading = next(stage for stage in stages if stage.name == "load")
    assert loading.argv[:4] == ("watch", "--side-file", "side.jsonl", "--")


def test_without_a_database_nothing_is_mounted():
    assert named(ycsb.stages(make("no-database"))) == ["load", "run-a-t004", "run-a-t008"]


def test_the_workload_is_sent_with_the_client():
    stages = ycsb.stages(make("no-database", workloads=["b"]))
    assert b"readproportion=0.95\n" in stages[1].files["workloadb"]


def test_programs_of_this_machine_may_be_listed_in_a_settings_file(settings):
    settings.LAB_PROGRAMS = "/srv/programs.json"
    argv = ycsb.stages(make("no-database"))[0].argv
    assert argv[6:9] == ("--programs", "/srv/programs.json", "--")
