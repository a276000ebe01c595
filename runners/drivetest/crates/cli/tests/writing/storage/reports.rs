//! Reports of a run apart from its histograms: the side file, the summary on standard error, and the rate check.

use std::process::Command;

use serde_json::Value;

use super::bench::{Bench, takes_direct_io};

const SMALL: &str = "file-size-mbytes: 8\ntest-duration-sec: 2\nmicrosecond-histograms: yes\n";

/// A rate above that of any drive.
const TOO_MUCH: &str = "file-size-mbytes: 8\ntest-duration-sec: 2\nengine: threads\nservice-threads: 1\nread-reqs-per-sec: 5000000\n";

fn intervals(records: &[Value]) -> impl Iterator<Item = &Value> {
    records.iter().filter(|record| record["record"] == "interval")
}

#[test]
fn every_operation_has_five_times_that_add_up() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let lines = format!("{SMALL}read-reqs-per-sec: 500\nwrite-reqs-per-sec: 1000\n");
    let output = bench.run_kept_up("storage", &lines);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (records, end) = (bench.side(), bench.end());
    for (operation, asked) in [
        ("reads", "500.000000"),
        ("large-block-reads", "23.529412"),
        ("large-block-writes", "23.529412"),
    ] {
        let record = &end["operations"][operation];
        let counts =
            intervals(&records).map(|record| record["operations"][operation]["count"].as_u64().unwrap());
        assert_eq!(record["count"].as_u64(), Some(counts.sum()), "{operation}");
        assert_eq!(record["asked_per_s"], asked);
        assert_eq!(record["count"], record["asked_count"], "{operation}");
        for time in ["lateness", "backlog", "generator_lateness", "service", "response"] {
            let [min, p50, max] =
                ["min_ns", "p50_ns", "max_ns"].map(|field| record[time][field].as_u64().unwrap());
            assert!(min <= p50 && p50 <= max, "{operation} {time}: {record}");
        }
    }
    let mean = |time: &str| end["operations"]["reads"][time]["mean_ns"].as_f64().unwrap();
    let parts = mean("backlog") + mean("generator_lateness") + mean("service");
    // Each mean is within 0.1 % or 8 ns of the truth.
    assert!(
        (parts - mean("response")).abs() <= mean("response") * 0.003 + 32.0,
        "{end}"
    );
    // 1,000 reads: one is above p99.9, none above p99.99.
    assert!(end["service"]["p999_ns"].is_u64() && end["service"]["p9999_ns"].is_null());
}

#[test]
fn an_interval_has_telemetry_of_the_disk_and_of_the_program() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    bench.run(&format!("{SMALL}read-reqs-per-sec: 500\n"));
    let records = bench.side();
    let telemetry = &records[1]["telemetry"];
    assert!(
        telemetry["generator"]["resident_bytes"]
            .as_u64()
            .is_some_and(|bytes| bytes > 1 << 20)
    );
    let nanos = records[1]["length_ns"].as_u64().unwrap() as f64;
    let made_per_s = records[1]["operations"]["reads"]["count"].as_u64().unwrap() as f64 * 1e9 / nanos;
    // A file system without a block device has none.
    for disk in telemetry["disks"].as_array().unwrap() {
        assert_eq!(disk["devices"], serde_json::json!([bench.device]));
        let reads_per_s: f64 = disk["io"]["reads_per_s"].as_str().unwrap().parse().unwrap();
        assert!(
            made_per_s > 0.0 && reads_per_s >= made_per_s / 2.0,
            "{made_per_s} a second: {disk}"
        );
    }
    let host = &records[0]["host"];
    assert!(
        host["memory_bytes"].is_u64() && host["is_irqbalance_running"].is_boolean(),
        "{host}"
    );
}

#[test]
fn a_summary_for_people_ends_a_run() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let output = bench.run(&format!("{SMALL}read-reqs-per-sec: 500\n"));
    let record = String::from_utf8(output.stderr).unwrap();
    let begins = |begin: &str| record.lines().any(|line| line.starts_with(begin));
    // A disk that other programs also use may stall for most of a run; then this text says so.
    let is_held = bench.end()["rate"]["is_held"].as_bool().unwrap();
    let rates = if is_held {
        "the rates were sustained"
    } else {
        "THE RATES WERE NOT SUSTAINED: reads"
    };
    for begin in [
        "drivetest: finished after 2.",
        "reads  ",
        rates,
        "reads response ",
    ] {
        assert!(begins(begin), "{begin}: {record}");
    }
    assert_eq!(bench.log().contains("rate not held"), !is_held);
}

#[test]
fn a_rate_that_was_not_sustained_is_reported_everywhere() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let output = bench.run(TOO_MUCH);
    let end = bench.end();
    assert_eq!(
        (&end["rate"]["is_held"], &end["rate"]["word"]),
        (&false.into(), &"below-asked".into())
    );
    let sentence = end["rate"]["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("reads: ") && sentence.contains("5000000.000 requested"),
        "{sentence}"
    );
    assert!(
        bench
            .log()
            .ends_with(&format!("drivetest: rate not held: {sentence}\n"))
    );
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("THE RATES WERE NOT SUSTAINED: reads: ")
    );
    assert_eq!(count_of(&ids(&bench, &[]), "rate-below-asked"), 1);
}

#[test]
fn requests_that_waited_are_a_finding_with_the_side_file() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let output = bench.run(TOO_MUCH);
    // One thread that is always busy: the requests waited for it.
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("most of the wait is backlog"), "{text}");
    let side = bench.path("side.jsonl").display().to_string();
    assert_eq!(count_of(&ids(&bench, &[]), "response-above-service"), 0);
    let with = ids(&bench, &["--with", &side]);
    assert_eq!(count_of(&with, "response-above-service"), 1, "{with:?}");
    assert_eq!(count_of(&with, "side-file-differs"), 0, "{with:?}");
}

/// Returns the ids of the findings of a log.
fn ids(bench: &Bench, more: &[&str]) -> Vec<String> {
    let mut read = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    let output = read
        .arg("read")
        .arg(bench.path("log"))
        .arg("--json")
        .args(more)
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |value: &Value| value["findings"].as_array().unwrap().clone();
    let all = of(&document).into_iter().chain(of(&document["runs"][0]));
    all.map(|finding| finding["id"].as_str().unwrap().to_owned())
        .collect()
}

fn count_of(ids: &[String], id: &str) -> usize {
    ids.iter().filter(|found| *found == id).count()
}

#[test]
fn memory_is_bounded_with_128_devices_and_640_threads_and_does_not_grow() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let names: Vec<_> = (1..128)
        .map(|number| bench.path(&format!("{number}.img")).display().to_string())
        .collect();
    let output = bench.run(&format!(
        "device-names: {}\nfile-size-mbytes: 1\ntest-duration-sec: 6\nengine: threads\nservice-threads: 640\n\
         read-reqs-per-sec: 2000\nwrite-reqs-per-sec: 1000\n",
        names.join(",")
    ));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let records = bench.side();
    let resident = |record: &Value| {
        record["telemetry"]["generator"]["resident_bytes"]
            .as_u64()
            .unwrap()
    };
    let sizes: Vec<_> = intervals(&records).map(resident).collect();
    assert!(sizes[5] <= (64 + 4 * 128) << 20, "{sizes:?}");
    // Slower requests use more pages of the histograms. A leak of 128 bytes per request would show.
    assert!(sizes[5].saturating_sub(sizes[2]) <= 1 << 20, "{sizes:?}");
}
