//! Every real output, compared with the known facts of its case (INDEX.tsv and its `.cmd` file).

use drivetest_logs::ycsb::run::{Outcome, Run, StopKind, Time};

use super::support::{case, ids, java_cases};

/// Cases that are not valid runs, and the rules that report them. `rocksdb-fail-run-e-without-load` is not among them:
/// scans of an empty table succeed, and its output does not show it.
const INVALID: [(&str, &[&str]); 26] = [
    (
        "ycsb-0.17.0/rocksdb-fail-run-a-without-load",
        &["operations-failed"],
    ),
    (
        "ycsb-0.17.0/rocksdb-fail-run-a-without-load-jsonarray",
        &["operations-failed"],
    ),
    (
        "ycsb-0.17.0/rocksdb-fail-run-f-without-load",
        &["operations-failed"],
    ),
    ("ycsb-0.17.0/rocksdb-opcount-0-maxexec3", &["nothing-done"]),
    ("ycsb-0.18.0-SNAPSHOT/fail-aerospike-no-server", &["no-result"]),
    (
        "ycsb-0.18.0-SNAPSHOT/fail-aerospike-no-server-short-a",
        &["operations-failed"],
    ),
    (
        "ycsb-0.18.0-SNAPSHOT/fail-aerospike-no-server-short-e",
        &["no-result"],
    ),
    ("ycsb-0.18.0-SNAPSHOT/fail-bad-optionsfile", &["nothing-done"]),
    (
        "ycsb-0.18.0-SNAPSHOT/fail-bad-optionsfile-merged",
        &["nothing-done"],
    ),
    (
        "ycsb-0.18.0-SNAPSHOT/fail-disk-full-load",
        &["operation-count-differs", "operations-failed"],
    ),
    ("ycsb-0.18.0-SNAPSHOT/fail-no-rocksdb-dir", &["nothing-done"]),
    ("ycsb-0.18.0-SNAPSHOT/fail-opcount-over-int", &["no-result"]),
    ("ycsb-0.18.0-SNAPSHOT/fail-rocksdb-dir-is-file", &["nothing-done"]),
    (
        "ycsb-0.18.0-SNAPSHOT/fail-run-without-load",
        &["operations-failed"],
    ),
    (
        "ycsb-0.18.0-SNAPSHOT/fail-run-without-load-eacherror",
        &["operations-failed"],
    ),
    ("ycsb-0.18.0-SNAPSHOT/fail-scan-empty", &["no-result"]),
    ("ycsb-0.18.0-SNAPSHOT/fail-second-client-lock", &["nothing-done"]),
    ("ycsb-0.18.0-SNAPSHOT/fail-unknown-db", &["nothing-done"]),
    (
        "ycsb-0.18.0-SNAPSHOT/fail-unknown-measurementtype",
        &["no-result"],
    ),
    ("ycsb-0.18.0-SNAPSHOT/fail-unknown-workload", &["no-result"]),
    (
        "ycsb-0.18.0-SNAPSHOT/interrupted-sigint-default-handler",
        &["no-result"],
    ),
    (
        "ycsb-0.18.0-SNAPSHOT/interrupted-sigint-ignored-then-sigterm",
        &["no-result"],
    ),
    (
        "ycsb-0.18.0-SNAPSHOT/interrupted-sigquit-threaddump",
        &["no-result"],
    ),
    ("ycsb-0.18.0-SNAPSHOT/interrupted-sigterm", &["no-result"]),
    (
        "ycsb-0.18.0-SNAPSHOT/readwrite-dataintegrity",
        &["verification-failed"],
    ),
    ("ycsb-0.18.0-SNAPSHOT/threads-more-than-ops", &["threads-differ"]),
];

fn run(name: &str) -> Run {
    let mut runs = case(name).read().ycsb_runs;
    assert_eq!(runs.len(), 1, "{name}");
    runs.remove(0)
}

