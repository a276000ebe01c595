import pytest

from runners.models import Device, Dispatch, Host
from runners.recipes import ycsb
from runners.recipes.base import Role
from runners.recipes.ycsb_presets import PRESETS, workload_text
from runners.recipes.ycsb_setup import (
    SetupError,
    load_line,
    needed_programs,
    objection_to_second_host,
    parse_setup,
    run_line,
)

MEASURED = (
    " -p measurementtype=hdrhistogram -p hdrhistogram.percentiles=50,95,99,99.9,99.99"
    " -p hdrhistogram.fileoutput=true -p hdrhistogram.output.path=hdr- -p status.interval=10"
)


def setup(preset, **options):
    return parse_setup({"preset": preset} | options)


def test_microns_rocksdb_is_loaded_and_swept_as_published():
    options = setup("micron-7400-rocksdb", configuration="[Version]")
    common = (
        "-p rocksdb.dir=/var/lib/rocksdb -p rocksdb.optionsfile=../database.conf -p recordcount=250000000"
        " -p fieldcount=4 -p fieldlength=1024 -p requestdistribution=uniform"
    )
    db = "-db site.ycsb.db.rocksdb.RocksDBClient"
    assert " ".join(load_line(options)) == f"-load {db} -P ../workloada {common}{MEASURED} -threads 16 -s"
    expected = f"-t {db} -P ../workloadf {common} -p operationcount=200000000{MEASURED} -threads 256 -s"
    assert " ".join(run_line(options, "f", 256)) == expected


def test_microns_aerospike_names_its_host_and_does_not_split_records():
    options = setup("micron-x100-aerospike", operation_count=10**9, database_host="10.0.0.2", namespace="drive")
    assert " ".join(run_line(options, "b", 96)) == (
        "-t -db site.ycsb.db.AerospikeClient -P ../workloadb -p as.host=10.0.0.2 -p as.port=3000 -p as.namespace=drive"
        " -p recordcount=97000000 -p fieldcount=1 -p fieldlength=4096 -p requestdistribution=uniform"
        f" -p operationcount=1000000000{MEASURED} -threads 96 -s"
    )


def test_kioxias_aerospike_leaves_each_workload_its_own_distribution():
    line = " ".join(run_line(setup("kioxia-fl6-aerospike"), "d", 128))
    assert "-p recordcount=300000000 -p fieldcount=10 -p fieldlength=100 -p operationcount=2000000000" in line
    assert "requestdistribution" not in line
    assert "requestdistribution=latest\n" in workload_text("d")


def test_go_ycsb_has_its_own_arguments():
    options = setup("micron-7450-rocksdb", client="go", record_count=1000, operation_count=2000)
    assert " ".join(run_line(options, "a", 4)) == (
        "run rocksdb -P ../workloada -p rocksdb.dir=/var/lib/rocksdb -p recordcount=1000 -p fieldcount=4"
        " -p fieldlength=1024 -p requestdistribution=uniform -p operationcount=2000 -p debug.pprof=127.0.0.1:0"
        " --threads 4 --interval 10"
    )
    aerospike = setup("micron-x100-aerospike", client="go", operation_count=1)
    assert "-p aerospike.host=localhost -p aerospike.port=3000 -p aerospike.ns=ycsb" in " ".join(load_line(aerospike))


@pytest.mark.parametrize(("client", "namespace"), [("java", "drives"), ("go", "ycsb")])
def test_mongodb_names_its_host_and_database(client, namespace):
    options = setup("mongodb", client=client, operation_count=1, database_host="10.0.0.2", namespace=namespace)
    for line in (load_line(options), run_line(options, "a", 4)):
        assert f"-p mongodb.url=mongodb://10.0.0.2:27017/{namespace}?w=1 -p recordcount=10000000" in " ".join(line)


