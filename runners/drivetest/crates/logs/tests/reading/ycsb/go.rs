//! go-ycsb: every value of every final block in the document, and what makes a run valid.

use std::collections::BTreeMap;

use drivetest_logs::reader::{Reading, Role};
use drivetest_logs::ycsb::run::{Operation, Outcome, Run, StopKind};
use proptest::prelude::*;

use super::support::{self, Case, ids};

/// The rows of a log after `Run finished`, by another way than the reader's: cells between marks.
fn final_rows(case: &Case) -> Vec<BTreeMap<String, String>> {
    let text = String::from_utf8(case.bytes("log")).unwrap();
    let Some((_, block)) = text.split_once("Run finished") else {
        return Vec::new();
    };
    let heads = block.lines().find(|line| line.starts_with("| OPERATION"));
    block
        .lines()
        .skip(1)
        .flat_map(|line| rows_of(line, heads))
        .collect()
}

fn rows_of(line: &str, heads: Option<&str>) -> Vec<BTreeMap<String, String>> {
    if line.starts_with("[{") {
        let rows: Vec<BTreeMap<String, String>> = serde_json::from_str(line).unwrap();
        let lower =
            |row: BTreeMap<String, String>| row.into_iter().map(|(head, value)| (head.to_lowercase(), value));
        return rows.into_iter().map(|row| lower(row).collect()).collect();
    }
    let cells = |line: &str| {
        line.split('|')
            .map(|cell| cell.trim().to_lowercase())
            .collect::<Vec<_>>()
    };
    if let Some(heads) = heads.filter(|heads| line.starts_with("| ") && *heads != line) {
        let values = line.split('|').map(|cell| cell.trim().to_owned());
        return vec![cells(heads).into_iter().zip(values).collect()];
    }
    let Some((name, values)) = line.split_once(" - Takes") else {
        return Vec::new();
    };
    let pairs = format!("Takes{values}");
    let pairs = pairs.split(", ").map(|pair| pair.split_once(": ").unwrap());
    let mut row: BTreeMap<String, String> = pairs
        .map(|(head, value)| (head.to_lowercase(), value.to_owned()))
        .collect();
    row.insert("operation".to_owned(), name.trim().to_owned());
    vec![row]
}

fn one(case: &Case) -> Run {
    let mut runs = case.read().ycsb_runs;
    assert_eq!(runs.len(), 1, "{}", case.name);
    runs.remove(0)
}

fn operation<'a>(run: &'a Run, printed: &str) -> &'a Operation {
    let (name, outcome) = printed
        .strip_suffix("_ERROR")
        .map_or((printed, "ok"), |name| (name, "failed"));
    let is_it = |operation: &&Operation| operation.name == name && operation.outcome == outcome;
    run.operations.iter().find(is_it).unwrap()
}

/// Readings in which each rule on go-ycsb fires.
pub fn odd() -> Vec<Reading> {
    let names = [
        "run-workloadf",
        "run-a-warmup",
        "run-a-maxexec",
        "run-a-histogram-outfile",
    ];
    let cases = names.map(|name| support::case(&format!("go-ycsb-v1.0.1/badger-{name}")).read_alone());
    let many: String = (0..70_000).map(|at| format!("READ,{at},{at}\n")).collect();
    let raw = format!("Run finished, takes 1s\noperation,timestamp_us,latency_us\n{many}");
    let summary = support::case("ycsb-0.18.0-SNAPSHOT/mt-raw").bytes("log");
    let one_more = [b"READ,1,1\n".to_vec(), summary].concat();
    let made = [raw.into_bytes(), one_more].map(|log| support::read(&log, &[]));
    cases.into_iter().chain(made).collect()
}

