"""What is missing for a certificate, by the rules of certificates, from the runs of one log alone."""

import json
from collections.abc import Iterable
from typing import Any

from results.access.withholding import attempt_sentences
from results.certification.certificates import document_of
from results.models import RATED_WORKLOAD, YCSB, Profile, Run, Verdict
from results.rules.act.loads import printed_nx
from results.rules.certification.certify import certify
from results.rules.certification.facts import CandidateRun, Certificate
from results.rules.comparability import coalescing_times_us
from results.rules.plural import counted

NO_RATED_RUN = {
    YCSB: "A run of YCSB never certifies a drive, because it goes through a database.",
    "act-index": "A run of act_index never certifies a drive. Certificates are for runs of act_storage or drivetest.",
}
NO_VERDICT = "The log has no run that can be judged, so it cannot support a certificate."
NO_DEVICE_COUNT = (
    "The log does not report the number of devices, so it cannot support a certificate. Send it with the configuration "
    "of the run."
)


def needs_of(runs: Iterable[tuple[str, Run, Verdict | None]], profile: Profile) -> dict[str, Any]:
    """Return the present and missing requirements, for each number of devices; or a sentence why none applies."""
    named = list(runs)
    rated = [each for each in named if each[1].workload == RATED_WORKLOAD]
    candidates = [_candidate(name, run, verdict) for name, run, verdict in rated if verdict]
    counts = sorted({each.device_count for each in candidates if each.device_count})
    if candidates and not counts:
        return {"sentence": NO_DEVICE_COUNT, "attempts": []}
    if not counts:
        other = next((run.workload for _, run, _ in named if run.workload != RATED_WORKLOAD), "")
        return {"sentence": NO_RATED_RUN.get(other, NO_VERDICT), "attempts": []}
    duration_s = json.loads(profile.document)["duration_s"]
    return {"sentence": "", "attempts": [_attempt(certify(candidates, count, duration_s)) for count in counts]}


def _candidate(name: str, run: Run, verdict: Verdict) -> CandidateRun:
    """Return a run as the rules see it. A log alone identifies no drive."""
    coalesced_us = coalescing_times_us(run.facts.get("generator"), run.tool_version, run.facts.get("coalesce_us"))
    return CandidateRun(
        id=name,
        outcome=verdict.outcome,
        stop_kind=(run.facts.get("stop") or {}).get("kind"),
        reads_per_s=run.reads_per_s,
        writes_per_s=run.writes_per_s,
        device_count=run.device_count,
        duration_s=run.duration_s,
        is_virtual=True if run.is_virtual or run.facts.get("is_virtual_device") else None,
        departures=tuple(verdict.document["reasons"]),
        coalesce_us=max(coalesced_us, default=0),
    )


def _attempt(certified: Certificate) -> dict[str, Any]:
    at = f" at {printed_nx(certified.attempted_nx)}" if certified.attempted_nx is not None else ""
    title = f"{counted(certified.device_count, 'device')}{at}"
    document = document_of(certified)
    return {
        "title": title,
        "device_count": certified.device_count,
        "document": document,
        **attempt_sentences(document),
    }
