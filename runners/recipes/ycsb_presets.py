"""YCSB setups as vendors published them, as data: what is loaded, swept and mounted. An order may change any of it.

Sources: Micron's briefs on the 7400 and 7450 (RocksDB) and X100 (Aerospike), KIOXIA's brief on the FL6 (Aerospike).
"""

from dataclasses import dataclass, replace

ROCKSDB, AEROSPIKE, MONGODB, BASIC = "rocksdb", "aerospike", "mongodb", "basic"
# The programs that start and stop the databases that are servers. Tests run stand-ins of them, and no server.
SERVERS = {AEROSPIKE: ("aerospike-start", "aerospike-stop"), MONGODB: ("mongodb-start", "mongodb-stop")}
XFS_OPTIONS = "noatime,nodiratime,norelatime"
UNIFORM = "uniform"

# The proportions of YCSB's standard workloads, as its files workloads/workloada to workloadf set them.
STANDARD_WORKLOADS: dict[str, dict[str, str]] = {
    "a": {"readproportion": "0.5", "updateproportion": "0.5", "requestdistribution": "zipfian"},
    "b": {"readproportion": "0.95", "updateproportion": "0.05", "requestdistribution": "zipfian"},
    "c": {"readproportion": "1", "updateproportion": "0", "requestdistribution": "zipfian"},
    "d": {"readproportion": "0.95", "insertproportion": "0.05", "requestdistribution": "latest"},
    "e": {"scanproportion": "0.95", "insertproportion": "0.05", "requestdistribution": "zipfian"},
    "f": {"readproportion": "0.5", "readmodifywriteproportion": "0.5", "requestdistribution": "zipfian"},
}
PROPORTIONS = ("read", "update", "scan", "insert", "readmodifywrite")
COUNTS = {"recordcount": "1000", "operationcount": "1000"}
SCANS = {"maxscanlength": "100", "scanlengthdistribution": "uniform"}


@dataclass(frozen=True)
class Preset:
    """One setup, mostly a published one. `operation_count` is None if no source states it; then an order has to.

    `distribution` None leaves each workload its own. `configuration` is what the source states of the database beyond
    the command line, as text: the file itself is not published.
    """

    label: str
    source: str
    binding: str
    record_count: int
    field_count: int
    field_bytes: int
    workloads: tuple[str, ...]
    threads: tuple[int, ...]
    load_threads: int
    operation_count: int | None = None
    distribution: str | None = None
    file_system: str | None = None
    mount_point: str = ""
    mount_options: str = ""
    configuration: str = ""


MICRON_7400 = Preset(
    label="Micron 7400, RocksDB",
    source="Micron, 7400 SSD RocksDB performance brief",
    binding=ROCKSDB,
    record_count=250_000_000,
    field_count=4,
    field_bytes=1024,
    operation_count=200_000_000,
    workloads=("a", "b", "c", "d", "f"),
    threads=(4, 8, 16, 32, 48, 64, 96, 128, 192, 256),
    load_threads=16,
    distribution=UNIFORM,
    file_system="xfs",
    mount_point="/var/lib/rocksdb",
    mount_options=XFS_OPTIONS,
    configuration="YCSB 0.17.0 of HSE; options file with direct reads",
)

PRESETS: dict[str, Preset] = {
    "micron-7400-rocksdb": MICRON_7400,
    "micron-7450-rocksdb": replace(
        MICRON_7400,
        label="Micron 7450, RocksDB",
        source="Micron, 7450 SSD RocksDB performance brief",
        workloads=("a",),
        threads=(4, 8, 16, 32),
        configuration="RocksDB 6.22, YCSB 0.17.0 of HSE",
    ),
    "micron-x100-aerospike": Preset(
        label="Micron X100, Aerospike",
        source="Micron, X100 SSD Aerospike performance brief",
        binding=AEROSPIKE,
        record_count=97_000_000,
        field_count=1,
        field_bytes=4096,
        workloads=("a", "b", "c", "f"),
        threads=(8, 16, 32, 64, 96, 128),
        load_threads=64,
        distribution=UNIFORM,
        configuration="Aerospike Enterprise 5.2.0.4, replication-factor 1, index in memory, write-block-size 128K, "
        "transaction-pending-limit 100, 16 partitions of 50 GB; two hosts",
    ),
    "kioxia-fl6-aerospike": Preset(
        label="KIOXIA FL6, Aerospike",
        source="KIOXIA, FL6 SSD Aerospike performance brief",
        binding=AEROSPIKE,
        record_count=300_000_000,
        field_count=10,
        field_bytes=100,
        operation_count=2_000_000_000,
        workloads=("a", "b", "c", "f", "d"),
        threads=(128,),
        load_threads=128,
        configuration="Aerospike 5.7.0.8, index and data on the drive, transaction-pending-limit 0; "
        "the brief's workload E is the load",
    ),
    "mongodb": Preset(
        label="MongoDB on xfs; no published brief",
        source="YCSB, mongodb/README.md",
        binding=MONGODB,
        record_count=10_000_000,
        field_count=10,
        field_bytes=100,
        workloads=("a", "b", "c"),
        threads=(16, 32, 64, 128),
        load_threads=16,
        file_system="xfs",
        mount_point="/var/lib/mongodb",
        mount_options=XFS_OPTIONS,
        configuration="10 GB of records of YCSB's default size: order more than the cache of the server holds",
    ),
    "no-database": Preset(
        label="YCSB's BasicDB: tests the procedure without a database or a drive",
        source="YCSB core",
        binding=BASIC,
        record_count=1000,
        field_count=4,
        field_bytes=1024,
        operation_count=10_000,
        workloads=("a",),
        threads=(1, 2, 4),
        load_threads=1,
    ),
}


def workload_text(letter: str) -> str:
    """Return a standard workload as a properties file, as YCSB ships it.

    The counts are upstream's, and the command line replaces them: under zipfian, even a load needs an operation count.
    """
    own = STANDARD_WORKLOADS[letter]
    proportions = {f"{name}proportion": own.get(f"{name}proportion", "0") for name in PROPORTIONS}
    scans = SCANS if letter == "e" else {}
    lines = COUNTS | {"workload": "site.ycsb.workloads.CoreWorkload", "readallfields": "true"} | proportions | scans
    lines["requestdistribution"] = own["requestdistribution"]
    return "".join(f"{name}={value}\n" for name, value in lines.items())
