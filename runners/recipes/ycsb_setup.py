"""The setup of a YCSB order: a preset with the order's changes, checked, and the command lines that follow."""

from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address
from typing import Any

from runners.errors import RequestRefusedError
from runners.recipes.ycsb_presets import (
    AEROSPIKE,
    BASIC,
    MONGODB,
    PRESETS,
    ROCKSDB,
    SERVERS,
    STANDARD_WORKLOADS,
    Preset,
)

JAVA, GO = "java", "go"
PROGRAMS = {JAVA: "ycsb", GO: "go-ycsb"}
JAVA_BINDINGS = {
    ROCKSDB: "site.ycsb.db.rocksdb.RocksDBClient",
    AEROSPIKE: "site.ycsb.db.AerospikeClient",
    MONGODB: "site.ycsb.db.MongoDbClient",
    BASIC: "site.ycsb.BasicDB",
}
# The client runs in out/ of the run directory; the files that were sent are above it.
SENT = ".."
WORKLOAD_FILE, CONFIGURATION_FILE = "workload{}", "database.conf"
HDR_PREFIX = "hdr-"
PERCENTILES = "50,95,99,99.9,99.99"
STATUS_INTERVAL_S = 10
AEROSPIKE_PORT, MONGODB_PORT = 3000, 27017
GO_DATABASE = "ycsb"  # of MongoDB, whatever the URL names. Source: go-ycsb, db/mongodb/db.go
# YCSB stores these counts in an int. Source: site.ycsb.Client, Integer.parseInt of operationcount.
COUNT_MAX = 2**31 - 1
# An archive of logs is read up to this many; a load and the runs of a sweep are one each. Source: drivetest, LOGS_MAX.
LOGS_MAX = 64
# The parts of a preset that an order may change.
CHANGES = ("record_count", "operation_count", "workloads", "threads", "load_threads", "field_count", "field_bytes",
           "distribution", "file_system", "mount_point", "mount_options")  # fmt: skip
# The other parts of an order. Each has a default.
SETTINGS = ("client", "database_host", "namespace", "configuration", "max_execution_s", "status_interval_s")


class SetupError(RequestRefusedError):
    """The order cannot run as it is. The text says what to change."""

    code = "setup-invalid"


@dataclass(frozen=True)
class Setup:
    """One sweep. `database_host` is the database's address for the client; `properties` are additional ones.

    `configuration` is the text of the database's configuration file, sent to the host and stored with the order.
    """

    preset: str
    plan: Preset
    client: str = JAVA
    database_host: str = "localhost"
    namespace: str = "ycsb"
    configuration: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    max_execution_s: int | None = None
    status_interval_s: int = STATUS_INTERVAL_S


def parse_setup(options: dict[str, Any]) -> Setup:
    """Return the setup of an order's options. Raise SetupError if it cannot run."""
    name = options.get("preset")
    if name not in PRESETS:
        raise SetupError(f"preset: expected one of {', '.join(sorted(PRESETS))}, got {name!r}")
    changes = {key: options[key] for key in CHANGES if options.get(key) is not None}
    changes = {key: tuple(value) if isinstance(value, list) else value for key, value in changes.items()}
    properties = tuple(sorted(options.get("properties", {}).items()))
    settings = {key: options[key] for key in SETTINGS if key in options}
    setup = Setup(name, replace(PRESETS[name], **changes), properties=properties, **settings)
    if objections := objections_to(setup):
        raise SetupError("; ".join(objections))
    return setup


def objections_to(setup: Setup) -> list[str]:
    """Return, as sentences, why a sweep cannot run as ordered; empty if it can."""
    plan = setup.plan
    inserts_again = plan.binding in SERVERS and len({"d", "e"} & set(plan.workloads)) * len(plan.threads) > 1
    is_other_database = plan.binding == MONGODB and setup.client == GO and setup.namespace != GO_DATABASE
    has_others = bool(set(plan.workloads) - set(STANDARD_WORKLOADS))
    found = {
        f"client: expected java or go, got {setup.client!r}": setup.client not in PROGRAMS,
        "go-ycsb has no BasicDB as Java's YCSB has it; choose java": setup.client == GO and plan.binding == BASIC,
        f"workloads: expected letters a to f, got {plan.workloads!r}": has_others,
        "operation_count: the source does not state it; enter one": plan.operation_count is None,
        f"counts: expected at most {COUNT_MAX}": max(plan.record_count, plan.operation_count or 0) > COUNT_MAX,
        "go-ycsb has no time limit; leave max_execution_s out": setup.client == GO and bool(setup.max_execution_s),
        "Aerospike and MongoDB refuse to insert a record again: order d or e with one thread count": inserts_again,
        f"go-ycsb uses the database {GO_DATABASE} of MongoDB; leave namespace out": is_other_database,
        f"a sweep of {_runs_count(plan)} runs: expected at most {LOGS_MAX - 1}": _runs_count(plan) >= LOGS_MAX,
        "threads and workloads: expected one of each at least": _runs_count(plan) == 0,
    }  # fmt: skip
    return [sentence for sentence, is_so in found.items() if is_so]