fn deciding(run: &Run) -> Vec<&'static str> {
    let deciding = run
        .findings
        .iter()
        .filter(|finding| format!("{:?}", finding.severity) == "Decides");
    let mut ids: Vec<_> = deciding.map(|finding| finding.id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn every_case_is_judged_as_what_it_is_known_to_be() {
    let cases = java_cases();
    assert!(cases.len() > 100, "{}", cases.len());
    for case in cases {
        let runs = case.read().ycsb_runs;
        assert_eq!(runs.len(), 1, "{}", case.name);
        let known = INVALID.iter().find(|(name, _)| *name == case.name);
        let expected = known.map_or(Outcome::Valid, |_| Outcome::Invalid);
        assert_eq!(
            runs[0].validity.outcome, expected,
            "{}: {:?}",
            case.name, runs[0].validity
        );
        assert_eq!(
            deciding(&runs[0]),
            known.map_or(&[][..], |(_, ids)| ids),
            "{}",
            case.name
        );
    }
}

#[test]
fn without_a_command_line_no_run_is_called_valid() {
    for case in java_cases() {
        let log = case.bytes("log");
        let text = String::from_utf8_lossy(&log);
        if text.contains("Command line:")
            || text.contains("ycsb.Client -")
            || text.contains("\"threadcount\"=")
        {
            continue;
        }
        for run in case.read_alone().ycsb_runs {
            assert_ne!(run.validity.outcome, Outcome::Valid, "{}", case.name);
            assert_eq!((run.threads_count, run.phase), (None, None), "{}", case.name);
            assert!(
                run.operations
                    .iter()
                    .all(|operation| operation.time.is_none() || run.times == Some(Time::Both))
            );
        }
    }
}

#[test]
fn the_configuration_is_that_of_the_command_file() {
    for case in java_cases() {
        let command = String::from_utf8(case.bytes("cmd")).unwrap();
        let words: Vec<&str> = command.lines().next().unwrap().split_whitespace().collect();
        let after = |option: &str| {
            words
                .iter()
                .position(|word| *word == option)
                .map(|at| words[at + 1])
        };
        let property = |name: &str| {
            let set = words
                .iter()
                .rev()
                .find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            set.and_then(|value| value.parse::<u64>().ok())
        };
        let run = &case.read().ycsb_runs[0];
        let threads = after("-threads").map_or(Some(1), |threads| threads.parse().ok());
        assert_eq!(run.threads_count, threads, "{}", case.name);
        assert_eq!(run.record_count, property("recordcount"), "{}", case.name);
        assert_eq!(run.target_ops_per_s.as_deref(), after("-target"), "{}", case.name);
        let is_load = words.contains(&"-load");
        let requested = if is_load {
            property("insertcount").or_else(|| property("recordcount"))
        } else {
            property("operationcount")
        };
        // A database that prints all its properties states more than the command line.
        if requested.is_some() {
            assert_eq!(run.operation_count, requested, "{}", case.name);
        }
    }
}

#[test]
fn the_version_is_that_of_the_folder_from_0_8_on() {
    for case in java_cases() {
        let folder = case.name.split('/').next().unwrap();
        let version = folder.trim_start_matches("ycsb-").trim_end_matches("-central");
        let hidden = matches!(version, "0.1.4" | "0.3.0" | "0.5.0");
        for run in case.read().ycsb_runs {
            let expected = Some(version).filter(|_| !hidden);
            // The banner is on standard error, which some cases lack.
            let is_reported = run.tool_version.is_some() || hidden || case.bytes("stderr").is_empty();
            assert!(is_reported, "{}", case.name);
            assert!(
                run.tool_version.is_none() || run.tool_version.as_deref() == expected,
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn an_interrupted_run_has_the_counts_of_its_status_lines() {
    let run = run("ycsb-0.18.0-SNAPSHOT/interrupted-sigterm");
    assert_eq!(run.stop.kind, StopKind::Interrupted);
    let statuses: Vec<_> = run.statuses().collect();
    assert_eq!(statuses.last().unwrap().ops_count, 21_652);
    assert_eq!((run.first_line, run.last_line), (0, 0));
}

#[test]
fn a_time_limit_leaves_a_run_valid_and_shorter() {
    let run = run("ycsb-0.18.0-SNAPSHOT/maxexecutiontime5");
    assert_eq!(run.stop.kind, StopKind::TimeLimit);
    assert_eq!(
        (run.done_ops_count, run.operation_count),
        (Some(17_627 + 17_509), Some(2_000_000))
    );
    assert!(ids(&run.findings).contains(&"time-limit-hit"));
}

#[test]
fn the_95th_of_the_first_hdrhistogram_is_the_90th() {
    let run = run("ycsb-0.3.0/basicdb-run-a-p9999");
    let read = run
        .operations
        .iter()
        .find(|operation| operation.name == "READ")
        .unwrap();
    let expected = [
        ("90".to_owned(), "2000".to_owned()),
        ("99".to_owned(), "2000".to_owned()),
    ];
    assert_eq!(read.percentiles, expected);
    assert_eq!(read.percentiles_floor_us, Some(1000));
    assert!(ids(&run.findings).contains(&"percentile-is-the-90th"));
}

#[test]
fn the_measurement_type_determines_rows_named_by_numbers() {
    let operation = |name: &str, operation: &str| {
        let operations = run(name).operations;
        operations
            .into_iter()
            .find(|found| found.name == operation)
            .unwrap()
    };
    let histogram = operation("ycsb-0.18.0-SNAPSHOT/mt-histogram-verbose", "READ");
    let buckets = histogram.buckets.unwrap();
    assert_eq!((buckets.unit, buckets.counts[1]), ("ms", (1, 5903)));
    let sum: u64 = buckets.counts.iter().map(|(_, count)| count).sum();
    assert_eq!(sum + buckets.beyond.unwrap().1, histogram.ops_count.unwrap());
    let hdr = operation("ycsb-0.18.0-SNAPSHOT/mt-hdr-verbose", "READ");
    let buckets = hdr.buckets.unwrap();
    assert_eq!((buckets.unit, buckets.counts[0]), ("us", (2, 4)));
    let series = operation("ycsb-0.3.0/basicdb-run-a-timeseries", "READ")
        .series
        .unwrap();
    assert_eq!(
        series,
        [
            (0, "1068.7728026533996".to_owned()),
            (1000, "1194.963768115942".to_owned())
        ]
    );
}

#[test]
fn two_recorders_are_distinguished_and_counted_once() {
    let run = run("ycsb-0.18.0-SNAPSHOT/mt-hdr+histogram");
    assert_eq!(run.measurement, Some("hdrhistogram+histogram"));
    let reads = run.operations.iter().filter(|operation| operation.name == "READ");
    let reported: Vec<_> = reads
        .map(|read| (read.recorder, read.is_counted, read.percentiles_floor_us))
        .collect();
    assert_eq!(
        reported,
        [
            (Some("hdrhistogram"), true, None),
            (Some("histogram"), false, Some(1000))
        ]
    );
    let groups: Vec<usize> = run.statuses().map(|status| status.operations.len()).collect();
    assert_eq!(
        groups,
        [0, 4, 4, 4, 4, 4, 6],
        "the rests of broken status lines belong to them"
    );
}

#[test]
fn intended_times_are_response_times() {
    let run = run("ycsb-0.18.0-SNAPSHOT/interval-both-target2000");
    assert_eq!(run.times, Some(Time::Both));
    let read = |time| {
        run.operations
            .iter()
            .find(|read| read.name == "READ" && read.time == Some(time))
            .unwrap()
    };
    assert_eq!(read(Time::Service).mean_us.as_deref(), Some("627.9106771091504"));
    assert!(read(Time::Service).is_counted && !read(Time::Response).is_counted);
}

#[test]
fn text_and_json_hold_the_same() {
    let names = |name: &str| {
        let run = run(name);
        let mut names: Vec<_> = run
            .operations
            .iter()
            .map(|operation| {
                (
                    operation.name.clone(),
                    operation.percentiles.len(),
                    operation.returns.len(),
                )
            })
            .collect();
        names.sort();
        names
    };
    let text = names("ycsb-0.18.0-SNAPSHOT/run-workloada-default");
    assert_eq!(names("ycsb-0.18.0-SNAPSHOT/exporter-old-package-name"), text);
    let json = run("ycsb-0.18.0-SNAPSHOT/exporter-json");
    let array = run("ycsb-0.18.0-SNAPSHOT/exporter-jsonarray");
    for run in [&json, &array] {
        assert_eq!(
            run.counted()
                .filter_map(|operation| operation.ops_count)
                .sum::<u64>(),
            30_000
        );
        assert!(run.runtime_ms.is_some() && run.collections.is_some());
    }
}
