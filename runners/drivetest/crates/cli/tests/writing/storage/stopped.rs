//! Runs that end early: by a signal, lag, a failing drive or a full disk.

use std::process::Command;

use super::bench::{Bench, Run, labels, takes_direct_io, totals};

const LONG: &str = "file-size-mbytes: 8\ntest-duration-sec: 600\nread-reqs-per-sec: 100\n";

fn stopped_by(signal: &str) -> (Bench, Option<i32>) {
    let bench = Bench::new();
    let mut run = Run::of(bench.command(LONG));
    bench.wait_for(&mut run, "after 1 sec:");
    run.signal(signal);
    let code = run.exit_status();
    (bench, code)
}

#[test]
fn signals_end_a_run_cleanly_and_are_reported() {
    if !takes_direct_io(&Bench::new()) {
        return;
    }
    for signal in ["TERM", "INT", "HUP"] {
        let (bench, code) = stopped_by(signal);
        assert_eq!(code, Some(5), "{signal}");
        // A disk that other programs also use may be late; the log reports that last.
        let log = bench.log();
        let said = log.split("drivetest: rate not held: ").next().unwrap();
        assert!(
            said.ends_with(&format!("\n\ndrivetest: stopped by signal {signal}\n")),
            "{log}"
        );
        assert_eq!(bench.end()["reason"], "interrupted");
    }
}

#[test]
fn each_line_on_standard_error_has_one_prefix() {
    if !takes_direct_io(&Bench::new()) {
        return;
    }
    let bench = Bench::new();
    let mut command = bench.command(LONG);
    let file = |name: &str| std::fs::File::create(bench.path(name)).unwrap();
    command
        .arg("--json")
        .stdout(file("stdout"))
        .stderr(file("stderr"));
    let mut run = Run::of(command);
    bench.wait_for(&mut run, "after 1 sec:");
    run.signal("TERM");
    assert_eq!(run.exit_status(), Some(5));
    let printed = std::fs::read_to_string(bench.path("stderr")).unwrap();
    assert!(
        printed.ends_with("\ndrivetest: stopped by signal TERM\n"),
        "{printed}"
    );
    // The headline in the first line quotes a line of the log.
    assert!(
        printed
            .lines()
            .skip(1)
            .all(|line| line.matches("drivetest: ").count() <= 1),
        "{printed}"
    );
    assert_eq!(bench.end()["text"], "stopped by signal TERM");
    let printed = std::fs::read_to_string(bench.path("stdout")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (
            &document["exit_status"],
            &document["outcome"],
            &document["verdict"]["outcome"]
        ),
        (&5.into(), &"interrupted".into(), &"void".into())
    );
}

#[test]
fn only_whole_intervals_are_in_a_stopped_log() {
    if !takes_direct_io(&Bench::new()) {
        return;
    }
    let (bench, _) = stopped_by("TERM");
    let elapsed_s = bench.end()["elapsed_ns"].as_u64().unwrap() / 1_000_000_000;
    assert_eq!(labels(&bench.log()).last(), Some(&elapsed_s), "{}", bench.log());
    // Requests after the last block are only in the end record.
    assert!(bench.end()["reads_count"].as_u64() >= totals(&bench.log(), "reads").last().copied());
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let command = bench.command("file-size-mbytes: 8\ntest-duration-sec: 2\nread-reqs-per-sec: 10\n");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    let mut run = Run::of(shell);
    bench.wait_for(&mut run, "after 1 sec:");
    run.signal("HUP");
    assert_eq!(run.exit_status(), Some(0));
}

#[test]
fn a_load_beyond_the_drive_stops_in_acts_words() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let text = "file-size-mbytes: 8\ntest-duration-sec: 600\nread-reqs-per-sec: 4000000\nmax-lag-sec: 1\n";
    let output = bench.run(&format!("{text}service-threads: 1\n"));
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let words = "ERROR: service thread can't keep up\nACT can't do requested load - test stopped\n\
                 try configuring more 'service-threads'\n";
    let log = bench.log();
    let (_, after) = log.split_once(words).unwrap_or_else(|| panic!("{log}"));
    assert!(
        after.starts_with("drivetest: rate not held: reads: ") && after.lines().count() == 1,
        "{log}"
    );
    assert_eq!(bench.end()["reason"], "lag");
}

#[test]
fn every_kind_of_arrivals_and_both_loads_stop_by_lag() {
    // The text of ACT for overload.
    for (load, arrivals, words) in [
        ("storage", "poisson", "ERROR: service thread can't keep up\n"),
        ("storage", "lockstep", "ERROR: service thread can't keep up\n"),
        ("index", "even", "ERROR: read request generator can't keep up\n"),
    ] {
        let bench = Bench::new();
        if !takes_direct_io(&bench) {
            return;
        }
        let text = format!(
            "file-size-mbytes: 8\ntest-duration-sec: 600\nread-reqs-per-sec: 4000000\nmax-lag-sec: 1\n\
             service-threads: 1\narrivals: {arrivals}\n"
        );
        let output = bench.command_of(load, &text).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{arrivals} {output:?}");
        assert!(bench.log().contains(words), "{arrivals} {}", bench.log());
    }
}

#[test]
fn a_lag_limit_of_zero_never_stops_a_run() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let text = "file-size-mbytes: 8\ntest-duration-sec: 2\nread-reqs-per-sec: 4000000\nmax-lag-sec: 0\n";
    assert_eq!(
        bench.run(&format!("{text}service-threads: 1\n")).status.code(),
        Some(0)
    );
    let reads = totals(&bench.log(), "reads").pop().unwrap();
    assert!(reads > 0 && reads < 8_000_000, "{reads}");
}

#[test]
fn a_drive_that_fails_ends_the_run_at_the_first_error() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let mut run = Run::of(bench.command(LONG));
    bench.wait_for(&mut run, "after 1 sec:");
    // A plain file simulates a drive that lost its sectors.
    std::fs::OpenOptions::new()
        .write(true)
        .open(&bench.device)
        .unwrap()
        .set_len(0)
        .unwrap();
    assert_eq!(run.exit_status(), Some(3));
    let words = format!(
        "ERROR: reading {}: 5 'Input/output error'\ndrivetest: error 1, ended early after 0 bytes, at offset ",
        bench.device
    );
    assert!(bench.log().contains(&words), "{}", bench.log());
    // More requests may have failed before the run stopped. Up to ten are reported.
    assert!(
        (1..=10).contains(&bench.log().matches("ERROR").count()),
        "{}",
        bench.log()
    );
    assert!(
        bench
            .log()
            .contains("drivetest: stopped, max-errors is reached\n"),
        "{}",
        bench.log()
    );
    assert_eq!(bench.end()["reason"], "device-error");
}

#[test]
fn a_log_that_cannot_be_written_ends_the_run() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    bench.command(LONG);
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
    let output = command
        .arg("storage")
        .arg(bench.path("config"))
        .args(["--log", "/dev/full"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("No space left on device"),
        "{output:?}"
    );
}
