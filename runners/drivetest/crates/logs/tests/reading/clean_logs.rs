//! Clean logs, drawn at random over every family: no rule fires on them, and they pass.

use crate::clean::{self, plan::Plan};
use drivetest_logs::judge;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::judge::verdict::Outcome;
use drivetest_logs::reader::{LogReader, Options, Reading};

/// The profile that a plan meets: ACT's, but for the time.
fn profile(plan: &Plan) -> Profile {
    let document = format!(
        r#"{{"name": "clean", "rule_version": 1, "reads_pct": "67", "writes_pct": "33", "ratio_tolerance_points": "1",
        "object_bytes": 1536, "duration_s": {}, "slice_length_s": {}, "limits": [{{"threshold_us": 1000, "limit_pct": "5"}},
        {{"threshold_us": 8000, "limit_pct": "1"}}, {{"threshold_us": 64000, "limit_pct": "0.1"}}]}}"#,
        plan.duration_s(),
        plan.slice_s()
    );
    Profile::parse(document.as_bytes()).unwrap()
}

fn read((log, plan): &(String, Plan)) -> Reading {
    let mut reader = LogReader::new(Options {
        slice_s: plan.slice_s(),
    });
    reader.push(log.as_bytes());
    let mut reading = reader.finish();
    reading
        .runs
        .iter_mut()
        .for_each(|run| judge::apply(run, &profile(plan)));
    reading
}

/// Findings that follow only from a profile and the counts, and are true: an index run does not match the profile, and for
/// one log in 2,000 the edge at 1024 us leaves a share on both sides of its limit.
fn is_true_of(id: &str) -> bool {
    id.starts_with("profile-") || id == "edge-decides"
}

/// Return a description of false findings on a clean log; `None` without any.
fn false_findings(seed: u64, case: &(String, Plan)) -> Option<String> {
    let reading = read(case);
    let findings: Vec<_> = reading
        .runs
        .iter()
        .flat_map(|run| &run.findings)
        .chain(&reading.findings)
        .collect();
    let is_undecided = case.1.is_index() || case.1.version == clean::plan::Version::V20;
    let expected = if is_undecided {
        Outcome::Undecided
    } else {
        Outcome::Pass
    };
    let outcome = reading
        .runs
        .first()
        .and_then(|run| run.verdict.as_ref())
        .map(|verdict| verdict.outcome);
    let is_as_it_should = findings.iter().all(|finding| is_true_of(finding.id)) && outcome == Some(expected);
    (!is_as_it_should).then(|| {
        format!(
            "seed {seed}, {:?}: {outcome:?}, {:?}, {findings:?}",
            case.1, reading.error
        )
    })
}

fn wrong(seeds: std::ops::Range<u64>) -> Vec<String> {
    seeds
        .filter_map(|seed| false_findings(seed, &clean::log(seed)))
        .collect()
}

#[test]
fn no_rule_fires_on_a_thousand_clean_logs() {
    let wrong = wrong(0..1000);
    assert!(
        wrong.is_empty(),
        "{} of 1000: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(3)]
    );
}

#[test]
#[ignore = "takes minutes; for changes of a rule: cargo test --release --test reading clean_logs -- --ignored"]
fn no_rule_fires_on_ten_thousand_clean_logs() {
    let wrong = wrong(1000..11_000);
    assert!(
        wrong.is_empty(),
        "{} of 10000: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(3)]
    );
}

#[test]
#[ignore = "takes minutes; for changes of a rule: cargo test --release --test reading clean_logs -- --ignored"]
fn no_rule_fires_on_a_clean_day() {
    for seed in 0..10 {
        assert_eq!(false_findings(seed, &clean::day(seed)), None);
    }
}
