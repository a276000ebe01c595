"""From a YCSB run as `drivetest read --json` printed it to its own rows; the caller holds the transaction."""

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from results.ingest.sweep_key import sweep_key
from results.models import Run, YcsbInterval, YcsbOperation, YcsbRun
from results.models.copy_rows import copy_rows
from results.reader.process import Document

COUNTS = ["threads_count", "record_count", "operation_count", "time_limit_s", "done_ops_count", "failed_ops_count"]
DIGITS_MAX = 18
DECIMALS = ["target_ops_per_s", "runtime_ms", "throughput_ops_per_s"]
TEXTS = {"phase": 10, "workload": 200, "binding": 200, "measurement": 40, "times": 20, "command_line": None}
PERCENTILE_COLUMNS = {"50": "p50_us", "95": "p95_us", "99": "p99_us", "99.9": "p999_us", "99.99": "p9999_us"}
INTERVAL_COLUMNS = ["ycsb_run", "ordinal", "elapsed_s", "done_ops_count", "ops_per_s", "operations"]


def duration_s(read: Document) -> int | None:
    """Return the whole seconds that a run took; None where the output does not say."""
    runtime_ms = decimal_of(read["runtime_ms"])
    return None if runtime_ms is None else int(runtime_ms) // 1000


def write_ycsb(run: Run, read: Document) -> None:
    """Write the facts, operations and status lines of a new run."""
    ycsb_run = YcsbRun.objects.create(
        run=run,
        properties=read["properties"],
        validity=read["validity"]["outcome"],
        reasons=read["validity"]["reasons"],
        sweep_key=sweep_key(read),
        **{name: (read[name] or "")[:length] for name, length in TEXTS.items()},
        **{name: read[name] for name in COUNTS},
        **{name: decimal_of(read[name]) for name in DECIMALS},
    )
    YcsbOperation.objects.bulk_create(
        _operation(ycsb_run, ordinal, operation) for ordinal, operation in enumerate(read["operations"])
    )
    copy_rows(YcsbInterval, INTERVAL_COLUMNS, _intervals(ycsb_run, read))


def _operation(ycsb_run: YcsbRun, ordinal: int, told: Document) -> YcsbOperation:
    by_percentile = {name: double_of(value) for name, value in told["percentiles"]}
    return YcsbOperation(
        ycsb_run=ycsb_run,
        ordinal=ordinal,
        name=told["name"][:160],
        outcome=told["outcome"][:40],
        time=told["time"] or "",  # only the command line tells which time plain names hold
        ops_count=told["ops_count"],
        percentiles=told["percentiles"],
        returns=told["returns"],
        taken_from=told["from"],
        **{name: double_of(told[name]) for name in ("mean_us", "min_us", "max_us")},
        **{column: by_percentile.get(name) for name, column in PERCENTILE_COLUMNS.items()},
    )


def _intervals(ycsb_run: YcsbRun, read: Document) -> Iterator[list[object]]:
    for ordinal, told in enumerate(read["intervals"]):
        rate = decimal_of(told["ops_per_s"])
        yield [ycsb_run.pk, ordinal, told["elapsed_s"], told["ops_count"], rate, json.dumps(told["operations"])]


def decimal_of(text: str | None) -> Decimal | None:
    """Return a printed number; None where there is none, or NaN: of no operations there is no mean.

    Raises InvalidOperation where no column holds it.
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
