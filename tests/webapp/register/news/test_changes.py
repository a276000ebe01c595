"""Changes: which events are news, in which words, and what they never reveal."""

from collections import Counter

import pytest
from django.db import transaction
from django.utils import timezone

from results.catalogue.claims import CLAIM_CHANGED, CLAIMS_RECOMPUTED, import_claims
from results.catalogue.importer import PUBLISHED_CATALOGUE, product_facts, run_fields
from results.catalogue.rows import read_catalogue
from results.certification.certificates import refresh_certificates
from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.lifecycle.corrections import CORRECTABLE, annotate, correct, retract, take_back
from results.models import Certificate, EarlierResult, Event, Evidence, Run, Visibility, YcsbRun
from results.naming.aliases import IDENTITY
from results.products.facts import FACTS
from tests.results.builders import make_user
from tests.results.rows import make_judged_run, prepare
from tests.results.rows import make_product as make_plain_product
from webapp.register.http.query_params import ParameterError
from webapp.register.news.changes import CHANGES_PER_PAGE, changes_page
from webapp.register.news.corrected_values import COLUMNS
from webapp.register.ycsb.claims.entries import entries_of
from webapp.register.ycsb.claims.listing import briefs

pytestmark = pytest.mark.django_db
REEVALUATED = {"kind": "outcome", "before": "fails [drivetest 1]", "after": "passes [drivetest 2]"}
STRUCTURED = REEVALUATED | {
    "outcomes": ["fail", "pass"],
    "profiles": ["operational-database, rule version 1", "operational-database, rule version 2"],
    "readers": ["0.4.0", "0.4.0"],
    "shares": [{"statistic": "worst-slice", "threshold_us": 64000, "before": "0.11", "after": "0.10"}],
}


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


def newest():
    return changes_page().changes[0]


def sentences():
    return [change.sentence.replace("\N{NO-BREAK SPACE}", " ") for change in changes_page().changes]


def test_a_new_result_has_its_speed_and_verdict(publish):
    run = publish()
    change = newest()
    assert change.title == f"New result: {run.product.vendor} {run.product.model} 3.2\N{NO-BREAK SPACE}TB"
    assert sentences() == [f"Run {run.public_id} ran at 900 tps. It fails under operational-database, rule version 1."]
    assert (change.page, change.mark) == (f"/runs/{run.public_id}/", "")


def test_a_result_that_was_withdrawn_later_keeps_its_sentence_and_has_a_mark(publish, rita):
    run = publish()
    (before,) = sentences()
    visibility.withdraw(run, rita, "Wrong drive.")
    withdrawn, published = changes_page().changes
    assert (withdrawn.title.split(":")[0], withdrawn.sentence) == ("Withdrawn", f"Run {run.public_id} was withdrawn.")
    assert withdrawn.reason == "Reason: Wrong drive."
    assert (sentences()[1], published.mark) == (before, "later withdrawn")


def test_a_re_evaluated_verdict_shows_the_difference(publish):
    run = publish()
    record_event(None, "run-judged-anew", run_subject(run), "rule version 2", STRUCTURED)
    assert sentences()[0] == (
        f"Run {run.public_id}: its verdict changed from “fails” to “passes” under operational-database, rule version "
        "2. In the worst slice, the share of slow reads changed: over 64 ms from 0.11 % to 0.10 %."
    )
    assert newest().reason == "Reason: rule version 2"


SAME_OUTCOME = STRUCTURED | {"outcomes": ["pass", "pass"], "shares": []}


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("headline", "the text of its verdict changed"),
        ("shares", "its shares changed"),
        ("findings", "its findings changed"),
        ("details", "details of its result changed"),
    ],
)
def test_a_re_evaluation_with_the_same_outcome_says_what_changed(publish, kind, changed):
    run = publish()
    record_event(None, "run-judged-anew", run_subject(run), "", SAME_OUTCOME | {"kind": kind})
    verdict = "Its verdict is still “passes” under operational-database, rule version 2."
    assert sentences()[0] == f"Run {run.public_id}: {changed}. {verdict}"


