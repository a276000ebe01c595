//! Real outputs, cut, doubled and noised at random: no panic, limited memory, and no row is lost without a finding.

use drivetest_logs::finding::Severity;
use drivetest_logs::reader::{LogReader, Options, Reading};
use drivetest_logs::ycsb::run::{Outcome, Run};
use proptest::prelude::*;

use super::handwritten::CLEAN;
use super::support::{case, java_cases, read};

fn cases() -> Vec<Vec<u8>> {
    let names = [
        "ycsb-0.18.0-SNAPSHOT/status-merged",
        "ycsb-0.18.0-SNAPSHOT/exporter-jsonarray",
        "ycsb-0.18.0-SNAPSHOT/interval-both-notarget",
        "ycsb-0.18.0-SNAPSHOT/mt-raw",
        "ycsb-0.5.0/basicdb-run-f",
        "ycsb-0.3.0/basicdb-run-a-timeseries",
    ];
    names.iter().map(|name| case(name).bytes("log")).collect()
}

/// Every number of operations' times and percentiles.
fn numbers(run: &Run) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    for operation in &run.operations {
        let times = [&operation.mean_us, &operation.min_us, &operation.max_us];
        numbers.extend(times.into_iter().flatten().cloned());
        numbers.extend(operation.percentiles.iter().map(|(_, time)| time.clone()));
        numbers.extend(operation.ops_count.map(|count| count.to_string()));
    }
    numbers
}

fn has_weighty_finding(reading: &Reading) -> bool {
    let of_runs = reading.ycsb_runs.iter().flat_map(|run| &run.findings);
    let mut all = of_runs.chain(&reading.findings);
    all.any(|finding| finding.severity != Severity::Note)
}

#[test]
fn a_log_cut_anywhere_is_not_valid_before_its_last_operation_and_reports_every_new_number() {
    let configuration = format!("Command line: {}\n", super::handwritten::CONFIGURATION);
    let whole = format!("{configuration}{CLEAN}");
    let known = numbers(&read(whole.as_bytes(), &[]).ycsb_runs[0]);
    for end in 0..whole.len() - 1 {
        let reading = read(&whole.as_bytes()[..end], &[]);
        for run in &reading.ycsb_runs {
            let has_cleanup = whole[..end].contains("[CLEANUP], Operations, 2");
            assert!(has_cleanup || run.validity.outcome != Outcome::Valid, "{end}");
            let is_known = numbers(run).iter().all(|number| known.contains(number));
            assert!(
                is_known || has_weighty_finding(&reading),
                "{end}: {:?}",
                numbers(run)
            );
        }
    }
}

#[test]
fn chunks_of_any_size_give_the_same() {
    for log in cases() {
        let whole = read(&log, &[]);
        let mut reader = LogReader::new(Options::default());
        log.chunks(7).for_each(|chunk| reader.push(chunk));
        let reported = |reading: &Reading| serde_json::to_value(&reading.ycsb_runs).unwrap();
        assert_eq!(reported(&reader.finish()), reported(&whole));
    }
}

/// Rows of a text log, counted by the words of docs/reference/formats.md alone.
fn rows_in(text: &str) -> usize {
    let ignored = [
        "TOTAL_GCS_",
        "TOTAL_GC_TIME_",
        "MAX_",
        "MIN_",
        "USED_MEM_MB",
        "THREAD_COUNT",
        "SYS_LOAD_AVG",
        "GCS",
    ];
    let is_row = |line: &&str| line.starts_with('[') && line.contains("], ") && !line.starts_with("[Thread-");
    let is_ignored = |line: &str| {
        ignored.iter().any(|name| line[1..].starts_with(name)) && !line.starts_with("[TOTAL_GC_TIME_%]")
    };
    let heading = |line: &str| line.contains("Below is a summary");
    // Buckets of nothing are left out, and what a series prints twice is one.
    let is_empty_bucket = |line: &str| {
        let name = line.split("], ").nth(1).and_then(|rest| rest.strip_suffix(", 0"));
        name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let rows = text.lines().filter(is_row);
    let mut rows: Vec<&str> = rows
        .filter(|line| !is_ignored(line) && !heading(line) && !is_empty_bucket(line))
        .collect();
    rows.dedup();
    rows.len()
}

/// Return the number of rows in the document of a run.
fn rows_of(run: &Run) -> usize {
    let totals = [&run.runtime_ms, &run.throughput_ops_per_s]
        .into_iter()
        .flatten()
        .count();
    let collections = run.collections.as_ref().map_or(0, |all| {
        [&all.count, &all.time_ms, &all.time_pct]
            .into_iter()
            .flatten()
            .count()
    });
    let of_operations: usize = run
        .operations
        .iter()
        .filter(|operation| operation.from == "rows")
        .map(|operation| {
            let times = [
                &operation.mean_us,
                &operation.min_us,
                &operation.max_us,
                &operation.variance_us2,
            ];
            let series = operation.series.as_ref().map_or(0, Vec::len);
            let buckets = operation.buckets.as_ref().map_or(0, |buckets| {
                buckets.counts.len() + usize::from(buckets.beyond.is_some())
            });
            usize::from(operation.ops_count.is_some())
                + times.into_iter().flatten().count()
                + operation.percentiles.len()
                + operation.returns.len()
                + series
                + buckets
        })
        .sum();
    totals + collections + of_operations
}

#[test]
fn every_row_of_every_real_log_is_in_the_document() {
    let mut compared = 0;
    for case in java_cases().iter().filter(|case| !case.name.contains("json")) {
        let log = String::from_utf8_lossy(&case.bytes("log")).into_owned();
        let runs = case.read().ycsb_runs;
        // The times of operations that there were none of are left out.
        if !log.contains(", Operations, 0\n") {
            compared += 1;
            assert_eq!(
                runs.iter().map(rows_of).sum::<usize>(),
                rows_in(&log),
                "{}",
                case.name
            );
        }
    }
    assert!(compared > 80, "{compared}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn noise_never_panics(which in 0_usize..6, at in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut log = cases().remove(which);
        let at = at.index(log.len());
        log.splice(at..(at + noise.len()).min(log.len()), noise);
        let reading = read(&log, &[]);
        prop_assert!(serde_json::to_string(&reading.ycsb_runs).is_ok());
    }

    #[test]
    fn swapped_and_doubled_lines_never_panic(which in 0_usize..6, from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let log = cases().remove(which);
        let mut lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
        let (from, to) = (from.index(lines.len()), to.index(lines.len()));
        lines.insert(to, lines[from]);
        lines.swap(from, to);
        let reading = read(&lines.concat(), &[]);
        prop_assert!(!reading.ycsb_runs.is_empty());
    }

    #[test]
    fn any_text_like_rows_is_taken(lines in prop::collection::vec("\\[[A-Z-]{0,9}\\], ?[a-zA-Z0-9().>=% ]{0,20},? ?[0-9.eEN-]{0,9}", 0..40)) {
        let reading = read(lines.join("\n").as_bytes(), &[]);
        prop_assert!(reading.error.is_some() == reading.ycsb_runs.is_empty());
    }
}
