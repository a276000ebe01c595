"""What the page of one publication shows: sweeps, improvements, summaries, fixed points, and what else it states."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.models import PublishedClaim
from results.rules.ycsb import sweeps
from webapp.register.ycsb.curves import Curve, Panel
from webapp.register.ycsb.figures import Figure, Figures
from webapp.register.ycsb.fixed_points import FixedPoints, fixed_points
from webapp.register.ycsb.improvement import ImprovementTable, Sides, improvement_table
from webapp.register.ycsb.publications import Publication, metric_name, publication_of, workload_note
from webapp.register.ycsb.summary import WorkloadSummary, summaries

Claims = Sequence[PublishedClaim]


@dataclass(frozen=True)
class SingleRow:
    """One figure that stands alone, or beside the other drive's."""

    workload: str
    metric: str
    threads: str
    values: Sequence[str]
    remark: str


@dataclass(frozen=True)
class PublicationPage:
    """One publication, ready to show."""

    slug: str
    publication: Publication
    drives: Sequence[str]
    sentence: str
    tables: Sequence[ImprovementTable]
    summaries: Sequence[WorkloadSummary]
    fixed: FixedPoints
    singles: Sequence[SingleRow]
    panels: Sequence[Panel]
    figures_count: int
    claims_count: int


def publication_page(figures: Figures, claims: Claims) -> PublicationPage:
    """Return what is shown of a publication's figures and claims."""
    tables = [_table(figures, letter, claims) for letter in _swept(figures)]
    told, fixed = summaries(figures), fixed_points(figures)
    return PublicationPage(
        figures.publication,
        publication_of(figures.publication),
        figures.drives,
        _sentence(tables, told, fixed),
        tables,
        told,
        fixed,
        _singles(figures, {each.letter for each in told}),
        [_panel(figures, letter) for letter in _swept(figures)],
        len(figures.all),
        len(claims),
    )


def _swept(figures: Figures) -> list[str]:
    """Return the workloads with a throughput at several thread counts."""
    drive = figures.drives[0]
    return [letter for letter in figures.workloads if len(figures.sweep(letter, drive)) > 1]


def _table(figures: Figures, letter: str, claims: Claims) -> ImprovementTable:
    drive, base = figures.drives[:2]
    return improvement_table(
        (letter, workload_note(figures.publication, letter)),
        Sides(drive, base),
        figures.sweep(letter, drive),
        figures.sweep(letter, base),
        [
            f"It claims {each.stated_value} % ({each.claim}): {each.status}."
            for each in claims
            if each.workload == letter and each.recomputed_value
        ],
    )


def _panel(figures: Figures, letter: str) -> Panel:
    curves = []
    for drive in figures.drives[:2]:
        sweep = figures.sweep(letter, drive)
        best = sweeps.peak([sweeps.Point(*point) for point in sweep.items()])
        points = [(Fraction(threads), sweep[threads]) for threads in sorted(sweep)]
        curves.append(Curve(drive, points, peak=sorted(sweep).index(best.threads) if best else -1))
    return Panel(
        f"Workload {letter}", workload_note(figures.publication, letter), "threads", "ops/s", curves, is_x_log=True
    )


def _singles(figures: Figures, summarised: set[str]) -> list[SingleRow]:
    """Return what no other table of the page has."""
    left = [
        each
        for each in figures.all
        if each.row.workload not in summarised and (each.row.at_ops_per_s is None or each.latency_us is None)
    ]
    left = [each for each in left if not (each.row.metric == "throughput" and each.row.threads_count)]
    keys = dict.fromkeys((each.row.workload, each.row.metric, each.row.threads_count) for each in left)
    return [_single(figures.drives, left, key) for key in keys]


def _single(drives: Sequence[str], left: Sequence[Figure], key: tuple[str, str, int | None]) -> SingleRow:
    same = [each for each in left if (each.row.workload, each.row.metric, each.row.threads_count) == key]
    by_drive = {each.row.model: f"{each.row.value} {each.row.unit}" for each in same}
    remarks = dict.fromkeys(f"{each.row.model}: {each.remark}" for each in same if each.remark)
    threads = f"{key[2]:,d}" if key[2] else ""
    return SingleRow(
        key[0], metric_name(key[1]), threads, [by_drive.get(drive, "") for drive in drives], "; ".join(remarks)
    )


def _sentence(tables: Sequence[ImprovementTable], told: Sequence[WorkloadSummary], fixed: FixedPoints) -> str:
    """Say in one sentence what the figures give."""
    if tables:
        first = tables[0]
        others = ", ".join(f"on {table.title} {table.peak_gain} %" for table in tables[1:])
        return f"{first.sentence} than the {first.base}{f'; {others}' if others else ''}."
    if told:
        gains = ", ".join(
            f"{each.letter} {row.gain} %" for each in told for row in each.rows if row.metric == "Throughput"
        )
        return f"Throughput on workload {gains}, recomputed from the printed figures."
    if fixed.throughput_rows:
        row = fixed.throughput_rows[-1]
        exact = f"; {row.remark}" if row.remark else ""
        return f"On workload {row.workload}, at {row.held}: {row.metric.lower()} {row.comparison}{exact}."
    return ""