def test_a_run_that_never_had_a_verdict_still_has_none(publish):
    run = publish()
    without = {"kind": "details", "outcomes": ["", ""], "profiles": ["", ""]}
    record_event(None, "run-judged-anew", run_subject(run), "", SAME_OUTCOME | without)
    assert sentences()[0] == f"Run {run.public_id}: details of its result changed. It still has no verdict."


OF_YCSB = {"outcomes": ["", ""], "profiles": ["", ""], "readers": ["0.4.0", "0.5.0"], "shares": []}


@pytest.mark.parametrize(
    ("details", "result"),
    [
        (
            {"kind": "details", "validities": ["valid", "valid"]},
            "its figures changed. Its validity is still “valid”.",
        ),
        (
            {"kind": "details", "validities": ["undecided", "invalid"]},
            "its figures changed. Its validity changed from undecided to invalid.",
        ),
        (
            {"kind": "findings", "validities": ["valid", "valid"]},
            "its findings changed. Its validity is still “valid”.",
        ),
        ({"kind": "details"}, "its figures changed."),
    ],
)
def test_a_re_evaluated_run_of_ycsb_has_a_validity_instead_of_a_verdict(publish, details, result):
    run = publish(workload="ycsb")
    YcsbRun.objects.create(run=run, validity="valid")
    record_event(None, "run-judged-anew", run_subject(run), "", REEVALUATED | OF_YCSB | details)
    assert sentences()[0] == f"Run {run.public_id}: {result} drivetest 0.5.0 read its log again."


def test_a_re_evaluation_by_a_new_reader_names_it(publish):
    run = publish()
    by_new_reader = {"kind": "details", "readers": ["0.3.0", "0.4.0"]}
    record_event(None, "run-judged-anew", run_subject(run), "", SAME_OUTCOME | by_new_reader)
    assert sentences()[0].endswith("under operational-database, rule version 2. drivetest 0.4.0 read its log again.")


def test_an_event_of_an_earlier_release_shows_what_it_has(publish):
    run = publish()
    record_event(None, "run-judged-anew", run_subject(run), "", REEVALUATED)
    assert sentences()[0] == (
        f"Run {run.public_id} was re-evaluated: before “fails [drivetest 1]”, after “passes [drivetest 2]”."
    )
    caused = REEVALUATED | {"before": "fails; the host may be the cause: host-busy [drivetest 1]"}
    record_event(None, "run-judged-anew", run_subject(run), "", caused)
    assert "the cause: the processors of the host were busy [drivetest 1]”, after “passes" in sentences()[0]
    record_event(None, "run-judged-anew", run_subject(run), "", {})
    assert sentences()[0] == f"Run {run.public_id} was re-evaluated."


def test_a_re_evaluation_with_the_same_result_is_no_news(publish):
    run = publish()
    record_event(None, "run-judged-anew", run_subject(run), "", STRUCTURED | {"kind": "same"})
    assert len(changes_page().changes) == 1
    record_event(None, "run-judged-anew", run_subject(run), "", STRUCTURED | {"kind": "details"})
    assert len(changes_page().changes) == 2


def test_a_withheld_file_is_not_quoted(publish):
    run = publish()
    record_event(
        None, "run-judged-anew", run_subject(run), "", {"kind": "headline", "before": "fails: QUOTE", "after": "x"}
    )
    assert "QUOTE" in sentences()[0]
    Evidence.objects.filter(pk=run.reading.evidence_id).update(sequestered=True)
    assert sentences()[0] == f"Run {run.public_id} was re-evaluated."
    assert "ran at 900 tps. It fails" in sentences()[1]  # figures of the log stay


def test_an_embargoed_result_is_no_news_before_its_minute(make_embargoed_run, rita):
    run = make_embargoed_run()
    record_event(rita, "run-embargoed", run_subject(run))
    annotate(run, "early note", rita)
    assert changes_page().changes == []
    Run.objects.filter(pk=run.pk).update(visibility=Visibility.PUBLIC, published_at=timezone.now())
    record_event(None, "run-published", run_subject(run), "", {"before": "embargoed", "after": "public"})
    assert [change.label for change in changes_page().changes] == ["New result"]


def test_runs_that_are_not_public_are_no_news(publish):
    publish(visibility=Visibility.UNREVIEWED)
    publish(is_virtual=True)
    assert changes_page().changes == []