#[test]
fn every_value_of_a_final_block_is_in_the_document() {
    let mut values_count = 0;
    for case in support::go_cases() {
        let run = one(&case);
        let rows = final_rows(&case);
        for row in &rows {
            let reported = operation(&run, &row["operation"]);
            assert_eq!(
                reported.ops_count.unwrap().to_string(),
                row["count"],
                "{}",
                case.name
            );
            let times = [
                &reported.mean_us,
                &reported.min_us,
                &reported.max_us,
                &reported.ops_per_s_since_first,
            ];
            let heads = ["avg(us)", "min(us)", "max(us)", "ops"];
            for (time, head) in times.into_iter().zip(heads) {
                assert_eq!(time.as_deref(), Some(row[head].as_str()), "{} {head}", case.name);
            }
            for (share, time) in &reported.percentiles {
                assert_eq!(*time, row[&format!("{share}th(us)")], "{}", case.name);
            }
            assert_eq!(
                reported.percentiles.len() + 7,
                row.keys().filter(|head| !head.is_empty()).count()
            );
            values_count += row.len();
        }
        let is_raw = run.measurement == Some("raw");
        assert!(is_raw || rows.len() == run.operations.len(), "{}", case.name);
    }
    assert!(values_count > 1000, "{values_count}");
}

#[test]
fn every_interval_is_in_the_document() {
    for case in support::go_cases() {
        let run = one(&case);
        let text = String::from_utf8(case.bytes("log")).unwrap();
        let before = text.split("Run finished").next().unwrap();
        let rows = before.lines().flat_map(|line| rows_of(line, None));
        let counts: Vec<String> = rows.map(|row| row["count"].clone()).collect();
        let statuses: Vec<_> = run.statuses().collect();
        let reported = statuses.iter().flat_map(|status| &status.operations);
        let reported: Vec<String> = reported
            .map(|operation| operation.ops_count.unwrap().to_string())
            .collect();
        assert_eq!(reported, counts, "{}", case.name);
    }
}

#[test]
fn blocks_of_intervals_are_distinguished() {
    let run = one(&support::case("go-ycsb-v1.0.1/badger-run-a-target"));
    let reported: Vec<_> = run
        .statuses()
        .map(|status| (status.elapsed_s, status.operations.len()))
        .collect();
    assert_eq!(reported, [(1, 3), (2, 3), (3, 3), (4, 3)]);
    // The target is 1000 operations/s, and four threads reach it.
    let rates = run
        .statuses()
        .map(|status| status.ops_per_s.unwrap().parse::<f64>().unwrap());
    assert!(rates.into_iter().all(|rate| (990.0..1010.0).contains(&rate)));
}

#[test]
fn only_runs_that_did_all_without_failure_are_valid() {
    for case in support::go_cases() {
        let run = one(&case);
        let log = String::from_utf8(case.bytes("log")).unwrap();
        let has_final =
            log.contains("Run finished") && (final_rows(&case).len() > 1 || log.contains("latency_us"));
        let is_whole = has_final && !log.contains("_ERROR") && !log.contains("Got signal");
        let expected = if is_whole {
            Outcome::Valid
        } else {
            Outcome::Invalid
        };
        assert_eq!(
            run.validity.outcome, expected,
            "{}: {:?}",
            case.name, run.validity.reasons
        );
    }
}

#[test]
fn the_printed_properties_are_the_configuration() {
    let run = one(&support::case("go-ycsb-v1.0.1/badger-run-workloadf"));
    assert_eq!(
        (run.tool, run.binding.as_deref(), run.workload.as_deref()),
        ("go-ycsb", Some("badger"), Some("f"))
    );
    assert_eq!(
        (run.threads_count, run.record_count, run.record_bytes),
        (Some(8), Some(50_000), Some(4096))
    );
    assert_eq!(
        (run.operation_count, run.request_distribution.as_deref()),
        (Some(20_000), Some("uniform"))
    );
    let alone = support::case("go-ycsb-v1.0.1/badger-run-workloadf")
        .read_alone()
        .ycsb_runs;
    assert_eq!(
        (alone[0].threads_count, alone[0].binding.as_deref()),
        (Some(8), None)
    );
    assert!(ids(&alone[0].findings).contains(&"back-end-untold"));
}

