//! Attribution of delays: an overloaded drive, an overloaded host, both, or neither.
//!
//! The host is overloaded by burners: one thread on each processor, with real-time priority 30, that is busy for 4.4 of
//! each 5 ms. They do not take processor time from the drive, because its threads have real-time priority 50 and
//! interrupt them. The drive counts the replies that it sent 1 ms or more after they were due. A run counts only if
//! these are at most one percent.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use drivetest_fault_drive::Operation;
use serde_json::Value;

use crate::bench::skip;
use crate::loaded::Loaded;
use crate::quiet::{Disturbance, ProcessorTime, until_undisturbed};

/// More than enough for a run to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time that the drive takes for a read if it has spare capacity: less than every limit, and longer than burners
/// rest (0.6 ms), so that an overloaded host also sees the completion late.
const SPARE_DELAY: Duration = Duration::from_micros(700);

/// A host is idle if its processors were busy for at most this part of the run. The load needs a third.
/// An interval in which they are over 90 % busy makes them busier than this.
const MOST_BUSY: f64 = 0.5;

/// Which parts are overloaded.
#[derive(Debug, Clone, Copy)]
struct Case {
    is_drive_overloaded: bool,
    is_host_overloaded: bool,
}

/// What the reader says about a run.
#[derive(Debug)]
struct Reported {
    findings: Vec<String>,
    host_causes: Vec<String>,
    headline: String,
    /// The main part of the response time of the reads is backlog.
    is_backlog_main: bool,
}

impl Reported {
    fn has(&self, finding: &str) -> bool {
        self.findings.iter().any(|found| found == finding)
    }

    fn blames_host(&self) -> bool {
        self.headline.contains("; the host may be the cause: ")
    }
}

impl Case {
    /// Loads the drive for a second.
    fn run(self, loaded: &Loaded, engine: &str) -> Result<Reported, Disturbance> {
        let lines = self.prepare(loaded, engine);
        let begun = ProcessorTime::now();
        let run = if self.is_host_overloaded {
            let run = loaded.start_ordinary(&lines);
            // With burners, the program would need seconds to start and to end.
            wait_for_start(loaded);
            loaded.drive.start_burners().unwrap();
            loaded.bench.wait_for_end();
            loaded.drive.stop_burners();
            run
        } else {
            loaded.start(&lines)
        };
        assert_eq!(run.exit_status(), Some(0), "{}", loaded.bench.log());
        let busy = begun.busy_since();
        let (reported, truth) = (reported(loaded), loaded.drive.ground_truth().read);
        if truth.late_count * 100 > truth.answered_count {
            let (late, all) = (truth.late_count, truth.answered_count);
            Err(Disturbance::Late(format!(
                "the drive sent {late} of {all} replies late"
            )))
        } else if !self.is_host_overloaded && (busy > MOST_BUSY || reported.has("host-stolen")) {
            Err(Disturbance::Busy)
        } else if !self.is_host_overloaded && reported.has("generator-late") {
            // A machine that stands still for some milliseconds makes the generator late.
            Err(Disturbance::Late(format!("{reported:?}")))
        } else {
            Ok(reported)
        }
    }

    /// Prepares the drive, and returns the configuration of the load.
    fn prepare(self, loaded: &Loaded, engine: &str) -> String {
        let rate = if self.is_drive_overloaded {
            // At most 4,000 per second. Soon more requests wait than an io_uring has slots: 1,024.
            loaded.drive.set_servers(4, Duration::from_millis(1));
            6_000
        } else {
            loaded.drive.set_base_delay(Operation::Read, SPARE_DELAY);
            500
        };
        format!("test-duration-sec: 1\nread-reqs-per-sec: {rate}\nengine: {engine}\n")
    }

    /// Runs the case with each engine until a run is not disturbed, and checks what is reported.
    fn check(self, expect: impl Fn(&str, &Reported)) {
        for engine in ["threads", "io_uring"] {
            until_undisturbed(&format!("{self:?}, {engine}"), || {
                let Some(loaded) = Loaded::file() else {
                    return Ok(());
                };
                if self.is_host_overloaded && !may_burn(&loaded) {
                    return Ok(());
                }
                expect(engine, &self.run(&loaded, engine)?);
                Ok(())
            });
        }
    }
}