def test_superseding_names_both_runs(publish, rita):
    run = publish()
    other = publish(product=run.product)
    visibility.supersede(run, other, rita, "A longer run.")
    assert sentences()[0] == f"Run {other.public_id} superseded run {run.public_id}."
    assert changes_page().changes[2].mark == "later superseded"
    visibility.unsupersede(run, rita, "Both count.")
    assert sentences()[0] == f"Run {run.public_id} is listed again. Run {other.public_id} no longer supersedes it."


def test_a_withdrawal_that_was_reverted_is_news(publish, rita):
    run = publish()
    visibility.withdraw(run, rita, "Wrong drive.")
    visibility.reinstate(run, rita, "Right drive.")
    assert sentences()[0] == f"The withdrawal of run {run.public_id} was reverted."
    assert (newest().label, newest().reason) == ("Reinstated", "Reason: Right drive.")


def test_corrections_and_notes_are_news(publish, rita):
    run = publish()
    take_back(correct(run, {"firmware": "FW9"}, rita, "A slip."), rita, "No slip.")
    retract(annotate(run, "Look at the firmware.", rita), rita, "Done.")
    retracted, noted, reverted, corrected, _ = changes_page().changes
    assert corrected.sentence == f"Corrected values of run {run.public_id}: firmware from not reported to FW9."
    assert reverted.sentence == f"A correction of run {run.public_id} was reverted: firmware from FW9 to not reported."
    assert (noted.sentence, noted.reason) == (
        f"A reviewer added a note to run {run.public_id}.",
        "Note: Look at the firmware.",
    )
    assert (retracted.label, retracted.reason) == ("Note retracted", "Reason: Done.")


def test_a_corrected_publication_lists_short_values_only(import_results):
    (run,) = import_results()
    details = {"tps": ["300000.00", "310000"], "source_row": ["x" * 61, "y"], "drive": ["z" * 60, ""]}
    record_event(None, "run-changed", run_subject(run), "import of the published catalogue", details)
    assert sentences()[0] == (
        f"The published figures of run {run.public_id} were corrected: speed from 300,000 tps to 310,000 tps; "
        f"drive from {'z' * 60} to not reported; row as printed."
    )
    assert newest().reason == ""


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"historical": ["False", "True"]}, "historical from no to yes"),
        ({"sole_tenant": ["None", "True"]}, "sole tenant from not reported to yes"),
        ({"duration_s": ["86400", "43200"]}, "duration from 24 h to 12 h"),
        ({"device_gb": ["900", "1800"]}, "size of each device from 900 GB to 1.8 TB"),
        ({"device_count": ["None", "4"]}, "number of devices from not reported to 4"),
        ({"nx_load": ["100.0000", "466.6667"]}, "load of each device from 100x to 466.67x"),
        ({"endurance_dwpd": ["0.30", "1"]}, "endurance from 0.3 DWPD to 1 DWPD"),
        ({"over_provisioning_pct": ["None", "12.50"]}, "over-provisioning from not reported to 12.5 %"),
        ({"over_provisioned_to_gb": ["800", "None"]}, "used capacity from 800 GB to not reported"),
        ({"tool_version": ["", "6.4"]}, "version of ACT from not reported to 6.4"),
        ({"shares": ["4.00 % over 1000 us", "4.50 % over 1000 us"]},
         "shares from 4.00 % over 1000 us to 4.50 % over 1000 us"),
        ({"shares": ["a text", "another one"],
          "printed_shares": [{"1000": "4.00", "8000": "0.10"}, {"256": "9", "1000": "4.50", "8000": "0.10"}]},
         "reads over 256 us from not reported to 9 %; reads over 1 ms from 4.00 % to 4.50 %"),
        ({}, "values not recorded"),
    ],
)  # fmt: skip
def test_corrected_values_have_labels_and_units(import_results, details, words):
    (run,) = import_results()
    record_event(None, "run-changed", run_subject(run), "", details)
    assert sentences()[0] == f"The published figures of run {run.public_id} were corrected: {words}."


