//! More is asked of a drive than it can do: the run says so, and its response time shows the queue.

use std::time::Duration;

use crate::loaded::Loaded;

#[test]
fn a_drive_that_cannot_keep_up_is_told_in_log_and_side_file() {
    for engine in ["threads", "io_uring"] {
        let Some(loaded) = Loaded::file() else { return };
        // Four at once, 2 ms each: 2,000 a second are the most.
        loaded.drive.serve(4, Duration::from_millis(2));
        let load = format!("test-duration-sec: 4\nread-reqs-per-sec: 2500\nengine: {engine}\n");
        let end = loaded.run(&load);
        let achieved: f64 = end["achieved_reads_per_s"].as_str().unwrap().parse().unwrap();
        assert!(achieved <= 2_020.0, "{engine}: {achieved} a second");
        assert_eq!(end["rate"]["is_held"], false, "{engine}: {end}");
        assert!(
            loaded.bench.log().contains("drivetest: rate not held: reads"),
            "{}",
            loaded.bench.log()
        );
        // By the end a fifth of what was due has not come: up to 0.8 s.
        assert!(
            end["response"]["p50_ns"].as_u64() >= Some(200_000_000),
            "{engine}: {end}"
        );
    }
}
