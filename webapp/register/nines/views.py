"""Nines at scale: slow reads per second from one drive to many racks, and the chance that a request has a slow read."""

from fractions import Fraction
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from results.rules.act.loads import printed_decimal
from results.rules.nines import Scale, chance_of_a_slow_read, slow_reads
from webapp.register.http.files import Value, rows_response
from webapp.register.http.query_params import FORMAT, form_address, labels_of, number, read_parameters
from webapp.register.http.responses import public_page
from webapp.templatetags import units

PARALLEL_ROWS = (1, 10, 100, 1_000, 10_000)
MOST = str(10**9)
# Source of the defaults: Micron 7450 brief
PARAMETERS = (
    number("reads", "Reads per second of one drive", ("1", MOST), default=1_000_000, is_whole=True),
    number("nines", "Latency target of a drive, in nines", ("1", "12"), default=5, is_whole=True),
    number("drives", "Number of drives in a server", ("1", MOST), default=10, is_whole=True),
    number("servers", "Number of servers in a rack", ("1", MOST), default=20, is_whole=True),
    number("racks", "Number of racks", ("1", MOST), default=20, is_whole=True),
    number("parallel", "Number of parallel reads in a request", ("1", MOST), default=100, is_whole=True),
    FORMAT,
)
FIELDS = ("of", "number", "drives", "reads_per_s", "slow_reads_per_s")


def nines_context(scale: Scale, parallel: int) -> dict[str, Any]:
    """Return the answer as the template shows it."""
    rows = nines_rows(scale)
    first, last = (small(row["slow_reads_per_s"]) for row in (rows[0], rows[-1]))
    chance = percentage(chance_of_a_slow_read(scale.nines, parallel))
    notes = (
        f"{round(scale.reads_per_s):,d} reads/s x 10^-{scale.nines}",
        f"x {scale.drives:,d} drives",
        f"x {scale.servers:,d} servers",
        f"x {scale.racks:,d} racks",
    )
    return {
        "scale": scale,
        "parallel": parallel,
        "percentile": percentile_of(scale.nines),
        "sentence": f"{first} slow read{'' if first == '1' else 's'} per second on one drive become {last} "
        f"in {scale.racks:,d} rack{'' if scale.racks == 1 else 's'}.",
        "rows": [
            row | {"note": note, "reads": round(row["reads_per_s"]), "slow": small(row["slow_reads_per_s"])}
            for row, note in zip(rows, notes, strict=True)
        ],
        "chances": [
            (count, percentage(chance_of_a_slow_read(scale.nines, count)))
            for count in sorted({*PARALLEL_ROWS, parallel})
        ],
        "chance_sentence": f"Of requests with {parallel:,d} parallel read{'' if parallel == 1 else 's'}, "
        f"{chance} have at least one slow read.",
    }


def nines_rows(scale: Scale) -> list[dict[str, Any]]:
    """Return the levels of the scale, from one drive to all racks, with exact values."""
    rows: list[dict[str, Any]] = []
    drives = 1
    for step in slow_reads(scale):
        drives *= step.number
        reads = scale.reads_per_s * drives
        rows.append(dict(zip(FIELDS, (step.thing, step.number, drives, reads, step.slow_per_s), strict=True)))
    return rows


def small(value: Fraction) -> str:
    """Return a rate with thousands separated; below 10 with three significant digits."""
    return f"{round(value):,d}" if value >= 10 or value == int(value) else f"{float(value):.3g}"


def percentage(ratio: float) -> str:
    """Return a chance in percent with three significant digits; values near 100 % are shown as more than 99.9 %."""
    percent = ratio * 100
    if percent > 99.95:
        return f"more than 99.9{units.NBSP}%"
    return f"{percent:.3g}{units.NBSP}%"


def percentile_of(nines: int) -> str:
    """Return the percentile with this number of nines.

    >>> percentile_of(1), percentile_of(2), percentile_of(5)
    ('p90', 'p99', 'p99.999')
    """
    return {1: "p90", 2: "p99"}.get(nines, f"p99.{'9' * (nines - 2)}")


def nines_values(scale: Scale) -> list[dict[str, Value]]:
    """Return the rows of the export."""
    return [
        row
        | {
            "reads_per_s": printed_decimal(row["reads_per_s"], 0),
            "slow_reads_per_s": printed_decimal(row["slow_reads_per_s"], 12),
        }
        for row in nines_rows(scale)
    ]


SCHEMA = "drivecert.nines/1"


@public_page
def nines(request: HttpRequest) -> HttpResponse:
    found = read_parameters(request.GET, PARAMETERS)
    parallel, form = found.pop("parallel"), found.pop("form")
    scale = Scale(Fraction(found.pop("reads")), **found)
    if form != "html":
        return rows_response(form, "nines", SCHEMA, FIELDS, nines_values(scale))
    context = {
        "section": "sizing",
        "page": nines_context(scale, parallel),
        "labels": labels_of(PARAMETERS),
        "csv_address": form_address(request, "csv"),
        "json_address": form_address(request, "json"),
    }
    return render(request, "register/nines/nines.html", context)