def test_every_value_that_a_reviewer_or_a_catalogue_corrects_has_a_label():
    row = read_catalogue(PUBLISHED_CATALOGUE)[0]
    assert {*CORRECTABLE, *run_fields(row), *product_facts(row), *IDENTITY, *FACTS} == COLUMNS.keys()


def test_certificates_are_issued_withdrawn_and_reinstated_in_words(rita):
    product = make_plain_product()
    load, stress = make_judged_run(product, 30), make_judged_run(product, 60, "fail")
    for run in (load, stress):
        prepare(run)
    with transaction.atomic():
        refresh_certificates([product.pk])
    certificate = Certificate.objects.get()
    scope = f"Certificate {certificate.public_id}"
    assert sentences()[0].startswith(f"{scope} certifies 30x on 1 device, based on runs ")
    assert newest().page == f"/certificates/{certificate.public_id}/"
    visibility.withdraw(load, rita, "Wrong drive.")
    assert sentences()[0] == (
        f"{scope} (30x on 1 device) was withdrawn: run {load.public_id} is withdrawn, superseded, or "
        f"no longer judged under profile {certificate.profile}."
    )
    assert newest().reason == ""
    visibility.reinstate(load, rita, "Right drive.")
    assert sentences()[0] == f"{scope} (30x on 1 device) is current again: its runs certify it again."


def test_a_certificate_without_details_says_less():
    product = make_plain_product()
    make_judged_run(product, 30)
    fields = {"device_count": 2, "nx_load": 30, "exact_nx": "30", "ground": "g", "document": {}}
    made = Certificate.objects.create(product=product, profile=_profile(), **fields)
    for kind, details in (("issued", {}), ("withdrawn", {}), ("withdrawn", {"runs_lost": []})):
        record_event(None, f"certificate-{kind}", ("certificate", made.public_id), "", details)
    scope = f"Certificate {made.public_id}"
    assert sentences() == [
        f"{scope} (30x on 2 devices) was withdrawn: after a re-evaluation, its runs do not certify it.",
        f"{scope} (30x on 2 devices) was withdrawn.",
        f"{scope} certifies 30x on 2 devices.",
    ]


def _profile():
    return make_judged_run(make_plain_product(), 1).verdicts.get().profile


def test_recomputed_claims_are_counted_by_the_outcomes_of_the_pages():
    import_claims()
    counted = {change.page.partition("#")[2]: change.sentence for change in changes_page().changes}
    assert counted == {
        "micron-7400-brief": "Micron states 14 claims: 1 contradicts its own table, 8 are confirmed and 5 "
        "cannot be checked.",
        "kioxia-fl6-brief": "KIOXIA states 30 claims: 4 use an impossible result, 25 are confirmed and 1 "
        "cannot be checked. 4 of them use a result that cannot be true.",
        "micron-7450-brief": "Micron states 2 claims: 2 are read from a chart.",
        "micron-x100-paper": "Micron states 16 claims: 2 are read from a chart and 14 cannot be checked.",
    }


@pytest.mark.parametrize("publication", briefs())
def test_the_page_of_a_publication_has_the_same_outcomes(publication):
    import_claims()
    event = Event.objects.get(kind=CLAIMS_RECOMPUTED, subject_id=publication)
    assert event.details["outcomes"] == Counter(entry.outcome.value for entry in entries_of(publication))


def test_a_contradicted_claim_is_named_with_its_page_if_the_count_is_that_of_the_release():
    event = {"outcomes": {"contradicted": 1, "confirmed": 8}}
    record_event(None, CLAIMS_RECOMPUTED, ("publication", "micron-7400-brief"), "", event)
    assert list(newest().contradicted) == [
        (
            "Micron on the 7400 PRO: 24 % mean improvement over thread counts, workload D",
            "/ycsb/claims/micron-7400-brief/mean-improvement-over-thread-counts-d/",
        )
    ]
    other = {"outcomes": {"contradicted": 2, "confirmed": 7}}
    record_event(None, CLAIMS_RECOMPUTED, ("publication", "micron-7400-brief"), "", other)
    assert not newest().contradicted
    assert newest().contradicted_page == "/ycsb/claims/?outcome=contradicted&brief=micron-7400-brief"


