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

/// Returns the headline that `drivetest check` prints for the run.
fn headline_of_check(bench: &Bench) -> String {
    let [log, side_file] = ["log", "side.jsonl"].map(|name| bench.path(name));
    let mut check = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    check.arg("check").arg(&log).arg("--with").arg(side_file);
    let printed = String::from_utf8(check.output().unwrap().stdout).unwrap();
    let (line, _) = printed.split_once('\n').unwrap();
    let begin = format!("{}: ", log.display());
    line.strip_prefix(&begin).unwrap().to_owned()
}

#[test]
fn the_summary_begins_with_the_verdict_of_check() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let output = bench.run(&format!("{SMALL}read-reqs-per-sec: 500\n"));
    let text = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], format!("drivetest: {}", headline_of_check(&bench)));
    assert!(!text.contains(['\x1b', '\r']), "{text:?}");
    // A disk that other programs also use may stall for most of a run; then this text says so.
    let is_held = bench.end()["rate"]["is_held"].as_bool().unwrap();
    let rates = match is_held {
        true => "; the rates were sustained",
        false => "; THE RATES WERE NOT SUSTAINED: reads",
    };
    assert!(
        lines[1].starts_with("finished after 2.") && lines[1].contains(rates),
        "{text}"
    );
    let profile = "; default profile operational-database, rule version 1";
    assert!(lines[1].ends_with(profile), "{text}");
    let over_count = bench.end()["over"]["1000"].as_f64().unwrap();
    let shares = format!(
        "reads of the whole run: {:.2} % over 1 ms (limit 5 %), ",
        over_count / 10.0
    );
    assert!(
        lines[2].starts_with(&shares) || lines[2].contains("OVER the limit"),
        "{text}"
    );
    let [log, side_file] = ["log", "side.jsonl"].map(|name| bench.path(name).display().to_string());
    let files = [
        format!("log: {log}"),
        format!("side file: {side_file}"),
        format!("next: drivetest check {log} --with {side_file}"),
    ];
    assert_eq!(lines[3..6], files, "{text}");
    for begin in ["reads  ", "reads response "] {
        assert!(
            lines.iter().any(|line| line.starts_with(begin)),
            "{begin}: {text}"
        );
    }
    assert_eq!(bench.log().contains("rate not held"), !is_held);
}

#[test]
fn without_a_log_file_the_summary_begins_with_the_end() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    bench.command(&format!("{SMALL}read-reqs-per-sec: 500\n"));
    let mut load = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    let output = load
        .env("DRIVETEST_GATE_SAMPLE_MS", "50")
        .arg("storage")
        .arg(bench.path("config"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("drivetest: finished after 2."), "{text}");
    assert!(
        text.contains("\nnext: save the log with --log FILE, and judge it with drivetest check FILE\n"),
        "{text}"
    );
}

#[test]
fn the_json_summary_is_the_only_text_on_standard_output() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let mut load = bench.command(&format!("{SMALL}read-reqs-per-sec: 500\n"));
    let output = load.arg("--json").output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (
            &document["schema"],
            &document["exit_status"],
            &document["outcome"]
        ),
        (&"drivecert.load/1".into(), &0.into(), &"finished".into())
    );
    assert_eq!(document["verdict"]["headline"], headline_of_check(&bench));
    let end = bench.end();
    assert_eq!(document["end"], end);
    let shares = document["shares"].as_array().unwrap();
    for (share, limit_pct) in shares.iter().zip(["5", "1", "0.1"]) {
        let threshold_us = share["threshold_us"].to_string();
        assert_eq!(share["over_count"], end["over"][&threshold_us], "{share}");
        assert_eq!(
            (&share["ops_count"], &share["limit_pct"]),
            (&end["reads_count"], &limit_pct.into())
        );
    }
    assert_eq!(shares.len(), 3);
    assert_eq!(document["log"], bench.path("log").to_str().unwrap());
    assert_eq!(document["next"].as_array().map(Vec::len), Some(5), "{document}");
}

#[test]
fn a_load_that_does_not_start_has_no_verdict() {
    let mut bench = Bench::new();
    bench.device = "/dev/nothing-of-that-name".to_owned();
    let mut load = bench.command("test-duration-sec: 1\nread-reqs-per-sec: 10\n");
    let output = load.arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let message = "/dev/nothing-of-that-name: does not exist; check device-names";
    assert_eq!(
        (
            &document["exit_status"],
            &document["outcome"],
            &document["message"]
        ),
        (&2.into(), &"refused".into(), &message.into())
    );
    for field in ["verdict", "next"] {
        assert!(document[field].is_null(), "{document}");
    }
    assert_eq!(
        (&document["shares"], &document["end"]),
        (&serde_json::json!([]), &bench.end())
    );
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!("drivetest: {message}\n")
    );
}

#[test]
fn the_json_summary_of_a_load_needs_a_log_file() {
    let bench = Bench::new();
    bench.command("file-size-mbytes: 8\ntest-duration-sec: 1\nread-reqs-per-sec: 10\n");
    let mut load = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    let output = load
        .arg("storage")
        .arg(bench.path("config"))
        .arg("--json")
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(64), true));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "drivetest: --json: expected --log FILE or --dry-run, because the log goes to standard output\n"
    );
    assert!(!std::path::Path::new(&bench.device).exists());
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
    // Which wait it is depends on the other tests: on the processors, the only thread competes with them.
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("QUEUE: reads: "), "{text}");
    assert!(text.contains("most of the wait is"), "{text}");
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