/// 20,000 operations in 210.175723 ms; TOTAL has 29,970.
#[test]
fn the_rate_comparable_with_ycsb_is_shown_in_addition_to_the_printed_one() {
    let run = one(&support::case("go-ycsb-v1.0.1/badger-run-workloadf"));
    assert_eq!(run.runtime_ms.as_deref(), Some("210.175723"));
    assert_eq!(
        (run.done_ops_count, run.throughput_ops_per_s.as_deref()),
        (Some(20_000), Some("95158.469"))
    );
    assert_eq!(
        operation(&run, "TOTAL").ops_per_s_since_first.as_deref(),
        Some("142606.1")
    );
    assert!(ids(&run.findings).contains(&"total-counts-parts"));
}

/// 10,000 operations in 3.131459576 s, of which 3 s are warm-up.
#[test]
fn the_warm_up_is_not_in_the_throughput() {
    let run = one(&support::case("go-ycsb-v1.0.1/badger-run-a-warmup"));
    let rate: f64 = run.throughput_ops_per_s.as_deref().unwrap().parse().unwrap();
    assert!((rate - 10_000.0 / 0.131_459_576).abs() < 0.001, "{rate}");
    assert!(ids(&run.findings).contains(&"warm-up-excluded"));
}

#[test]
fn an_interrupted_run_looks_complete_and_is_not() {
    let run = one(&support::case("go-ycsb-v1.0.1/interrupted-sigint"));
    assert_eq!(
        (run.stop.kind, run.done_ops_count),
        (StopKind::Interrupted, Some(226_820))
    );
    let reported = ids(&run.findings);
    assert!(
        reported.contains(&"interrupted") && reported.contains(&"operation-count-differs"),
        "{reported:?}"
    );
}

#[test]
fn gaps_in_the_output_of_go_ycsb_are_reported() {
    let reported = |name: &str| ids(&one(&support::case(&format!("go-ycsb-v1.0.1/{name}"))).findings);
    assert!(reported("badger-run-a-maxexec").contains(&"time-limit-ignored"));
    assert!(reported("fail-run-without-load").contains(&"errors-silent"));
    let loud = reported("fail-run-without-load-silence-off");
    assert!(loud.contains(&"binding-errors") && !loud.contains(&"errors-silent"));
}

#[test]
fn a_refused_start_has_its_reason() {
    let run = one(&support::case("go-ycsb-v1.0.1/fail-aerospike-no-server"));
    assert_eq!(run.stop.kind, StopKind::NotStarted);
    assert!(
        run.stop.text.starts_with("create db aerospike failed"),
        "{}",
        run.stop.text
    );
    assert!(ids(&run.findings).contains(&"nothing-done"));
}

#[test]
fn the_final_block_may_be_in_a_file_of_its_own() {
    let case = support::case("go-ycsb-v1.0.1/badger-run-a-histogram-outfile");
    assert!(ids(&one(&case).findings).contains(&"result-elsewhere"));
    let parts = [(Role::Export, "x.out", case.bytes("out"))];
    let run = &support::read(&case.bytes("log"), &parts).ycsb_runs[0];
    assert_eq!(
        (run.validity.outcome, run.done_ops_count),
        (Outcome::Valid, Some(10_000))
    );
    assert_eq!(operation(run, "UPDATE").max_us.as_deref(), Some("4055"));
}

#[test]
fn runs_after_each_other_are_read_by_themselves() {
    let cases = ["t001", "t002", "t004"]
        .map(|threads| support::case(&format!("go-ycsb-v1.0.1/sweep-badger-workloadc-{threads}")));
    let logs: Vec<u8> = cases.iter().flat_map(|case| case.bytes("log")).collect();
    let commands: Vec<u8> = cases.iter().flat_map(|case| case.bytes("cmd")).collect();
    let reading = support::read(&logs, &[(Role::Command, "cmd", commands)]);
    let threads: Vec<_> = reading
        .ycsb_runs
        .iter()
        .map(|run| (run.ordinal, run.threads_count.unwrap()))
        .collect();
    assert_eq!(threads, [(0, 1), (1, 2), (2, 4)]);
    assert!(
        reading
            .ycsb_runs
            .iter()
            .all(|run| run.validity.outcome == Outcome::Valid && run.binding.is_some())
    );
    assert!(ids(&reading.findings).contains(&"several-runs"));
}