def test_claims_that_were_recomputed_without_counts_say_less():
    record_event(None, CLAIMS_RECOMPUTED, ("publication", "micron-7400-brief"), "", {})
    assert newest().title == "Claims checked: Micron 7400 PRO against 7300 PRO on RocksDB"
    assert sentences() == ["Micron states claims. The register checked those whose figures the publication shows."]


CHANGED_CLAIM = {
    "publication": "micron-7400-brief",
    "claim": "peak throughput improvement",
    "workload": "A",
    "device": "7400 PRO",
    "unit": "%",
    "changes": {"recomputed_value": ["43.9", "43.8"], "exact_status": ["reproduces", "truncated"]},
}


def test_a_claim_with_another_result_shows_both_and_links_to_its_page():
    record_event(None, CLAIM_CHANGED, ("claim", "0" * 64), "", CHANGED_CLAIM)
    assert sentences() == [
        "Micron on the 7400 PRO, peak throughput improvement, workload A: its status changed from “confirmed” to "
        "“confirmed, truncated”; recomputed value from 43.9 % to 43.8 %."
    ]
    assert newest().page == "/ycsb/claims/micron-7400-brief/peak-throughput-improvement-a/"


def test_a_claim_that_the_release_no_longer_has_links_to_those_of_its_publication():
    record_event(None, CLAIM_CHANGED, ("claim", "0" * 64), "", CHANGED_CLAIM | {"claim": "best of all"})
    assert newest().page == "/ycsb/claims/#micron-7400-brief"


def test_an_import_of_a_catalogue_is_one_change_of_its_day(clock, import_results):
    clock.set(2026, 11, 20, 23, 59)
    import_results(3)
    clock.set(2026, 11, 21)
    import_results(1)
    assert [(change.title, change.page) for change in changes_page().changes] == [
        ("New result: 1 published result", "/drives/?tier=published&historical=include"),
        ("New results: 3 published results", "/drives/?tier=published&historical=include"),
    ]
    added, opened = sentences()
    assert opened == "The register opened with 3 published results. Their figures come from publications, without logs."
    assert added.startswith("The register added 1 published result.")


def test_a_register_that_had_results_before_did_not_open_with_an_import(publish, clock, import_results):
    publish()
    import_results(2)
    assert sentences()[0].startswith("The register added 2 published results.")


def test_a_page_ends_and_the_next_one_continues(clock, publish):
    runs = [publish() for _ in range(CHANGES_PER_PAGE)]
    first = changes_page()
    assert (len(first.changes), first.older_than) == (CHANGES_PER_PAGE, None)
    publish()
    first = changes_page()
    second = changes_page(first.older_than)
    assert (len(first.changes), len(second.changes), second.older_than) == (CHANGES_PER_PAGE, 1, None)
    assert second.changes[0].page == f"/runs/{runs[0].public_id}/"


def test_a_page_continues_between_two_changes_of_the_same_moment(clock, publish, monkeypatch):
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    monkeypatch.setattr(timezone, "now", lambda: moment)
    runs = [publish() for _ in range(3)]
    newest_first = [change.page for change in changes_page().changes]
    assert newest_first == [f"/runs/{run.public_id}/" for run in reversed(runs)]
    rest = changes_page(changes_page().changes[0].event_id)
    assert [change.page for change in rest.changes] == newest_first[1:]


def test_a_page_before_an_event_that_is_no_change_is_refused(publish):
    hidden = publish(visibility=Visibility.UNREVIEWED)
    event = record_event(None, "run-judged-anew", run_subject(hidden), "secret")
    with pytest.raises(ParameterError, match="before"):
        changes_page(event.pk)


def test_a_sentence_has_the_speed_and_the_devices_of_its_time(publish, clock):
    run = publish(device_count=2)
    (before,) = sentences()
    clock.now()
    verdict = run.verdicts.get()
    document = {"columns": {"tps": "900.00", "device_count": 2}, "below": {}}
    EarlierResult.objects.create(run=run, number=1, reading=run.reading, verdict=verdict, document=document)
    Run.objects.filter(pk=run.pk).update(tps=1200, device_count=1)
    assert sentences() == [before]
    assert "900 tps, 2 devices together" in before
