"""Little's law on published figures: throughput and mean latencies of one run, against its thread count."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from results.rules.ycsb.claim_terms import in_us
from results.rules.ycsb.claims import Figure
from results.rules.ycsb.sweeps import CORE_MIX, LittlesLaw, littles_law, mean_latency_us

THROUGHPUT = "throughput"
MEAN_SUFFIX = "_latency_avg"


@dataclass(frozen=True)
class FigureFlight:
    """Operations in flight of one published run."""

    publication: str
    model: str
    workload: str
    law: LittlesLaw


def flights(figures: Sequence[Figure]) -> tuple[FigureFlight, ...]:
    """Return the known flights, in the order of the figures: runs with threads and the mean of each operation.

    A workload whose only stated operation is the insert is its load phase, for any letter (E of the FL6 brief).
    """
    return tuple(_flights(figures))


def _flights(figures: Sequence[Figure]) -> Iterator[FigureFlight]:
    for figure in figures:
        if figure.metric != THROUGHPUT or figure.threads is None:
            continue
        means = _means(figure, figures)
        mix = CORE_MIX["load"] if set(means) == {"insert"} else CORE_MIX.get(figure.workload, {})
        mean_us = mean_latency_us(mix, means)
        if mean_us is not None:
            law = littles_law(figure.value, mean_us, figure.threads)
            yield FigureFlight(figure.publication, figure.model, figure.workload, law)


def _means(run: Figure, figures: Sequence[Figure]) -> Mapping[str, Fraction]:
    """Return the mean latency of each operation of the run that has a throughput, in us."""
    key = (run.publication, run.model, run.workload, run.threads)
    means = {
        figure.metric.removesuffix(MEAN_SUFFIX): in_us(figure.value, figure.unit)
        for figure in figures
        if figure.metric.endswith(MEAN_SUFFIX)
        and (figure.publication, figure.model, figure.workload, figure.threads) == key
    }
    return {name: mean_us for name, mean_us in means.items() if mean_us is not None}
