//! Handwritten outputs with expected results.

use drivetest_logs::reader::Role;
use drivetest_logs::ycsb::run::{Outcome, StopKind, Time};

use super::support::{ids, one, read};

/// A run of 100 reads by two threads in one second, as YCSB 0.17 prints it.
pub const CLEAN: &str = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100.0\n\
    [READ], Operations, 100\n[READ], AverageLatency(us), 1500.5\n[READ], MinLatency(us), 900\n\
    [READ], MaxLatency(us), 4000\n[READ], 50thPercentileLatency(us), 1400\n[READ], Return=OK, 100\n\
    [CLEANUP], Operations, 2\n[CLEANUP], AverageLatency(us), 5.0\n[CLEANUP], MinLatency(us), 1\n\
    [CLEANUP], MaxLatency(us), 9\n[CLEANUP], 50thPercentileLatency(us), 1\n";

/// Command line of the run.
pub const CONFIGURATION: &str = "-t -db site.ycsb.BasicDB -p workload=site.ycsb.workloads.CoreWorkload -p recordcount=50 \
    -p operationcount=100 -threads 2 -target 100 -p measurement.interval=op -p hdrhistogram.percentiles=50";

#[test]
fn a_clean_run_is_valid() {
    let run = one(CLEAN, CONFIGURATION);
    assert_eq!(run.validity.outcome, Outcome::Valid, "{:?}", run.findings);
    assert_eq!((run.done_ops_count, run.failed_ops_count), (Some(100), Some(0)));
    assert_eq!((run.threads_count, run.threads_ran_count), (Some(2), Some(2)));
    assert_eq!(run.operations[0].mean_us.as_deref(), Some("1500.5"));
    assert_eq!(
        (run.times, run.measurement),
        (Some(Time::Service), Some("hdrhistogram"))
    );
}

#[test]
fn runtime_and_throughput_give_the_operations_done_to_the_one() {
    // 40,000 / 12.345 s and 1 / 3 s, as Java prints them.
    for (runtime, throughput, done) in [
        ("12345", "3240.1782098015392", 40_000),
        ("3000", "0.3333333333333333", 1),
    ] {
        let log =
            format!("[OVERALL], RunTime(ms), {runtime}\n[OVERALL], Throughput(ops/sec), {throughput}\n");
        assert_eq!(one(&log, CONFIGURATION).done_ops_count, Some(done));
    }
}

#[test]
fn doubles_of_old_releases_are_counts() {
    let log = CLEAN
        .replace("Operations, 100", "Operations, 100.0")
        .replace("RunTime(ms), 1000", "RunTime(ms), 1000.0");
    let run = one(&log.replace("Return=OK", "Return=0"), CONFIGURATION);
    assert_eq!(run.validity.outcome, Outcome::Valid, "{:?}", run.findings);
    assert_eq!(run.runtime_ms.as_deref(), Some("1000.0"), "as printed");
    let large = one(
        &CLEAN.replace("[READ], Operations, 100", "[READ], Operations, 3.0E7"),
        CONFIGURATION,
    );
    assert_eq!(large.operations[0].ops_count, Some(30_000_000));
}

#[test]
fn an_operation_of_nothing_has_no_times() {
    let empty = "[UPDATE], Operations, 0\n[UPDATE], AverageLatency(us), NaN\n\
        [UPDATE], MinLatency(us), 9223372036854775807\n[UPDATE], MaxLatency(us), 0\n\
        [UPDATE], 50thPercentileLatency(us), 0\n";
    let run = one(&format!("{CLEAN}{empty}"), CONFIGURATION);
    let update = run
        .operations
        .iter()
        .find(|operation| operation.name == "UPDATE")
        .unwrap();
    assert_eq!(
        (&update.mean_us, &update.min_us, &update.max_us),
        (&None, &None, &None)
    );
    assert!(update.percentiles.is_empty() && ids(&run.findings).contains(&"empty-operation"));
    assert_eq!(run.validity.outcome, Outcome::Valid);
}

#[test]
fn failures_up_to_0_5_are_among_the_operations() {
    let log = CLEAN.replace(
        "[READ], Return=OK, 100",
        "[READ], Return=0, 90\n[READ], Return=-1, 10",
    );
    let run = one(&log, CONFIGURATION);
    assert_eq!(run.failed_ops_count, Some(10));
    let failed = run
        .findings
        .iter()
        .find(|finding| finding.id == "operations-failed")
        .unwrap();
    assert!(
        failed
            .sentence
            .starts_with("10 of 100 operations failed (10.00 %)"),
        "{}",
        failed.sentence
    );
}

#[test]
fn a_read_modify_write_counts_once() {
    let rows = |name: &str, count: u64| {
        format!(
            "[{name}], Operations, {count}\n[{name}], AverageLatency(us), 10.0\n[{name}], MinLatency(us), 1\n[{name}], MaxLatency(us), 20\n"
        )
    };
    let more = format!("{}{}", rows("UPDATE", 40), rows("READ-MODIFY-WRITE", 40));
    let run = one(&format!("{CLEAN}{more}"), CONFIGURATION);
    assert_eq!(run.validity.outcome, Outcome::Valid, "{:?}", run.findings);
    let wrong = one(&format!("{CLEAN}{}", rows("UPDATE", 40)), CONFIGURATION);
    assert!(ids(&wrong.findings).contains(&"operations-do-not-add-up"));
}