#[test]
fn runs_of_both_programs_in_one_file_are_both_read() {
    let go = support::case("go-ycsb-v1.0.1/badger-run-workloada").bytes("log");
    let java = support::case("ycsb-0.18.0-SNAPSHOT/hdr-fileoutput").bytes("log");
    let runs = support::read(&[go, java].concat(), &[]).ycsb_runs;
    let reported: Vec<_> = runs
        .iter()
        .map(|run| (run.ordinal, run.tool, run.done_ops_count))
        .collect();
    assert_eq!(
        reported,
        [(0, "go-ycsb", Some(20_000)), (1, "ycsb", Some(30_000))]
    );
}

const HEAD: &str = "***************** properties *****************\n\"operationcount\"=\"30\"\n\"command\"=\"run\"\n\
                    **********************************************\n";

fn made(block: &str) -> Run {
    let log = format!("{HEAD}{block}");
    support::read(log.as_bytes(), &[]).ycsb_runs.remove(0)
}

/// Before HdrHistogram rates were called QPS, and percentiles were the ends of buckets of a millisecond.
#[test]
fn older_releases_print_qps_and_fewer_percentiles() {
    let run = made(
        "Run finished, takes 1m2s\nREAD   - Takes(s): 62.0, Count: 30, QPS: 0.5, Avg(us): 900, Min(us): 1, Max(us): 2500, 99th(us): 3000, 99.9th(us): 3000\n",
    );
    assert_eq!(
        (run.runtime_ms.as_deref(), run.measurement),
        (Some("62000"), Some("histogram"))
    );
    assert_eq!(
        operation(&run, "READ").ops_per_s_since_first.as_deref(),
        Some("0.5")
    );
    assert_eq!(run.validity.outcome, Outcome::Valid);
}

#[test]
fn a_log_that_breaks_off_is_no_result() {
    let row = "READ   - Takes(s): 1.0, Count: 30, OPS: 30.0\n";
    let cut = made(row);
    assert_eq!(
        (cut.stop.kind, cut.done_ops_count, cut.intervals.len()),
        (StopKind::Interrupted, None, 1)
    );
    assert!(ids(&cut.findings).contains(&"no-result"));
    let inside = made(&format!(
        "Run finished, takes 1s\n{row}UPDATE - Takes(s): 1.0, Cou"
    ));
    assert!(ids(&inside.findings).contains(&"result-cut"));
    let shorter = made(&format!(
        "Run finished, takes 1s\n{row}UPDATE - Takes(s): 1.0, Count: 5\n"
    ));
    assert!(ids(&shorter.findings).contains(&"result-cut"));
}

#[test]
fn a_block_without_its_total_is_cut() {
    let row = |name: &str| format!("{name} - Takes(s): 1.0, Count: 30, OPS: 30.0, 50th(us): 1\n");
    let reported = |rows: String| ids(&made(&format!("Run finished, takes 1s\n{rows}")).findings);
    assert!(reported(row("READ")).contains(&"result-cut"));
    assert!(!reported(row("READ") + &row("TOTAL")).contains(&"result-cut"));
}

#[test]
fn counts_that_do_not_add_up_are_not_trusted() {
    let run = |total: u64| {
        let rows = format!(
            "READ - Takes(s): 1.0, Count: 30, OPS: 30.0\nTOTAL - Takes(s): 1.0, Count: {total}, OPS: 1.0\n"
        );
        ids(&made(&format!("Run finished, takes 1s\n{rows}")).findings)
    };
    assert!(!run(30).contains(&"operations-do-not-add-up"));
    assert!(run(31).contains(&"operations-do-not-add-up"));
}