def objection_to_second_host(setup: Setup, name: str) -> str:
    """Return why the requests of a sweep cannot come from the second host with this name; empty if they can."""
    if setup.plan.binding == ROCKSDB:
        return f"RocksDB is part of the client, which would then use a disk of {name}; leave load_host out"
    if setup.plan.binding in SERVERS and _is_loopback(setup.database_host):
        return (
            f"database_host: expected the address at which {name} reaches the database, got {setup.database_host!r}, "
            f"which is {name} itself"
        )
    return ""


def _is_loopback(address: str) -> bool:
    plain = address.strip("[]").rstrip(".").lower()
    if plain == "localhost" or plain.endswith(".localhost"):
        return True
    try:
        found = ip_address(plain)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (mapped or found).is_loopback


def _runs_count(plan: Preset) -> int:
    return len(plan.workloads) * len(plan.threads)


def needed_programs(setup: Setup) -> list[str]:
    """Return the names of the programs that the hosts of a sweep have to allow, in the order of its stages."""
    plan = setup.plan
    file_system = [f"mkfs-{plan.file_system}", "mount", "unmount"] if plan.file_system else []
    return [*file_system, *SERVERS.get(plan.binding, ()), PROGRAMS[setup.client]]


def load_line(setup: Setup) -> list[str]:
    """Return the client's arguments that fill the database."""
    return _line(setup, setup.plan.workloads[0], setup.plan.load_threads, is_load=True)


def run_line(setup: Setup, workload: str, threads: int) -> list[str]:
    """Return the client's arguments of one run of the sweep."""
    return _line(setup, workload, threads, is_load=False)


def _line(setup: Setup, workload: str, threads: int, *, is_load: bool) -> list[str]:
    file = f"{SENT}/{WORKLOAD_FILE.format(workload)}"
    properties = _properties(setup, is_load=is_load)
    pairs = [word for name, value in properties.items() for word in ("-p", f"{name}={value}")]
    if setup.client == GO:
        head = ["load" if is_load else "run", setup.plan.binding, "-P", file]
        return [*head, *pairs, "--threads", str(threads), "--interval", str(setup.status_interval_s)]
    head = ["-load" if is_load else "-t", "-db", JAVA_BINDINGS[setup.plan.binding], "-P", file]
    return [*head, *pairs, "-threads", str(threads), "-s"]


def _properties(setup: Setup, *, is_load: bool) -> dict[str, str]:
    plan = setup.plan
    chosen = _of_binding(setup) | {
        "recordcount": str(plan.record_count),
        "fieldcount": str(plan.field_count),
        "fieldlength": str(plan.field_bytes),
    }
    if plan.distribution:
        chosen["requestdistribution"] = plan.distribution
    if not is_load and plan.operation_count is not None:
        chosen["operationcount"] = str(plan.operation_count)
    if setup.max_execution_s and not is_load:
        chosen["maxexecutiontime"] = str(setup.max_execution_s)
    return chosen | _of_measurement(setup) | dict(setup.properties)


def _of_binding(setup: Setup) -> dict[str, str]:
    is_java = setup.client == JAVA
    if setup.plan.binding == ROCKSDB:
        file = f"{SENT}/{CONFIGURATION_FILE}"
        options = {"rocksdb.optionsfile": file} if setup.configuration and is_java else {}
        return {"rocksdb.dir": setup.plan.mount_point} | options
    if setup.plan.binding == AEROSPIKE:
        prefix, namespace = ("as", "as.namespace") if is_java else ("aerospike", "aerospike.ns")
        address = {f"{prefix}.host": setup.database_host, f"{prefix}.port": str(AEROSPIKE_PORT)}
        return address | {namespace: setup.namespace}
    if setup.plan.binding == MONGODB:
        return {"mongodb.url": f"mongodb://{setup.database_host}:{MONGODB_PORT}/{setup.namespace}?w=1"}
    return {}


def _of_measurement(setup: Setup) -> dict[str, str]:
    """Return the measurement properties. go-ycsb listens on every interface unless it gets an address."""
    if setup.client == GO:
        return {"debug.pprof": "127.0.0.1:0"}
    return {
        "measurementtype": "hdrhistogram",
        "hdrhistogram.percentiles": PERCENTILES,
        "hdrhistogram.fileoutput": "true",
        "hdrhistogram.output.path": HDR_PREFIX,
        "status.interval": str(setup.status_interval_s),
    }
