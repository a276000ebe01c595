//! Overload: the run reports that the drive cannot sustain the rate, and the response time shows the queue.

use std::time::Duration;

use crate::loaded::Loaded;

#[test]
fn an_overloaded_drive_is_reported_in_log_and_side_file() {
    for engine in ["threads", "io_uring"] {
        let Some(loaded) = Loaded::file() else { return };
        // Four at a time, 2 ms each: the maximum is 2,000/s.
        loaded.drive.set_servers(4, Duration::from_millis(2));
        let load = format!("test-duration-sec: 2\nread-reqs-per-sec: 2500\nengine: {engine}\n");
        let end = loaded.run(&load);
        let achieved: f64 = end["achieved_reads_per_s"].as_str().unwrap().parse().unwrap();
        assert!(achieved <= 2_020.0, "{engine}: {achieved} a second");
        assert_eq!(end["rate"]["is_held"], false, "{engine}: {end}");
        assert!(
            loaded.bench.log().contains("drivetest: rate not held: reads"),
            "{}",
            loaded.bench.log()
        );
        // Backlog, delay by the generator and service make up the response time, within the cells of the histograms.
        let mean_ns = |time: &str| end["operations"]["reads"][time]["mean_ns"].as_u64().unwrap();
        let parts = mean_ns("backlog") + mean_ns("generator_lateness") + mean_ns("service");
        assert!(
            parts.abs_diff(mean_ns("response")) <= mean_ns("response") / 200,
            "{engine}: {end}"
        );
        // A ring has more slots than requests wait here; 32 threads have fewer.
        assert!(
            engine == "io_uring" || mean_ns("backlog") * 2 > mean_ns("response"),
            "{engine}: {end}"
        );
        // At the end, a fifth of the due requests is missing: up to 0.4 s.
        assert!(
            end["response"]["p50_ns"].as_u64() >= Some(100_000_000),
            "{engine}: {end}"
        );
    }
}

#[test]
fn requests_less_than_a_second_late_are_still_issued_after_the_end() {
    for engine in ["threads", "io_uring"] {
        let Some(loaded) = Loaded::file() else { return };
        // The maximum is 2,000/s: after 2 s, the next requests were due 1.2 s earlier.
        loaded.drive.set_servers(4, Duration::from_millis(2));
        let load = format!("test-duration-sec: 2\nread-reqs-per-sec: 5000\nengine: {engine}\n");
        let end = loaded.run(&load);
        let lateness = &end["operations"]["reads"]["lateness"];
        assert!(
            end["elapsed_ns"].as_u64() >= Some(2_700_000_000),
            "{engine}: {end}"
        );
        // No omitted request was made: requests later than a second came before the end.
        assert!(
            end["reads_count"].as_u64() < Some(10_000) && lateness["max_ns"].as_u64() > Some(900_000_000),
            "{engine}: {end}"
        );
    }
}
