//! Both engines on a plain file: they make the requested load and report errors.

#![allow(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod bench;

use std::io::Write;

use bench::{Bench, Watched};
use drivetest_load::Outcome;
use serde_json::Value;

const ENGINES: [&str; 2] = ["io_uring", "threads"];

/// A request that is one second late at the end of the run is left out. If this machine stalled for nearly that long,
/// a missing request is not lost.
const NEARLY_LEFT_OUT_NS: u64 = 900_000_000;

/// Returns start and end record of the first of five runs of 2 s without a stall. None, with a message, if all had
/// one.
fn run_without_stall(engine: &str, lines: &str) -> Option<(Value, Value)> {
    for _ in 0..5 {
        let bench = Bench::new()?;
        let text = format!("test-duration-sec: 2\n{lines}");
        assert_eq!(bench.run(engine, &text), Outcome::Finished, "{engine}");
        let end = bench.end();
        if !has_stalled(&end) {
            return Some((bench.side().swap_remove(0), end));
        }
    }
    let message = format!("SKIPPED: {engine}: this machine stalled for nearly a second in all five runs\n");
    std::io::stderr().write_all(message.as_bytes()).unwrap();
    None
}

fn has_stalled(end: &Value) -> bool {
    let longest = |operation: &Value| {
        let of = |time: &str| operation[time]["max_ns"].as_u64();
        of("lateness").max(of("service"))
    };
    let mut operations = end["operations"].as_object().unwrap().values();
    let over_ns = end["elapsed_ns"].as_u64().unwrap() - 2_000_000_000;
    over_ns >= NEARLY_LEFT_OUT_NS || operations.any(|one| longest(one) >= Some(NEARLY_LEFT_OUT_NS))
}

#[test]
fn every_request_is_made_once_and_none_is_lost() {
    for engine in ENGINES {
        let rates = "read-reqs-per-sec: 2009\nwrite-reqs-per-sec: 1000\n";
        let Some((start, end)) = run_without_stall(engine, rates) else {
            return;
        };
        let waits = &start["setup"]["is_processor_wait_counted"];
        assert_eq!(
            (waits.is_null(), waits.is_boolean()),
            (engine == "io_uring", engine == "threads")
        );
        let counts = [
            "reads_count",
            "large_block_reads_count",
            "large_block_writes_count",
        ]
        .map(|name| &end[name]);
        assert_eq!(counts, [4_018, 47, 47], "{engine}");
    }
}

#[test]
fn several_workers_make_the_same_requests_as_one() {
    let lines = "read-reqs-per-sec: 2009\nwrite-reqs-per-sec: 1000\nworkers: 5\n";
    let Some((start, end)) = run_without_stall("io_uring", lines) else {
        return;
    };
    assert_eq!(
        (&end["reads_count"], &start["workers"]),
        (&4_018.into(), &5.into())
    );
    let reason = start["setup"]["rings_reason"].as_str().unwrap();
    assert!(
        reason.starts_with("5 rings for ") && reason.ends_with(": configured"),
        "{reason}"
    );
}

#[test]
fn no_request_is_submitted_before_it_is_due() {
    for engine in ENGINES {
        let Some(bench) = Bench::new() else { return };
        bench.run(engine, "test-duration-sec: 1\nread-reqs-per-sec: 10000\n");
        // A response starts at the due time, which is never after the submission, where service starts.
        let end = bench.end();
        assert!(
            end["response"]["p50_ns"].as_u64() >= end["service"]["p50_ns"].as_u64(),
            "{engine}: {end}"
        );
    }
}

