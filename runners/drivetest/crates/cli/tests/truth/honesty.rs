//! More is asked of a drive than it can do: the run says so, and its response time shows the queue.

use std::time::Duration;

use crate::loaded::Loaded;

#[test]
fn a_drive_that_cannot_keep_up_is_told_in_log_and_side_file() {
    for engine in ["threads", "io_uring"] {
        let Some(loaded) = Loaded::file() else { return };
        // Four at once, 2 ms each: 2,000 a second are the most.
        loaded.drive.set_servers(4, Duration::from_millis(2));
        let load = format!("test-duration-sec: 2\nread-reqs-per-sec: 2500\nengine: {engine}\n");
        let end = loaded.run(&load);
        let achieved: f64 = end["achieved_reads_per_s"].as_str().unwrap().parse().unwrap();
        assert!(achieved <= 2_020.0, "{engine}: {achieved} a second");
        assert_eq!(end["rate"]["is_held"], false, "{engine}: {end}");
        assert!(
            loaded.bench.log().contains("drivetest: rate not duration: reads"),
            "{}",
            loaded.bench.log()
        );
        // By the end a fifth of what was due has not come: up to 0.4 s.
        assert!(
            end["response"]["p50_ns"].as_u64() >= Some(100_000_000),
            "{engine}: {end}"
        );
    }
}

#[test]
fn requests_less_than_a_second_late_are_still_made_when_the_time_is_over() {
    for engine in ["threads", "io_uring"] {
        let Some(loaded) = Loaded::file() else { return };
        // 2,000 a second are the most: when 2 s are over, requests that were due 1.2 s before are next.
        loaded.drive.set_servers(4, Duration::from_millis(2));
        let load = format!("test-duration-sec: 2\nread-reqs-per-sec: 5000\nengine: {engine}\n");
        let end = loaded.run(&load);
        let lateness = &end["operations"]["reads"]["lateness"];
        assert!(
            end["elapsed_ns"].as_u64() >= Some(2_700_000_000),
            "{engine}: {end}"
        );
        // None of what was left out was made: whoever was later than a second came before the end.
        assert!(
            end["reads_count"].as_u64() < Some(10_000) && lateness["max_ns"].as_u64() > Some(900_000_000),
            "{engine}: {end}"
        );
    }
}
