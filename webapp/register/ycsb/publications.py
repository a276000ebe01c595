"""The vendors' publications behind the published YCSB figures: what each set up, in its own words."""

from dataclasses import dataclass

RESERVED = frozenset({"claims", "loads"})  # addresses below /ycsb/ that are no publication


@dataclass(frozen=True)
class Publication:
    """One publication: its title, and the set-up that its figures were taken with."""

    title: str
    setup: str
    missing: str = ""


# Source: the publications themselves, as results/catalogue/published holds their figures.
PUBLICATIONS = {
    "micron-7400-brief": Publication(
        "Micron 7400 PRO against 7300 PRO on RocksDB",
        "3.84 TB each; 250 M records of 4 x 1,024 bytes, 200 M operations, uniform requests, YCSB 0.17.0 of the HSE "
        "fork, XFS, one drive alone.",
        "Latencies are drawn in the brief, not printed, and so are not here.",
    ),
    "micron-7450-brief": Publication(
        "Micron 7450 PRO against a first-generation PCIe Gen4 drive on RocksDB",
        "7.68 TB each; workload A with 4 to 32 threads, RocksDB 6.22, 250 M records of 4 x 1,024 bytes.",
        "The curves are drawn: only the points that the text names, or that can be read off the figure, are here.",
    ),
    "micron-x100-paper": Publication(
        "Micron X100 against 9300 MAX on Aerospike",
        "800 GB and 3.2 TB; 97 M records of 4,096 bytes, uniform requests but for D, 8 to 128 threads, Aerospike "
        "Enterprise 5.2.0.4 with its index in memory, load generator on a host of its own. Defragmentation ran on the "
        "X100 only, which doubled its request size.",
        "The curves are drawn: only the points that the text names, or that can be read off the figure, are here.",
    ),
    "kioxia-fl6-brief": Publication(
        "KIOXIA FL6 against a TLC PCIe 4.0 drive on Aerospike",
        "3.2 TB each; 300 M records of 375.93 GB, 128 threads, 2 G operations, Aerospike 5.7.0.8 with index and data "
        "on the drive.",
        "The brief's E is the load phase: 300 M inserts, 5.19 min at 962,872 ops/s. It prints D's insert latency as "
        "“Average Update Latency” and E's as “Average Read Latency”; here both stand under what they are.",
    ),
}
WORKLOADS = {
    "A": "50 % reads, 50 % updates",
    "B": "95 % reads, 5 % updates",
    "C": "reads only",
    "D": "95 % reads of the latest, 5 % inserts",
    "E": "95 % scans, 5 % inserts",
    "F": "50 % reads, 50 % read-modify-writes",
}
LOAD_PHASE = "the load phase: inserts only"
METRICS = {
    "throughput": "Throughput",
    "throughput_max": "Highest throughput",
    "runtime": "Run time",
    "read_latency_avg": "Average read latency",
    "update_latency_avg": "Average update latency",
    "insert_latency_avg": "Average insert latency",
    "read_modify_write_latency_avg": "Average read-modify-write latency",
    "read_latency_p99_9": "Read latency, p99.9",
    "read_latency_p99_99": "Read latency, p99.99",
    "cpu_utilization_max": "Processors busy, highest",
    "iowait_max": "Waiting for I/O, highest",
    "memory_used": "Memory used",
    "average_request_size": "Average request size of the device",
}


def publication_of(slug: str) -> Publication:
    """Return what is known of a publication; of one without a description its name alone."""
    return PUBLICATIONS.get(slug, Publication(slug, ""))


def metric_name(metric: str) -> str:
    """Return a metric as people call it."""
    return METRICS.get(metric, metric.replace("_", " "))


def workload_note(publication: str, letter: str) -> str:
    """Return what a workload is made of; the FL6 brief calls its load phase E."""
    if publication == "kioxia-fl6-brief" and letter == "E":
        return LOAD_PHASE
    return WORKLOADS.get(letter, "")
