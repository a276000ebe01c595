//! Random clean outputs of every release and form: all findings on them are true.

mod go;
mod hdr;
mod load;
mod output;
mod plan;
mod rows;
mod status;
mod truth;

use std::collections::BTreeSet;
use std::ops::Range;

use drivetest_logs::reader::{Reading, Role};
use drivetest_logs::ycsb::run::{Outcome, Run};

use super::support::{ids, read};
use crate::clean::draw::Draw;
use load::Ran;
use output::Output;
use plan::{Exporter, Plan, Sent};

/// A run of a seed, as it went and as it is sent.
struct Case {
    plan: Plan,
    ran: Ran,
    output: Output,
}

fn case(seed: u64) -> Case {
    let mut draw = Draw::new(seed);
    let plan = Plan::draw(&mut draw);
    let ran = load::run(&plan, &mut draw);
    let output = output::write(&plan, &ran, &mut draw);
    Case { plan, ran, output }
}

/// Return a description of false findings on a run; `None` without any.
fn false_findings(case: &Case, run: &Run) -> Option<String> {
    let reported: BTreeSet<&str> = ids(&run.findings).into_iter().collect();
    let known = truth::of(&case.plan, &case.ran, &case.output);
    let is_true = reported == known;
    let is_sound = run.validity.outcome != Outcome::Invalid && run.done_ops_count == Some(case.ran.done);
    (!is_true || !is_sound).then(|| {
        let (false_ones, unsaid): (Vec<_>, Vec<_>) = (
            reported.difference(&known).collect(),
            known.difference(&reported).collect(),
        );
        let found: Vec<_> = run
            .findings
            .iter()
            .filter(|finding| false_ones.contains(&&finding.id))
            .collect();
        format!(
            "false {false_ones:?}, unsaid {unsaid:?}, {:?}, {:?}, {found:?}, {:?}",
            run.validity.outcome, run.done_ops_count, case.plan
        )
    })
}

type Companion = (Role, String, Vec<u8>);

fn read_with(log: &str, companions: &[Companion]) -> Reading {
    let named: Vec<_> = companions
        .iter()
        .map(|(role, name, bytes)| (*role, name.as_str(), bytes.clone()))
        .collect();
    read(log.as_bytes(), &named)
}

/// Some outputs in one file; the findings of the file itself are those that are wanted.
fn wrong_together(seeds: Range<u64>, wanted: &[&str], cases: &[Case]) -> Option<String> {
    let log: String = cases.iter().map(|case| case.output.log.as_str()).collect();
    let companions: Vec<Companion> = cases
        .iter()
        .flat_map(|case| case.output.companions.clone())
        .collect();
    let reading = read_with(&log, &companions);
    let runs = &reading.ycsb_runs;
    let wrong = if reading.error.is_none() && ids(&reading.findings) == wanted && runs.len() == cases.len() {
        cases
            .iter()
            .zip(runs)
            .find_map(|(case, run)| false_findings(case, run))
    } else {
        let plans: Vec<&Plan> = cases.iter().map(|case| &case.plan).collect();
        Some(format!(
            "{:?}, {:?}, {} runs, {plans:?}",
            reading.error,
            reading.findings,
            runs.len()
        ))
    };
    wrong.map(|wrong| format!("seed {}: {wrong}", seeds.start))
}

fn wrong(seeds: Range<u64>) -> Vec<String> {
    seeds
        .filter_map(|seed| wrong_together(seed..seed + 1, &[], &[case(seed)]))
        .collect()
}

/// Outputs of several runs appended to one file, as a script over numbers of threads makes them.
fn wrong_sweeps(seeds: Range<u64>) -> Vec<String> {
    let is_line_by_line = |seed: &u64| {
        let plan = Plan::draw(&mut Draw::new(*seed));
        plan.sent == Sent::Merged && plan.exporter != Exporter::JsonArray && !plan.has_hdr_files
    };
    let sweep = |first: u64| {
        let seeds = (first * 100..).filter(is_line_by_line).take(3);
        wrong_together(
            first..first + 1,
            &["several-runs"],
            &seeds.map(case).collect::<Vec<_>>(),
        )
    };
    seeds.filter_map(sweep).collect()
}

fn wrong_go(seeds: Range<u64>) -> Vec<String> {
    let one = |seed: u64| {
        let case = go::case(seed);
        let reading = read_with(&case.log, &case.companions);
        let runs = &reading.ycsb_runs;
        let reported: Vec<_> = runs.iter().flat_map(|run| ids(&run.findings)).collect();
        let is_true =
            reported.iter().copied().collect::<BTreeSet<_>>() == case.truth && reading.findings.is_empty();
        let is_whole = runs.len() == 1
            && runs[0]
                .done_ops_count
                .is_none_or(|done| done == case.plan.samples);
        let is_right = is_true && is_whole && runs[0].validity.outcome != Outcome::Invalid;
        (!is_right).then(|| {
            format!(
                "seed {seed}: {reported:?}, {:?}, {:?}, {:?}",
                case.truth, reading.findings, case.plan
            )
        })
    };
    seeds.filter_map(one).collect()
}

fn none_of(wrong: &[String], count: u64) {
    assert!(
        wrong.is_empty(),
        "{} of {count}: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(50)]
    );
}

#[test]
fn findings_on_a_thousand_clean_outputs_are_true() {
    none_of(&wrong(0..600), 600);
    none_of(&wrong_go(0..300), 300);
    none_of(&wrong_sweeps(0..100), 100);
}

#[test]
#[ignore = "takes minutes; for changes of a rule: cargo test --release --test reading ten_thousand -- --ignored"]
fn findings_on_ten_thousand_clean_outputs_are_true() {
    none_of(&wrong(1000..7000), 6000);
    none_of(&wrong_go(1000..4000), 3000);
    none_of(&wrong_sweeps(1000..2000), 1000);
}

#[test]
fn the_clean_outputs_are_of_every_release_and_form() {
    let plans: Vec<Plan> = (0..600).map(|seed| case(seed).plan).collect();
    let forms: BTreeSet<_> = plans.iter().map(|plan| (plan.kind, plan.exporter)).collect();
    assert_eq!(forms.len(), 4 * 3 + 1, "raw measurements are text alone");
    let releases: BTreeSet<_> = plans.iter().map(|plan| (plan.release, plan.sent)).collect();
    assert_eq!(releases.len(), 11 * 6);
    let loads: BTreeSet<_> = plans
        .iter()
        .map(|plan| (plan.letter, plan.interval, plan.is_limited))
        .collect();
    assert!(loads.len() > 30, "{}", loads.len());
    let go: BTreeSet<_> = (0..300)
        .map(|seed| (go::case(seed).plan.style, go::case(seed).plan.letter))
        .collect();
    assert_eq!(go.len(), 3 * 6 + 3);
}