def test_further_properties_come_last_and_a_time_limit_is_of_runs_only():
    options = setup("no-database", max_execution_s=60, properties={"basicdb.verbose": "false"})
    assert "-p maxexecutiontime=60" in " ".join(run_line(options, "a", 1))
    assert "maxexecutiontime" not in " ".join(load_line(options))
    assert " ".join(load_line(options)).endswith("-p basicdb.verbose=false -threads 1 -s")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "none"}, "expected one of"),
        ({"preset": "micron-x100-aerospike"}, "operation_count"),
        ({"preset": "mongodb"}, "operation_count"),
        ({"preset": "mongodb", "operation_count": 1, "workloads": ["d"], "threads": [1, 2]}, "MongoDB refuse"),
        ({"preset": "mongodb", "operation_count": 1, "workloads": ["d", "e"], "threads": [1]}, "MongoDB refuse"),
        ({"preset": "mongodb", "operation_count": 1, "client": "go", "namespace": "drives"}, "leave namespace out"),
        ({"preset": "no-database", "client": "go"}, "choose java"),
        ({"preset": "no-database", "client": "perl"}, "java or go"),
        ({"preset": "no-database", "workloads": ["a", "g"]}, "letters a to f"),
        ({"preset": "no-database", "operation_count": 2**31}, "at most 2147483647"),
        ({"preset": "no-database", "threads": []}, "one of each"),
        ({"preset": "no-database", "threads": list(range(1, 65))}, "at most 63"),
        ({"preset": "micron-7450-rocksdb", "client": "go", "max_execution_s": 9}, "no time limit"),
        ({"preset": "kioxia-fl6-aerospike", "threads": [64, 128]}, "one thread count"),
    ],
)
def test_invalid_options_are_refused_with_the_change_to_make(options, message):
    with pytest.raises(SetupError, match=message):
        parse_setup(options)


def test_counts_and_sweeps_up_to_their_limits_are_accepted():
    assert setup("no-database", operation_count=2**31 - 1, threads=list(range(1, 64))).plan.threads[-1] == 63


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"micron-x100-aerospike", "mongodb"}))
def test_every_preset_with_operations_can_be_ordered_as_it_is(name):
    assert setup(name).plan == PRESETS[name]


def test_a_workload_is_written_as_ycsb_ships_it():
    lines = workload_text("f").splitlines()
    assert lines[:3] == ["recordcount=1000", "operationcount=1000", "workload=site.ycsb.workloads.CoreWorkload"]
    assert {"readproportion=0.5", "updateproportion=0", "readmodifywriteproportion=0.5"} <= set(lines)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_needed_programs_are_those_that_the_stages_run(preset):
    options = {"preset": preset, "operation_count": 10}
    sweep = Dispatch(public_id="d-a", device=Device(path="/dev/x", host=Host(kind="ssh")), options=options)
    assert set(needed_programs(parse_setup(options))) == ycsb.programs(sweep, Role.DATABASE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "micron-7450-rocksdb", "database_host": "10.0.0.1"}, "RocksDB is part of the client"),
        ({"preset": "mongodb"}, "expected the address at which lab-2 reaches the database, got 'localhost'"),
        ({"preset": "mongodb", "database_host": "Localhost."}, "which is lab-2 itself"),
        ({"preset": "micron-x100-aerospike", "database_host": "127.9.0.1"}, "which is lab-2 itself"),
        ({"preset": "micron-x100-aerospike", "database_host": "[::1]"}, "which is lab-2 itself"),
        ({"preset": "micron-x100-aerospike", "database_host": "::ffff:127.0.0.1"}, "which is lab-2 itself"),
        ({"preset": "mongodb", "database_host": "10.0.0.1"}, ""),
        ({"preset": "mongodb", "database_host": "localhost-1"}, ""),
        ({"preset": "no-database"}, ""),
    ],
)
def test_a_second_host_needs_a_database_that_it_reaches(options, message):
    objection = objection_to_second_host(parse_setup({"operation_count": 1, "threads": [1]} | options), "lab-2")
    assert message in objection if message else objection == ""
