"""Which YCSB runs make one sweep: those that differ in nothing that is known but their threads.

Source: the key of a point as YCSB's own outputs allow it: tool and version, binding and its options, workload, actual
proportions and distribution, phase, records and their bytes, operations or time limit, target, kind of times.
"""

import hashlib
import json

from results.reader.process import Document

# Asked of every run of a sweep, and told in `properties` where the output or a file beside it tells them.
OF_THE_LOAD = frozenset({
    "readproportion", "updateproportion", "insertproportion", "scanproportion", "readmodifywriteproportion",
    "requestdistribution", "fieldcount", "fieldlength", "fieldlengthdistribution", "readallfields", "writeallfields",
    "maxscanlength", "scanlengthdistribution", "insertorder", "insertstart", "insertcount", "table", "zeropadding",
    "hotspotdatafraction", "hotspotopnfraction", "batchsize",
})  # fmt: skip
# Options of a binding are named after it. Directories, hosts and secrets of one machine are none of the load.
OF_THE_PLACE = frozenset({"rocksdb.dir", "as.host", "as.port", "as.user", "as.password"})
NOT_OF_A_BINDING = ("hdrhistogram.", "histogram.", "measurement.", "timeseries.", "status.", "core_workload_insertion")
REQUIRED = ("phase", "workload", "binding", "record_count")


def sweep_key(read: Document) -> str:
    """Return the key of a YCSB run as the reader told it, 64 hexadecimal digits; "" where too little is known.

    The drive is not in it: a sweep is asked for by drive and key, and a drive may be named after the reading.
    """
    if any(read[name] is None for name in REQUIRED):
        return ""
    facts = [
        read["tool"], read["tool_version"], read["phase"], read["workload"], read["binding"], read["record_count"],
        read["operation_count"], read["time_limit_s"], read["target_ops_per_s"], read["times"], _options(read),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts, separators=(",", ":")).encode()).hexdigest()


def _options(read: Document) -> list[list[str]]:
    return sorted([name, value] for name, value in read["properties"] if is_of_the_load(name))


def is_of_the_load(name: str) -> bool:
    """Tell whether a property decides what a run does, and not only where it does it."""
    is_of_a_binding = "." in name and not name.startswith(NOT_OF_A_BINDING)
    return name in OF_THE_LOAD or (is_of_a_binding and name not in OF_THE_PLACE)