/// Returns whether burners may have real-time priority here; reports it if not.
fn may_burn(loaded: &Loaded) -> bool {
    let started = loaded.drive.start_burners();
    loaded.drive.stop_burners();
    if let Err(error) = &started {
        skip(&format!("the host cannot be overloaded: {error}"));
    }
    started.is_ok()
}

fn wait_for_start(loaded: &Loaded) {
    let (side, patience) = (loaded.bench.path("side.jsonl"), Instant::now() + PATIENCE);
    while !fs::read_to_string(&side).is_ok_and(|text| text.contains("\"record\":\"start\"")) {
        assert!(
            Instant::now() < patience,
            "no start record: {}",
            loaded.bench.log()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reads the log and the side file of the run, and judges it in slices of a second.
fn reported(loaded: &Loaded) -> Reported {
    let output = Command::new(env!("CARGO_BIN_EXE_drivetest"))
        .args([
            "read",
            "--json",
            "--slice-sec",
            "1",
            "--profile",
            "operational-database",
        ])
        .arg("--with")
        .arg(loaded.bench.path("side.jsonl"))
        .arg(loaded.bench.path("log"))
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = &document["runs"][0];
    let findings = run["findings"].as_array().unwrap();
    let end = loaded.bench.end();
    let reads = &end["operations"]["reads"];
    let mean_ns = |time: &str| reads[time]["mean_ns"].as_u64().unwrap();
    Reported {
        findings: findings.iter().map(|finding| text(&finding["id"])).collect(),
        host_causes: run["side_file"]["host_causes"]
            .as_array()
            .unwrap()
            .iter()
            .map(text)
            .collect(),
        headline: text(&run["verdict"]["headline"]),
        is_backlog_main: mean_ns("backlog") * 2 > mean_ns("response"),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn an_overloaded_drive_on_an_idle_host_is_the_only_cause() {
    let case = Case {
        is_drive_overloaded: true,
        is_host_overloaded: false,
    };
    case.check(|engine, reported| {
        assert!(reported.has("rate-below-asked"), "{engine}: {reported:?}");
        assert!(
            !reported.has("generator-late") && reported.host_causes.is_empty(),
            "{engine}: {reported:?}"
        );
        assert!(
            reported.headline.starts_with("fails: ") && !reported.blames_host(),
            "{engine}: {reported:?}"
        );
        // A ring has so many slots that in a second the drive itself holds the requests longer.
        assert!(
            reported.is_backlog_main || engine == "io_uring",
            "{engine}: {reported:?}"
        );
    });
}

#[test]
fn an_overloaded_host_is_the_cause_if_the_drive_has_spare_capacity() {
    let case = Case {
        is_drive_overloaded: false,
        is_host_overloaded: true,
    };
    case.check(|engine, reported| {
        assert!(reported.has("generator-late"), "{engine}: {reported:?}");
        assert!(
            reported.host_causes.iter().any(|id| id == "generator-late") && !reported.is_backlog_main,
            "{engine}: {reported:?}"
        );
        assert!(
            reported.headline.starts_with("fails: ") && reported.blames_host(),
            "{engine}: {reported:?}"
        );
    });
}

#[test]
fn an_overloaded_drive_and_an_overloaded_host_are_both_named() {
    let case = Case {
        is_drive_overloaded: true,
        is_host_overloaded: true,
    };
    case.check(|engine, reported| {
        assert!(reported.has("rate-below-asked"), "{engine}: {reported:?}");
        assert!(
            reported.has("generator-late") && reported.host_causes.iter().any(|id| id == "generator-late"),
            "{engine}: {reported:?}"
        );
        assert!(
            reported.headline.starts_with("fails: ") && reported.blames_host(),
            "{engine}: {reported:?}"
        );
    });
}

#[test]
fn neither_is_named_if_drive_and_host_have_spare_capacity() {
    let case = Case {
        is_drive_overloaded: false,
        is_host_overloaded: false,
    };
    case.check(|engine, reported| {
        assert!(
            !reported.has("rate-below-asked") && reported.host_causes.is_empty(),
            "{engine}: {reported:?}"
        );
        assert!(
            !reported.headline.starts_with("fails: ") && !reported.is_backlog_main,
            "{engine}: {reported:?}"
        );
    });
}