#[test]
fn engine_counters_add_up() {
    for engine in ENGINES {
        let Some(bench) = Bench::new() else { return };
        let text = "test-duration-sec: 1\nread-reqs-per-sec: 2000\nwrite-reqs-per-sec: 1000\n";
        assert_eq!(bench.run(engine, text), Outcome::Finished, "{engine}");
        let end = bench.end();
        let counters = &end["engine_counters"];
        let count = |name: &str| counters[name].as_u64();
        // Each size counts as the smallest and the largest of its range.
        let sizes = [
            ("1", 1, 1),
            ("2", 2, 2),
            ("3-4", 3, 4),
            ("5-8", 5, 8),
            ("9-16", 9, 16),
        ];
        let batches = sizes.map(|(size, ..)| counters["batch_sizes"][size].as_u64().unwrap());
        let sum = |of: fn((&str, u64, u64)) -> u64| -> u64 {
            sizes
                .into_iter()
                .map(of)
                .zip(batches)
                .map(|(size, count)| size * count)
                .sum()
        };
        let operations = end["operations"].as_object().unwrap().values();
        let requests: u64 = operations.map(|one| one["count"].as_u64().unwrap()).sum();
        assert!(
            (sum(|(_, least, _)| least)..=sum(|(_, _, most)| most)).contains(&requests),
            "{engine}: {requests} {counters}"
        );
        let (timer_wakes, completion_wakes) = (count("timer_wakes_count"), count("completion_wakes_count"));
        assert!(timer_wakes > Some(0), "{engine}: {counters}");
        match engine {
            "io_uring" => {
                let wakes = timer_wakes.unwrap() + completion_wakes.unwrap();
                assert!(count("enters_count") >= Some(requests.max(wakes)), "{counters}");
            }
            _ => assert_eq!((completion_wakes, count("enters_count")), (None, None)),
        }
    }
}

#[test]
fn requests_are_submitted_together_only_if_configured() {
    let Some((calls, alone)) = calls_and_batches(0, 500) else {
        return;
    };
    // Each has a system call of its own, and at most one more that waits for it.
    assert!(
        (500..=1_100).contains(&calls),
        "{calls} calls for 500 requests in {alone} batches"
    );
    // Requests are 200 us apart, so about 6 are due within 1 ms.
    let Some((calls, together)) = calls_and_batches(1_000, 5_000) else {
        return;
    };
    assert!(
        (5_000..=15_000).contains(&calls) && together < 4_000,
        "{calls} calls, {together} batches"
    );
    // A machine that stops this program submits several requests late, thus together: in some runs, but not in all.
    let batches = (0..5).map_while(|_| calls_and_batches(0, 5_000));
    assert!(
        batches.into_iter().any(|(_, alone)| alone > 2 * together),
        "{together} batches with coalescing"
    );
}

/// Makes a run of 1 s. Returns the numbers of its system calls and of its batches of requests.
fn calls_and_batches(coalesce_us: u64, per_s: u64) -> Option<(u64, u64)> {
    let bench = Bench::new()?;
    let text = format!("test-duration-sec: 1\nread-reqs-per-sec: {per_s}\ncoalesce-us: {coalesce_us}\n");
    assert_eq!(bench.run("io_uring", &text), Outcome::Finished);
    let side = bench.side();
    assert_eq!(side[0]["coalesce_us"], coalesce_us);
    let setup = &side[0]["setup"];
    assert!(
        setup["ring_mode"].is_string() && setup["has_registered_buffers"].is_boolean(),
        "{setup}"
    );
    let counters = &side[side.len() - 1]["engine_counters"];
    let batches = counters["batch_sizes"].as_object().unwrap().values();
    Some((
        counters["enters_count"].as_u64().unwrap(),
        batches.map(|count| count.as_u64().unwrap()).sum(),
    ))
}

#[test]
fn writes_reach_the_file_and_all_blocks_differ() {
    for engine in ENGINES {
        let Some(bench) = Bench::new() else { return };
        let text = "test-duration-sec: 1\nwrite-reqs-per-sec: 10000\nlarge-block-op-kbytes: 128\n";
        assert_eq!(bench.run(engine, text), Outcome::Finished);
        let content = std::fs::read(&bench.device).unwrap();
        let mut pieces: Vec<&[u8]> = content
            .chunks(512)
            .filter(|piece| piece.iter().any(|byte| *byte != 0))
            .collect();
        let count = pieces.len();
        pieces.sort_unstable();
        pieces.dedup();
        assert!(
            count > 10_000 && pieces.len() == count,
            "{engine}: {} of {count}",
            pieces.len()
        );
    }
}

