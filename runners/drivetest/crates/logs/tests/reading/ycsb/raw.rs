//! Latencies of single operations: of YCSB in its standard output, of go-ycsb in its own form and file.

use std::collections::BTreeMap;

use drivetest_logs::reader::Role;
use drivetest_logs::ycsb::run::{Operation, Outcome, Run};

use super::support::{self, ids};

/// Latencies by operation, sorted: nearest ranks are read off them.
fn sorted(text: &str) -> BTreeMap<String, Vec<u64>> {
    let mut all: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let latency = cells.get(2).and_then(|latency| latency.parse().ok());
        if let Some(latency) = latency.filter(|_| cells.len() == 3) {
            all.entry(cells[0].to_owned()).or_default().push(latency);
        }
    }
    all.values_mut().for_each(|latencies| latencies.sort_unstable());
    all
}

fn of_raw<'a>(run: &'a Run, name: &str) -> &'a Operation {
    let is_it = |operation: &&Operation| operation.from == "raw" && operation.name == name;
    run.operations.iter().find(is_it).unwrap()
}

fn assert_exact(run: &Run, text: &str) {
    let all = sorted(text);
    assert_eq!(
        run.operations
            .iter()
            .filter(|operation| operation.from == "raw")
            .count(),
        all.len()
    );
    for (name, latencies) in &all {
        let reported = of_raw(run, name);
        assert_eq!(reported.ops_count, Some(latencies.len() as u64), "{name}");
        assert_eq!(
            reported.max_us.as_ref(),
            latencies.last().map(u64::to_string).as_ref()
        );
        for (share, time) in &reported.percentiles {
            let share: f64 = share.parse().unwrap();
            let rank = (share * latencies.len() as f64 / 100.0 - 1e-9).ceil() as usize;
            assert_eq!(*time, latencies[rank - 1].to_string(), "{name} {share}");
        }
        let by_second = reported.ops_by_second.as_ref().unwrap().iter();
        assert_eq!(
            by_second.map(|(_, count)| count).sum::<u64>(),
            latencies.len() as u64
        );
    }
}

#[test]
fn single_operations_of_ycsb_are_listed_with_their_summary() {
    let case = support::case("ycsb-0.18.0-SNAPSHOT/mt-raw");
    let run = case.read().ycsb_runs.remove(0);
    assert_exact(&run, &String::from_utf8(case.bytes("log")).unwrap());
    let counted: Vec<_> = run
        .counted()
        .map(|operation| (operation.name.as_str(), operation.from))
        .collect();
    assert_eq!(counted, [("READ", "rows"), ("UPDATE", "rows")]);
    assert_eq!(run.validity.outcome, Outcome::Valid, "{:?}", run.validity.reasons);
}

#[test]
fn single_operations_of_go_ycsb_are_its_result() {
    let case = support::case("go-ycsb-v1.0.1/badger-run-a-raw");
    let run = case.read().ycsb_runs.remove(0);
    assert_exact(&run, &String::from_utf8(case.bytes("log")).unwrap());
    assert_eq!(
        (run.done_ops_count, run.validity.outcome),
        (Some(300), Outcome::Valid)
    );
}

#[test]
fn single_operations_may_be_in_a_file_of_their_own() {
    let case = support::case("go-ycsb-v1.0.1/badger-run-a-csv-file");
    let parts = [(Role::Export, "x.csv", case.bytes("csv"))];
    let run = support::read(&case.bytes("log"), &parts).ycsb_runs.remove(0);
    assert_exact(&run, &String::from_utf8(case.bytes("csv")).unwrap());
    assert_eq!(run.validity.outcome, Outcome::Valid);
}

#[test]
fn a_second_run_begins_with_its_single_operations() {
    let log = support::case("ycsb-0.18.0-SNAPSHOT/mt-raw").bytes("log");
    let reading = support::read(&[log.clone(), log].concat(), &[]);
    let counts: Vec<_> = reading
        .ycsb_runs
        .iter()
        .map(|run| of_raw(run, "READ").ops_count)
        .collect();
    assert_eq!(counts, [Some(154), Some(154)]);
}

#[test]
fn fewer_single_operations_than_in_the_summary_are_reported() {
    let log = String::from_utf8(support::case("ycsb-0.18.0-SNAPSHOT/mt-raw").bytes("log")).unwrap();
    let reported = |log: &str| ids(&support::read(log.as_bytes(), &[]).ycsb_runs[0].findings);
    assert!(!reported(&log).contains(&"raw-differs"));
    let first = log.lines().find(|line| line.starts_with("READ,")).unwrap();
    assert!(reported(&log.replacen(&format!("{first}\n"), "", 1)).contains(&"raw-differs"));
}

#[test]
fn too_many_latencies_are_rounded_and_reported() {
    let mut log = String::from("operation,timestamp_us,latency_us\n");
    (0..70_000).for_each(|at| log.push_str(&format!("READ,{at},{at}\n")));
    let run = support::read(format!("Run finished, takes 1s\n{log}").as_bytes(), &[])
        .ycsb_runs
        .remove(0);
    assert!(ids(&run.findings).contains(&"latencies-rounded"));
    let p99: u64 = of_raw(&run, "READ").percentiles[3].1.parse().unwrap();
    assert!((69_299..=69_368).contains(&p99), "{p99}");
}