/// A read-modify-write whose read failed makes no update: how many were done is not known, and 30 is possible.
#[test]
fn failed_reads_leave_open_how_many_were_done() {
    let run = |composite: u64| {
        let row = |name: &str, count: u64| format!("{name} - Takes(s): 1.0, Count: {count}, OPS: 1.0\n");
        let rows = row("READ", 25)
            + &row("READ_ERROR", 5)
            + &row("UPDATE", 10)
            + &row("READ_MODIFY_WRITE", composite);
        made(&format!("Run finished, takes 1s\n{rows}"))
    };
    assert_eq!(run(12).done_ops_count, None);
    assert!(!ids(&run(12).findings).contains(&"operation-count-differs"));
    assert!(ids(&run(16).findings).contains(&"operation-count-differs"));
}

/// One thread cannot be 2 s in operations that it made in 1 s.
#[test]
fn times_that_do_not_fit_the_threads_are_reported() {
    let run = |mean_us: u64| {
        let row = format!("READ - Takes(s): 1.0, Count: 30, OPS: 30.0, Avg(us): {mean_us}\n");
        ids(&made(&format!("Run finished, takes 1s\n{row}")).findings)
    };
    assert!(!run(33_000).contains(&"more-in-flight-than-threads"));
    assert!(run(66_000).contains(&"more-in-flight-than-threads"));
}

#[test]
fn percentile_spectra_are_listed_with_their_operations() {
    let case = support::case("go-ycsb-v1.0.1/badger-run-a-pctexport");
    let parts = ["READ", "UPDATE", "TOTAL"].map(|name| {
        let path = format!("go-ycsb-v1.0.1/badger-run-a-pctexport-{name}-percentiles.txt");
        (
            Role::Other,
            name,
            std::fs::read(support::folder().join(path)).unwrap(),
        )
    });
    let names: Vec<String> = parts
        .iter()
        .map(|(_, name, _)| format!("x-{name}-percentiles.txt"))
        .collect();
    let parts: Vec<_> = parts
        .into_iter()
        .zip(&names)
        .map(|((role, _, bytes), name)| (role, name.as_str(), bytes))
        .collect();
    let run = &support::read(&case.bytes("log"), &parts).ycsb_runs[0];
    let spectra: Vec<_> = run
        .operations
        .iter()
        .filter(|operation| operation.from == "hgrm")
        .collect();
    assert_eq!(spectra.len(), 3);
    let reported = |share: &str| {
        spectra[0]
            .percentiles
            .iter()
            .find(|(known, _)| known == share)
            .map(|(_, time)| time.as_str())
    };
    assert_eq!(
        (reported("50"), reported("99.8047"), reported("100")),
        (Some("9"), Some("556"), Some("3557"))
    );
    assert_eq!(
        (spectra[0].ops_count, run.validity.outcome),
        (Some(4973), Outcome::Valid)
    );
    assert!(!ids(&run.findings).contains(&"hdr-differs"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn noise_and_cuts_never_panic_and_make_nothing_valid_of_a_cut(
        which in 0_usize..5, at in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..40)
    ) {
        let names = ["workloadf", "a-style-json", "a-style-table", "a-raw", "a-target"];
        let log = support::case(&format!("go-ycsb-v1.0.1/badger-run-{}", names[which])).bytes("log");
        let mut noised = log.clone();
        let at = at.index(log.len());
        noised.splice(at..(at + noise.len()).min(log.len()), noise);
        let read = support::read(&noised, &[]);
        prop_assert!(serde_json::to_string(&read.ycsb_runs).is_ok());
        // The frame under a table holds no value.
        let cut = support::read(&log[..at], &[]);
        let is_frame = log[at..].iter().all(|byte| b"+-|\n".contains(byte));
        let is_valid = cut.ycsb_runs.iter().any(|run| run.validity.outcome == Outcome::Valid);
        let is_open = cut.ycsb_runs.iter().any(|run| ids(&run.findings).contains(&"last-row-open"));
        prop_assert!(!is_valid || is_frame || is_open, "{} {at}", names[which]);
    }
}
