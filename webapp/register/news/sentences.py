"""Sentences of news, made from the kind and the details of an event. Old events may lack details: they say less."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.text import capfirst

from results.access.withholding import REEVALUATED
from results.catalogue.claims import CLAIM_CHANGED, CLAIMS_RECOMPUTED
from results.catalogue.rows import published_sources
from results.history import PUBLISHED
from results.models import YCSB, Certificate, Event, Statistic, Verdict
from results.products.facts import FACTS_CHANGED, PRICE_ADDED, PRICE_REMOVED
from results.products.moves import MERGED, REVERTED, SPLIT
from results.products.renaming import RENAMED
from results.reevaluation.recompute import DETAILS, FINDINGS, HEADLINE, NOT_FOUND_AGAIN, OUTCOME, SHARES
from results.rules.host_causes import with_causes_in_words
from results.rules.ycsb.statements import Outcome
from webapp.register.news.corrected_values import changes_words
from webapp.register.news.past_results import CATALOGUE_CHANGED, PastResult
from webapp.register.news.product_sentences import product_sentence
from webapp.register.tables.sentences import HOW, devices_note, number_of
from webapp.register.ycsb.claims.counts import ClaimCounts
from webapp.register.ycsb.claims.entries import LABELS, impossible_words
from webapp.templatetags import units


class Group(StrEnum):
    """A part of a monthly summary; the value is its anchor."""

    RESULTS = "results"
    VERDICTS = "verdicts"
    CERTIFICATES = "certificates"
    WITHDRAWALS = "withdrawals"
    CLAIMS = "claims"
    CORRECTIONS = "corrections"


GROUP_TITLES = {
    Group.RESULTS: "New results",
    Group.VERDICTS: "Re-evaluated results",
    Group.CERTIFICATES: "Certificates",
    Group.WITHDRAWALS: "Withdrawn and superseded results",
    Group.CLAIMS: "Claims of publications",
    Group.CORRECTIONS: "Corrections and notes",
}


@dataclass(frozen=True)
class Facts:
    """An event with its subject: a result as it was then, a certificate, or neither."""

    event: Event
    result: PastResult | None = None
    certificate: Certificate | None = None

    @property
    def details(self) -> Mapping[str, Any]:
        """Return the visible details of the event."""
        details: Mapping[str, Any] = self.event.details
        return details

    @property
    def workload(self) -> str:
        """Return the workload of the run; empty without one."""
        return self.result.run.workload if self.result else ""

    @property
    def subject(self) -> str:
        """Return the id of the subject."""
        return self.event.subject_id


OUTCOMES = {
    Verdict.Outcome.PASS: "passes",
    Verdict.Outcome.FAIL: "fails",
    Verdict.Outcome.UNDECIDED: "is undecided",
    Verdict.Outcome.VOID: "is void",
}


def _published(facts: Facts) -> str:
    result = facts.result
    if result is None:
        return f"Run {facts.subject} was published."
    run = result.run
    if run.workload == YCSB:
        return f"Run {run.public_id} measured the drive through a database, with YCSB."
    speed = f"ran at {units.decimal(run.tps)} tps{devices_note(run)}" if run.tps else "reports no speed"
    how = f", {HOW[Statistic(run.statistic)]}" if run.statistic == Statistic.STEADY_AS_PUBLISHED else ""
    if not result.outcome:
        return f"Run {run.public_id} {speed}{how}. It has no verdict."
    return f"Run {run.public_id} {speed}{how}. It {OUTCOMES[Verdict.Outcome(result.outcome)]} under {result.profile}."


UNCHANGED_OUTCOME = {  # what changed instead, by the kind of a re-evaluation
    HEADLINE: "the text of its verdict changed",
    SHARES: "its shares changed",
    FINDINGS: "its findings changed",
    DETAILS: "details of its result changed",
}


def _reevaluated(facts: Facts) -> str:
    details, run = facts.details, f"Run {facts.subject}"
    if "outcomes" not in details:  # an event of an earlier release
        before, after = details.get("before"), details.get("after")
        differs = f": before “{before}”, after “{after}”" if before and after else ""
        return f"{run} was re-evaluated{with_causes_in_words(differs)}."
    result = _ycsb_sentences(details) if facts.workload == YCSB else _verdict_sentences(details)
    shares = "".join(f" {sentence}" for sentence in _share_sentences(details["shares"]))
    reader_before, reader = details["readers"]
    read_by = f" drivetest {reader} read its log again." if reader != reader_before else ""
    return f"{run}: {result}{shares}{read_by}"


def _verdict_sentences(details: Mapping[str, Any]) -> str:
    """Return the old and the new verdict; if both are equal, what else changed."""
    before, after = ("no verdict" if not each else Verdict.Outcome(each).label for each in details["outcomes"])
    under = f" under {details['profiles'][1]}" if details["profiles"][1] else ""
    if details["kind"] == OUTCOME:
        return f"its verdict changed from “{before}” to “{after}”{under}."
    verdict = f"Its verdict is still “{after}”{under}." if details["outcomes"][1] else "It still has no verdict."
    return f"{UNCHANGED_OUTCOME[details['kind']]}. {verdict}"


def _ycsb_sentences(details: Mapping[str, Any]) -> str:
    """Return what changed in a run of YCSB, which has a validity instead of a verdict."""
    changed = UNCHANGED_OUTCOME[FINDINGS] if details["kind"] == FINDINGS else "its figures changed"
    if "validities" not in details:
        return f"{changed}."
    before, after = details["validities"]
    if before == after:
        return f"{changed}. Its validity is still “{after}”."
    return f"{changed}. Its validity changed from {before} to {after}."


SCOPES = {
    Statistic.WORST_SLICE: "In the worst slice",
    Statistic.OVERALL: "Over the whole run",
    Statistic.STEADY_AS_PUBLISHED: "As published",
}


def _share_sentences(shares: list[Mapping[str, Any]]) -> list[str]:
    """Return a sentence on the changed shares of each statistic."""
    sentences = []
    for statistic, scope in SCOPES.items():
        of_statistic = [share for share in shares if share["statistic"] == statistic]
        parts = [
            f"over {units.threshold(share['threshold_us'])} from {_pct(share['before'])} to {_pct(share['after'])}"
            for share in of_statistic
        ]
        sentences += [f"{scope}, the share of slow reads changed: {'; '.join(parts)}."] if parts else []
    return sentences


def _pct(printed: str | None) -> str:
    return "not reported" if printed is None else units.with_unit(printed, "%")


def _superseded(facts: Facts) -> str:
    successor = facts.details.get("successor")
    return f"Run {successor} superseded run {facts.subject}." if successor else f"Run {facts.subject} was superseded."


def _unsuperseded(facts: Facts) -> str:
    successor = facts.details.get("successor")
    by = f" Run {successor} no longer supersedes it." if successor else ""
    return f"Run {facts.subject} is listed again.{by}"


def _reinstated(facts: Facts) -> str:
    again = " It is superseded by another run, as before." if facts.details.get("after") == "superseded" else ""
    return f"The withdrawal of run {facts.subject} was reverted.{again}"


def _corrected(facts: Facts) -> str:
    return f"Corrected values of run {facts.subject}: {changes_words(facts.details.get('changes', {}))}."


def _correction_reverted(facts: Facts) -> str:
    return f"A correction of run {facts.subject} was reverted: {changes_words(facts.details.get('changes', {}))}."


def _catalogue_changed(facts: Facts) -> str:
    return f"The published figures of run {facts.subject} were corrected: {changes_words(facts.details)}."


def _not_found(facts: Facts) -> str:
    reader = facts.details.get("reader")
    program = f"drivetest {reader}" if reader else "A newer version of drivetest"
    return f"{program} does not find run {facts.subject} in its log. The earlier figures stay."


def certificate_scope(certificate: Certificate) -> str:
    """Return load and number of devices of a certificate: 30x on 1 device."""
    return f"{units.nx(certificate.nx_load)} on {units.counted(certificate.device_count, 'device')}"


def _runs(public_ids: list[str]) -> str:
    return f"run{'' if len(public_ids) == 1 else 's'} {', '.join(public_ids)}"


def _certificate_issued(facts: Facts) -> str:
    scope = f" certifies {certificate_scope(facts.certificate)}" if facts.certificate else " was issued"
    runs = facts.details.get("runs")
    return f"Certificate {facts.subject}{scope}{f', based on {_runs(runs)}' if runs else ''}."


def _certificate_withdrawn(facts: Facts) -> str:
    scope = f" ({certificate_scope(facts.certificate)})" if facts.certificate else ""
    lost = facts.details.get("runs_lost")
    if lost is None:
        return f"Certificate {facts.subject}{scope} was withdrawn."
    if not lost:
        return f"Certificate {facts.subject}{scope} was withdrawn: after a re-evaluation, its runs do not certify it."
    verb = "is" if len(lost) == 1 else "are"
    profile = f"profile {facts.certificate.profile}" if facts.certificate else "its profile"
    no_longer = f"{verb} withdrawn, superseded, or no longer judged under {profile}"
    return f"Certificate {facts.subject}{scope} was withdrawn: {_runs(lost)} {no_longer}."


def _certificate_reinstated(facts: Facts) -> str:
    scope = f" ({certificate_scope(facts.certificate)})" if facts.certificate else ""
    return f"Certificate {facts.subject}{scope} is current again: its runs certify it again."


def publisher_of(publication: str) -> str:
    """Return the publisher of a publication, with which a sentence begins."""
    source = published_sources().get(publication)
    return source.publisher if source and source.publisher else "The publication"


def _claims_checked(facts: Facts) -> str:
    outcomes: Mapping[str, int] = facts.details.get("outcomes", {})
    publisher = publisher_of(facts.subject)
    if not outcomes:
        return f"{publisher} states claims. The register checked those whose figures the publication shows."
    counts = ClaimCounts({Outcome(code): number for code, number in outcomes.items()})
    impossible = impossible_words(facts.details.get("impossible_claims", 0))
    remark = f" {impossible}." if impossible else ""
    return f"{publisher} states {number_of(counts.total, 'claim', 'claims')}: {counts.split}.{remark}"


def _claim_changed(facts: Facts) -> str:
    details = facts.details
    workload = f"workload {details['workload']}" if details["workload"] else ""
    claim = ", ".join(part for part in (details["claim"], workload) if part)
    name = f"{publisher_of(details['publication'])} on the {details['device']}, {claim}"
    changes = dict(details["changes"])
    parts = []
    if "exact_status" in changes:
        before, after = (LABELS.get(each, each) for each in changes.pop("exact_status"))
        parts.append(f"its status changed from “{before}” to “{after}”")
    for column, both in changes.items():
        before, after = (units.with_unit(value, details["unit"]) or "none" for value in both)
        parts.append(f"{column.replace('_', ' ')} from {before} to {after}")
    return f"{capfirst(name)}: {'; '.join(parts)}."


def _product_changed(facts: Facts) -> str:
    return product_sentence(facts.event.kind, facts.details)


@dataclass(frozen=True)
class Kind:
    """The words of one kind of event; `reason_label` is empty if its sentence contains the reason already."""

    label: str
    group: Group
    sentence: Callable[[Facts], str]
    reason_label: str = "Reason"


KINDS = {
    PUBLISHED: Kind("New result", Group.RESULTS, _published, reason_label=""),
    REEVALUATED: Kind("Re-evaluated", Group.VERDICTS, _reevaluated),
    NOT_FOUND_AGAIN: Kind("Run missing in a new reading", Group.VERDICTS, _not_found),
    "run-withdrawn": Kind("Withdrawn", Group.WITHDRAWALS, lambda facts: f"Run {facts.subject} was withdrawn."),
    "run-reinstated": Kind("Reinstated", Group.WITHDRAWALS, _reinstated),
    "run-superseded": Kind("Superseded", Group.WITHDRAWALS, _superseded),
    "run-unsuperseded": Kind("Listed again", Group.WITHDRAWALS, _unsuperseded),
    "certificate-issued": Kind("Certificate issued", Group.CERTIFICATES, _certificate_issued),
    "certificate-withdrawn": Kind("Certificate withdrawn", Group.CERTIFICATES, _certificate_withdrawn, reason_label=""),
    "certificate-reinstated": Kind(
        "Certificate reinstated", Group.CERTIFICATES, _certificate_reinstated, reason_label=""
    ),
    CLAIMS_RECOMPUTED: Kind("Claims checked", Group.CLAIMS, _claims_checked),
    CLAIM_CHANGED: Kind("Claim result changed", Group.CLAIMS, _claim_changed),
    "run-annotated": Kind(
        "Note", Group.CORRECTIONS, lambda facts: f"A reviewer added a note to run {facts.subject}.", reason_label="Note"
    ),
    "annotation-retracted": Kind(
        "Note retracted", Group.CORRECTIONS, lambda facts: f"A reviewer retracted a note on run {facts.subject}."
    ),
    "run-corrected": Kind("Corrected", Group.CORRECTIONS, _corrected),
    "correction-taken-back": Kind("Correction reverted", Group.CORRECTIONS, _correction_reverted),
    CATALOGUE_CHANGED: Kind("Corrected", Group.CORRECTIONS, _catalogue_changed, reason_label=""),
    RENAMED: Kind("Renamed", Group.CORRECTIONS, _product_changed),
    FACTS_CHANGED: Kind("Facts changed", Group.CORRECTIONS, _product_changed),
    PRICE_ADDED: Kind("List price", Group.CORRECTIONS, _product_changed, reason_label="Source"),
    PRICE_REMOVED: Kind("List price removed", Group.CORRECTIONS, _product_changed),
    MERGED: Kind("Merged", Group.CORRECTIONS, _product_changed),
    SPLIT: Kind("Split", Group.CORRECTIONS, _product_changed),
    REVERTED: Kind("Merge or split reverted", Group.CORRECTIONS, _product_changed),
}
