"""Rows of a YCSB run from the JSON of `drivetest read`, and the key of its sweep; the caller owns the transaction."""

import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from results.models import Run, YcsbInterval, YcsbOperation, YcsbRun
from results.models.row_operations import copy_rows
from results.reader.process import Document

# Properties that all runs of a sweep share; in `properties` if the output or a companion file contains them.
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
    """Return the sweep key of a YCSB run, 64 hexadecimal digits; "" if too little is known.

    Source: what YCSB's own outputs report of a point: tool and version, binding and its options, workload, proportions
    and distribution, phase, records and their bytes, operations or time limit, target, kind of times.

    The drive is not in it: sweeps are queried by drive and key, and a drive may be named after the reading.
    """
    if any(read[name] is None for name in REQUIRED):
        return ""
    options = sorted([name, value] for name, value in read["properties"] if is_of_the_load(name))
    facts = [
        read["tool"], read["tool_version"], read["phase"], read["workload"], read["binding"], read["record_count"],
        read["operation_count"], read["time_limit_s"], read["target_ops_per_s"], read["times"], options,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts, separators=(",", ":")).encode()).hexdigest()


def is_of_the_load(name: str) -> bool:
    """Return whether a property decides what a run does, and not only where it does it."""
    is_of_a_binding = "." in name and not name.startswith(NOT_OF_A_BINDING)
    return name in OF_THE_LOAD or (is_of_a_binding and name not in OF_THE_PLACE)


COUNTS = ["threads_count", "record_count", "operation_count", "time_limit_s", "done_ops_count", "failed_ops_count"]
DIGITS_MAX = 18
DECIMALS = ["target_ops_per_s", "runtime_ms", "throughput_ops_per_s"]
TEXTS = {"phase": 10, "workload": 200, "binding": 200, "measurement": 40, "times": 20, "command_line": None}
PERCENTILE_COLUMNS = {"50": "p50_us", "95": "p95_us", "99": "p99_us", "99.9": "p999_us", "99.99": "p9999_us"}
INTERVAL_COLUMNS = ["ycsb_run", "ordinal", "elapsed_s", "done_ops_count", "ops_per_s", "operations"]


def duration_s(read: Document) -> int | None:
    """Return the duration of a run in whole seconds; None if the output does not state it."""
    runtime_ms = decimal_of(read["runtime_ms"])
    return None if runtime_ms is None else int(runtime_ms) // 1000


def write_ycsb(run: Run, read: Document) -> None:
    """Write the facts, operations and status lines of a new run."""
    ycsb_run = ycsb_row(run, read)
    ycsb_run.save()
    YcsbOperation.objects.bulk_create(operation_rows(ycsb_run, read))
    copy_rows(YcsbInterval, INTERVAL_COLUMNS, _intervals(ycsb_run, read))


def ycsb_row(run: Run, read: Document) -> YcsbRun:
    """Return the facts of a run as a row that is not stored yet."""
    return YcsbRun(
        run=run,
        properties=read["properties"],
        validity=read["validity"]["outcome"],
        reasons=read["validity"]["reasons"],
        sweep_key=sweep_key(read),
        **{name: (read[name] or "")[:length] for name, length in TEXTS.items()},
        **{name: read[name] for name in COUNTS},
        **{name: decimal_of(read[name]) for name in DECIMALS},
    )


def operation_rows(ycsb_run: YcsbRun, read: Document) -> list[YcsbOperation]:
    """Return the operations of a run as rows that are not stored yet."""
    return [_operation(ycsb_run, ordinal, operation) for ordinal, operation in enumerate(read["operations"])]


def _operation(ycsb_run: YcsbRun, ordinal: int, source: Document) -> YcsbOperation:
    by_percentile = {name: double_of(value) for name, value in source["percentiles"]}
    return YcsbOperation(
        ycsb_run=ycsb_run,
        ordinal=ordinal,
        name=source["name"][:160],
        outcome=source["outcome"][:40],
        time=source["time"] or "",  # only the command line shows which time a plain name means
        taken_from=source["from"],
        **{name: source[name] for name in ("ops_count", "percentiles", "returns")},
        **{name: double_of(source[name]) for name in ("mean_us", "min_us", "max_us")},
        **{column: by_percentile.get(name) for name, column in PERCENTILE_COLUMNS.items()},
    )


def _intervals(ycsb_run: YcsbRun, read: Document) -> Iterator[list[object]]:
    for ordinal, source in enumerate(read["intervals"]):
        rate = decimal_of(source["ops_per_s"])
        yield [ycsb_run.pk, ordinal, source["elapsed_s"], source["ops_count"], rate, json.dumps(source["operations"])]


def decimal_of(text: str | None) -> Decimal | None:
    """Return a printed number; None if it is missing or NaN, which is the mean of no operations.

    Raises InvalidOperation if the number fits into no column.
    """
    number = None if text is None else Decimal(text)
    if number is None or number.is_nan():
        return None
    if not number.is_finite() or number.adjusted() > DIGITS_MAX:
        raise InvalidOperation(f"expected a number below 10^{DIGITS_MAX + 1}, got {text}")
    return number


def double_of(text: str | None) -> float | None:
    """Return a time in us. Raises InvalidOperation where no time can be that long."""
    number = decimal_of(text)
    return None if number is None else float(number)