#[test]
fn an_insert_that_ended_its_thread_is_not_counted_as_done() {
    let log = CLEAN
        .replace("READ", "INSERT")
        .replace("Operations, 100", "Operations, 100\n[INSERT], Return=ERROR, 2");
    let failed = "[INSERT-FAILED], Operations, 2\n[INSERT-FAILED], AverageLatency(us), 1.0\n\
        [INSERT-FAILED], MinLatency(us), 1\n[INSERT-FAILED], MaxLatency(us), 1\n";
    let load = CONFIGURATION
        .replace("-t ", "-load ")
        .replace("recordcount=50", "recordcount=100");
    let run = one(&format!("{log}{failed}"), &load);
    let found = ids(&run.findings);
    assert!(
        found.contains(&"operations-failed") && !found.contains(&"operations-do-not-add-up"),
        "{found:?}"
    );
}

#[test]
fn threads_may_hold_one_operation_each_and_no_more() {
    // 100 operations in 1000 ms (and the millisecond that it is cut to) by two threads: 20.02 ms each at most.
    let with_mean = |mean: &str| {
        one(
            &CLEAN.replace("1500.5", mean).replace("4000", "40000"),
            CONFIGURATION,
        )
    };
    for (mean, breaks) in [("20000.0", false), ("20030.0", false), ("20060.0", true)] {
        let found = ids(&with_mean(mean).findings).contains(&"more-in-flight-than-threads");
        assert_eq!(found, breaks, "{mean}");
    }
}

#[test]
fn ten_samples_must_lie_beyond_a_percentile() {
    for (share, is_thin) in [("90th", false), ("91st", true), ("99.9", true), ("100th", false)] {
        let log = CLEAN.replace("50thPercentile", &format!("{share}Percentile"));
        let thin = ids(&one(&log, CONFIGURATION).findings).contains(&"percentile-of-few-samples");
        assert_eq!(thin, is_thin, "{share}");
    }
}

#[test]
fn the_requested_interval_determines_the_time_of_plain_rows() {
    for (interval, times) in [
        ("op", Some(Time::Service)),
        ("intended", Some(Time::Response)),
        ("odd", None),
    ] {
        let configuration = CONFIGURATION.replace("interval=op", &format!("interval={interval}"));
        assert_eq!(one(CLEAN, &configuration).operations[0].time, times);
    }
    assert_eq!(one(CLEAN, "").operations[0].time, None);
}

#[test]
fn a_sweep_is_split_at_each_result() {
    let sweep = CLEAN.repeat(3);
    let runs = read(sweep.as_bytes(), &[]).ycsb_runs;
    let lines: Vec<_> = runs.iter().map(|run| (run.first_line, run.last_line)).collect();
    assert_eq!(lines, [(1, 13), (14, 26), (27, 39)]);
    assert!(runs.iter().all(|run| run.done_ops_count == Some(100)));
}

#[test]
fn a_run_that_was_cut_off_by_the_next_is_a_run_without_result() {
    let preamble =
        format!("Command line: {CONFIGURATION}\nYCSB Client 0.17.0\n\nLoading workload...\nStarting test.\n");
    let status = "2026-11-21 02:56:31:567 10 sec: 50 operations; 5 current ops/sec; \n";
    let log = format!("{preamble}{status}{preamble}{status}{CLEAN}");
    let runs = read(log.as_bytes(), &[]).ycsb_runs;
    let stops: Vec<_> = runs.iter().map(|run| run.stop.kind).collect();
    assert_eq!(stops, [StopKind::Interrupted, StopKind::Finished]);
    assert_eq!(runs[0].intervals.len(), 1);
}

#[test]
fn a_log_of_something_else_is_none_of_ycsb() {
    for text in [
        "",
        "hello\n",
        "Command: x\n",
        "{\"a\": 1}\n",
        "[Thread-1] INFO x\nError y\n",
        "1 2 3\n",
    ] {
        let reading = read(text.as_bytes(), &[]);
        assert!(reading.ycsb_runs.is_empty() && reading.error.is_some(), "{text}");
    }
}

#[test]
fn a_log_with_only_a_trace_of_ycsb_is_a_crashed_run() {
    let trace = "java.lang.ArithmeticException: / by zero\n\tat site.ycsb.Client.main(Client.java:1)\n";
    let run = one(trace, "");
    assert_eq!(run.stop.kind, StopKind::Crashed);
    assert_eq!(run.stop.text, "java.lang.ArithmeticException: / by zero");
    assert!(
        read(trace.replace("ycsb", "other").as_bytes(), &[])
            .ycsb_runs
            .is_empty()
    );
}

#[test]
fn an_act_log_is_left_to_act() {
    let act = include_bytes!("../../../../../../../tests/data/act/6.6/single-ms.log");
    let reading = read(act, &[(Role::Config, "config", b"recordcount=1\n".to_vec())]);
    assert_eq!((reading.runs.len(), reading.ycsb_runs.len()), (1, 0));
}
