"""Requirements of a certificate: each one met, and each one missing."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from results.rules.certification.certify import certify
from results.rules.certification.facts import NEVER_RESET_S, DriveState, Preparation
from tests.results.certificate_runs import PREPARED, STATE, drive, run, stress

KEYS = ("nvme:EX4:S1", "nvme:EX4:S2")


def missing(certificate):
    return [(requirement.id, requirement.device_count) for requirement in certificate.missing]


def reasons_text(certificate):
    faults = [fault for requirement in certificate.missing for fault in requirement.shortcomings]
    sentences = [requirement.sentence for requirement in certificate.missing]
    return " ".join([*sentences, *(" ".join((fault.run_id, fault.sentence, *fault.departures)) for fault in faults)])


def test_a_load_test_and_a_stress_test_certify():
    certificate = certify([run(), stress()])
    assert (certificate.nx_load, certificate.firmware, certificate.run_ids) == (30, "FW1", ("r-load", "r-stress"))
    assert certificate.missing == ()


def test_the_order_of_the_runs_does_not_matter():
    runs = [run(), run("r-1"), stress(), stress("r-9"), run("r-3", outcome="fail"), run("r-2", 20, outcome="fail")]
    assert certify(runs) == certify(runs[::-1])
    assert certify(runs).run_ids == ("r-1", "r-9")


def test_without_runs_nothing_is_certified():
    certificate = certify([])
    assert (certificate.nx_load, missing(certificate)) == (None, [("load", 1)])


@pytest.mark.parametrize("outcome", ["fail", "undecided", "void"])
def test_a_load_test_that_does_not_pass_certifies_nothing(outcome):
    certificate = certify([run(outcome=outcome), stress()])
    assert missing(certificate) == [("load", 1)]
    assert f"r-load: {outcome}" in reasons_text(certificate)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"stop_kind": "cannot-keep-up"}, "cannot-keep-up"),
        ({"stop_kind": None}, "not known"),
        ({"duration_s": 86_399}, "86399 s, not 86400 s"),
        ({"duration_s": None}, "unknown time"),
        ({"outcome": "void"}, "verdict void"),
        ({"outcome": "undecided"}, "verdict undecided"),
        ({"departures": ("objects of 4096 bytes",)}, "4096 bytes"),
        ({"reads_per_s": None}, "does not report its load"),
        ({"device_count": None}, "how many devices"),
    ],
)
def test_a_run_that_is_no_stress_test_leaves_the_stress_test_missing(changes, word):
    certificate = certify([run(), stress(**changes)])
    assert ("stress", 1) in missing(certificate)
    assert word in reasons_text(certificate)


@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_a_stress_test_may_break_every_limit(outcome):
    assert certify([run(), stress(outcome=outcome)]).nx_load == 30


@pytest.mark.parametrize(
    ("reads_per_s", "writes_per_s", "nx_load"),
    [(120_000, 60_000, 30), (120_000, 59_999, None), (119_999, 60_000, None), (120_001, 60_000, 30)],
)
def test_a_stress_test_is_at_twice_the_load_to_the_request(reads_per_s, writes_per_s, nx_load):
    assert certify([run(), stress(reads_per_s=reads_per_s, writes_per_s=writes_per_s)]).nx_load == nx_load


def test_a_load_that_is_no_whole_nx_is_exact():
    load = run(reads_per_s=933_333, writes_per_s=466_667)
    certificate = certify([load, stress(reads_per_s=1_866_667, writes_per_s=933_333)])
    assert certificate.nx_load == Fraction(1400, 3)


def test_a_shortage_hidden_by_rounding_is_stated_in_requests():
    certificate = certify([run(), stress(reads_per_s=Decimal("119999.99"))])
    assert "requested 60x, less than 60x (179999.99 of 180000 tps for each device)" in reasons_text(certificate)


def test_a_heavier_stress_test_counts_as_twice_the_load_and_is_named():
    certificate = certify([run(), stress(nx=61)])
    assert certificate.nx_load == 30
    assert certificate.reasons == ("r-stress was heavier than 60x and replaces it",)


def test_a_certificate_names_runs_with_coalesced_requests():
    certificate = certify([run(coalesce_us=50), stress()])
    assert certificate.nx_load == 30
    assert certificate.reasons == ("r-load submitted requests together that were due at most 50 us apart",)


def test_no_load_between_two_tests_is_certified():
    certificate = certify([run(nx=40), stress(nx=79)])
    assert (certificate.nx_load, certificate.attempted_nx) == (None, 40)


def test_the_highest_load_with_all_requirements_met_is_certified():
    certificate = certify([run(nx=30), run("r-2", 40), run("r-3", 50), stress(nx=60), stress("r-5", 80)])
    assert certificate.nx_load == 40
    assert certificate.run_ids == ("r-2", "r-5")
    assert "a load test passes at 50x" in certificate.reasons[0]


def test_a_failure_at_the_same_load_is_named_with_the_certificate():
    certificate = certify([run(), stress(), run("r-again", outcome="fail"), run("r-more", 31, outcome="fail")])
    assert certificate.nx_load == 30
    assert certificate.reasons == ("r-again fails at 30x, though r-load passes: look at both",)


@pytest.mark.parametrize(("is_virtual", "word"), [(True, "never certifies"), (None, "cannot be shown")])
@pytest.mark.parametrize("place", [0, 1])
def test_a_virtual_device_never_certifies_and_an_unknown_one_does_not(is_virtual, word, place):
    runs = [run(), stress()]
    runs[place] = replace(runs[place], is_virtual=is_virtual)
    certificate = certify(runs)
    assert missing(certificate) == [("real-drives", 1)]
    assert word in reasons_text(certificate)


@pytest.mark.parametrize("place", [0, 1])
def test_runs_on_unrecorded_drives_do_not_certify(place):
    runs = [run(), stress()]
    runs[place] = replace(runs[place], drives=None)
    ids = {name for name, _ in missing(certify(runs))}
    assert ids == {"drives", "preparation", "firmware", "over-provisioning"}


def test_two_runs_on_two_drives_do_not_certify_one():
    certificate = certify([run(), stress(drives=KEYS[1:])])
    assert ("drives", 1) in missing(certificate)
    assert "different drives" in reasons_text(certificate)


@pytest.mark.parametrize(("drive_count", "word"), [(None, "cannot be shown which"), (1, "one drive, as 2 devices")])
def test_two_partitions_of_one_drive_are_one_drive(drive_count, word):
    runs = [run(drives=KEYS), stress(drives=KEYS)]
    certificate = certify([replace(each, drives=None, drive_count=drive_count) for each in runs], device_count=2)
    assert word in reasons_text(certificate)


def both(**columns):
    return [replace(each, drives=(drive(**columns),)) for each in (run(), stress())]


@pytest.mark.parametrize(
    ("preparation", "word"),
    [
        (None, "no evidence"),
        (replace(PREPARED, evidence_id=None), "no evidence"),
        (replace(PREPARED, finished_at_s=None), "cannot be shown"),
        (replace(PREPARED, started_at_s=None), "cannot be shown"),
        (replace(PREPARED, finished_at_s=10_001), "began before the preparation"),
        (replace(PREPARED, started_at_s=999), "formatted or trimmed after"),
    ],
)
def test_a_preparation_must_be_shown_after_the_last_format_and_before_the_runs(preparation, word):
    certificate = certify(both(preparation=preparation))
    assert missing(certificate) == [("preparation", 1)]
    assert word in reasons_text(certificate)


@pytest.mark.parametrize(
    "preparation", [replace(PREPARED, finished_at_s=10_000), replace(PREPARED, started_at_s=1_000)]
)
def test_a_preparation_may_end_as_the_run_begins_and_begin_as_the_format_ends(preparation):
    assert certify(both(preparation=preparation)).nx_load == 30


def test_a_run_without_a_start_time_follows_no_preparation():
    assert missing(certify([run(started_at_s=None), stress()])) == [("preparation", 1)]


def test_a_second_preparation_between_the_runs_separates_them():
    again = stress(drives=KEYS[:1])
    again = replace(again, drives=(drive(preparation=replace(PREPARED, id="p-2")),))
    certificate = certify([run(), again])
    assert missing(certificate) == [("preparation", 1)]
    assert "prepared again" in reasons_text(certificate)


@pytest.mark.parametrize("end", ["before", "after"])
@pytest.mark.parametrize(("reset_at_s", "word"), [(None, "cannot be shown when"), (2_001, "formatted or trimmed")])
def test_a_format_after_the_preparation_or_an_unknown_one_is_missing(end, reset_at_s, word):
    certificate = certify([run(), replace(stress(), drives=(drive(**{end: replace(STATE, reset_at_s=reset_at_s)}),))])
    assert missing(certificate) == [("preparation", 1)]
    assert word in reasons_text(certificate)


def test_a_drive_that_was_never_formatted_needs_only_its_preparation():
    state = replace(STATE, reset_at_s=NEVER_RESET_S)
    assert certify(both(before=state, after=state)).nx_load == 30


@pytest.mark.parametrize("end", ["before", "after"])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("firmware", "word"), [("FW2", "FW1, FW2"), (None, "cannot be shown"), ("", "cannot")])
def test_changed_or_unknown_firmware_voids_the_pair(end, place, firmware, word):
    runs = [run(), stress()]
    runs[place] = replace(runs[place], drives=(drive(**{end: replace(STATE, firmware=firmware)}),))
    certificate = certify(runs)
    assert missing(certificate) == [("firmware", 1)]
    assert word in reasons_text(certificate)
    assert certificate.firmware is None


@pytest.mark.parametrize("end", ["before", "after"])
def test_an_unrecorded_state_does_not_meet_the_requirement(end):
    ids = [name for name, _ in missing(certify(both(**{end: None})))]
    assert ids == ["preparation", "firmware", "over-provisioning"]


def test_over_provisioning_is_compared_as_a_number():
    same = replace(STATE, over_provisioning_pct=Decimal("7.00"))
    other = replace(STATE, over_provisioning_pct=Decimal("7.01"))
    assert certify([run(), replace(stress(), drives=(drive(after=same),))]).nx_load == 30
    assert missing(certify([run(), replace(stress(), drives=(drive(after=other),))])) == [("over-provisioning", 1)]


def test_the_stress_test_in_the_same_state_is_chosen():
    moved = replace(stress("r-moved"), drives=(drive(before=DriveState(), after=DriveState()),))
    assert certify([run(), moved, stress("r-right", 61)]).run_ids == ("r-load", "r-right")


def test_the_stress_test_that_meets_most_requirements_is_chosen():
    early = stress("r-early", started_at_s=8_999)  # lighter, and begun before the preparation ended
    assert certify([run(), early, stress("r-right", 61)]).run_ids == ("r-load", "r-right")


def all_four(**columns):
    return [run(), stress(), run("r-all", drives=KEYS, **columns), stress("r-all-stress", drives=KEYS)]


def test_several_devices_need_both_tests_again():
    certificate = certify(all_four(), device_count=2)
    assert (certificate.nx_load, certificate.missing) == (30, ())
    assert certificate.run_ids == ("r-load", "r-stress", "r-all", "r-all-stress")


@pytest.mark.parametrize(
    ("left_out", "lacks"),
    [
        ("r-load", [("load", 1)]),
        ("r-stress", [("stress", 1)]),
        ("r-all", [("load", 2)]),
        ("r-all-stress", [("stress", 2)]),
    ],
)
def test_each_of_the_four_tests_is_needed(left_out, lacks):
    assert missing(certify([each for each in all_four() if each.id != left_out], device_count=2)) == lacks


def test_four_tests_for_two_devices_certify_one_device_too():
    assert certify(all_four(), device_count=1).run_ids == ("r-load", "r-stress")


def test_the_drive_tested_alone_is_one_of_those_tested_together():
    other = ("nvme:EX4:S9",)
    runs = [run(drives=other), stress(drives=other), *all_four()[2:]]
    assert missing(certify(runs, device_count=2)) == [("same-drive", 2)]


def test_all_devices_are_tested_at_the_load_of_the_single_one():
    runs = [run(nx=40), stress(nx=80), *all_four()[2:]]
    assert missing(certify(runs, device_count=2)) == [("load", 1)]


def test_drives_tested_together_have_one_firmware():
    mixed = (drive(), drive(KEYS[1], before=replace(STATE, firmware="FW0"), after=replace(STATE, firmware="FW0")))
    certificate = certify([*all_four()[:3], replace(all_four()[3], drives=mixed)], device_count=2)
    assert missing(certificate) == [("firmware", 2)]


def test_each_drive_has_its_own_preparation():
    own = (drive(), drive(KEYS[1], preparation=Preparation("p-9", 3_000, 9_500, "e-9")))
    runs = [replace(each, drives=own) if each.device_count == 2 else each for each in all_four()]
    assert certify(runs, device_count=2).nx_load == 30


@pytest.mark.parametrize(("runs", "device_count"), [([run(), run()], 1), ([run()], 0)])
def test_invalid_input_is_refused(runs, device_count):
    with pytest.raises(ValueError, match="expected a device or more"):
        certify(runs, device_count)
