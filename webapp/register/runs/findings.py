"""In which order findings are read: what decides first, and what several runs of one submission share only once."""

from collections.abc import Iterable, Sequence

from results.models import Finding

RANKS = {Finding.Severity.DECIDES: 0, Finding.Severity.LOOK: 1, Finding.Severity.NOTE: 2}


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by how much they matter, those that matter alike in the reader's order."""
    return sorted(findings, key=lambda finding: (RANKS[Finding.Severity(finding.severity)], finding.ordinal))


def shared_by_all(runs: Sequence[Sequence[Finding]]) -> set[tuple[str, str]]:
    """Return rule and sentence of the findings that each of several runs has; nothing of a single run."""
    told = [{(finding.rule_id, finding.sentence) for finding in findings} for findings in runs]
    return set.intersection(*told) if len(told) > 1 else set()