#[test]
fn errors_are_counted_until_there_are_too_many() {
    for engine in ENGINES {
        let Some(bench) = Bench::new() else { return };
        bench.guard_truncates();
        let text = "test-duration-sec: 60\nread-reqs-per-sec: 2000\nmax-errors: 25\n";
        let Outcome::DeviceError(message) = bench.run(engine, text) else {
            panic!("{engine}")
        };
        assert!(
            message.contains("reading") && message.contains("max-errors is reached"),
            "{message}"
        );
        let log = bench.log();
        assert_eq!(log.matches("ERROR: reading").count(), 10, "{log}");
        let summed = log
            .lines()
            .filter(|line| line.contains("ended early"))
            .filter_map(|line| line.split(' ').nth(1));
        let summed: u64 = summed.filter_map(|count| count.parse::<u64>().ok()).sum();
        assert!((25..200).contains(&summed), "{engine}: {summed}\n{log}");
        // Failed requests are in no histogram.
        assert_eq!(bench.end()["reads_count"], 0, "{engine}");
    }
}

#[test]
fn a_run_without_an_error_limit_counts_all_errors() {
    for engine in ENGINES {
        let Some(bench) = Bench::new() else { return };
        bench.guard_truncates();
        let text = "test-duration-sec: 1\nread-reqs-per-sec: 500\nmax-errors: 0\n";
        assert_eq!(bench.run(engine, text), Outcome::Finished, "{engine}");
        assert!(
            bench.log().contains("drivetest: 500 errors reading"),
            "{engine}: {}",
            bench.log()
        );
    }
}

#[test]
fn automatic_selection_reports_engine_and_reason() {
    let Some(bench) = Bench::new() else { return };
    bench.run("auto", "test-duration-sec: 1\nread-reqs-per-sec: 10\n");
    let start = &bench.side()[0];
    let engine = start["engine"].as_str().unwrap();
    assert!(ENGINES.contains(&engine), "{start}");
    let reason = start["engine_reason"].as_str().unwrap();
    assert!(bench.log().contains(&format!("\ndrivetest: engine {engine}")) && bench.log().contains(reason));
}

#[test]
fn a_device_is_released_at_the_end_of_the_run() {
    let Some(bench) = Bench::new() else { return };
    for _ in 0..3 {
        // The second run would be refused if the first still had the file open.
        let outcome = bench.run("io_uring", "test-duration-sec: 1\nread-reqs-per-sec: 100\n");
        assert_eq!(outcome, Outcome::Finished);
    }
}

#[test]
fn a_watched_run_shows_each_report() {
    let Some(mut bench) = Bench::new() else { return };
    let watched = Watched::default();
    bench.watched = Some(watched.clone());
    let lines = "test-duration-sec: 3\nread-reqs-per-sec: 200\nwrite-reqs-per-sec: 100\n";
    assert_eq!(bench.run("auto", lines), Outcome::Finished);
    let (snapshots, end) = (watched.snapshots(), bench.end());
    let counts: Vec<_> = snapshots.iter().map(|snapshot| snapshot.reads_count).collect();
    assert!(
        counts.len() == 4 && counts.is_sorted() && counts[0] == 0,
        "{counts:?}"
    );
    assert!(snapshots[0].operations.is_empty());
    // The last snapshot has the exact counts of the end record.
    let last = &snapshots[3];
    assert_eq!(end["reads_count"], last.reads_count);
    assert_eq!(end["over"], serde_json::to_value(&last.over).unwrap());
    for snapshot in &snapshots[1..] {
        let [reads, ..] = &snapshot.operations[..] else {
            panic!("{snapshot:?}")
        };
        assert_eq!((reads.name, reads.requested_per_s), ("reads", 200.0));
        assert!(reads.is_below || reads.achieved_per_s > 190.0, "{reads:?}");
    }
    assert_eq!(last.operations.len(), 3, "{last:?}");
}

#[test]
fn a_rate_below_the_requested_one_is_marked_in_a_snapshot() {
    let Some(mut bench) = Bench::new() else { return };
    let watched = Watched::default();
    bench.watched = Some(watched.clone());
    let lines = "test-duration-sec: 2\nread-reqs-per-sec: 5000000\nservice-threads: 1\n";
    bench.run("threads", lines);
    let snapshots = watched.snapshots();
    let reads = &snapshots[1].operations[0];
    assert!(reads.is_below && reads.achieved_per_s < 4_000_000.0, "{reads:?}");
}
