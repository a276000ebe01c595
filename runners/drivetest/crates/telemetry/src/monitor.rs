//! The monitor: finds the drive, runs the program, and records telemetry until the end, with the schema of a load
//! (`drivecert.side/1`), but without the figures of a load.

use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, SystemTime};
use std::{io, thread};

use drivetest_device::opening::OpenRefusal;
use drivetest_device::{Guard, HandedOffDevice, Identity, open_for_handoff};
use drivetest_load::clock::{Instant, Nanos, rfc3339};
use drivetest_load::host::Host;
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;
use drivetest_load::telemetry::{LoadedDevice, Record, Root, Telemetry};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::allowlist::{self, AllowedCommand, ProgramsError};
use crate::child::{self, describe_exit};
use crate::idle_wait::{DriveActivity, IdleCondition, IdleDetector};

/// Interval of checking the program and the signals. A cancel takes effect within it; its cost is not measurable.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Time after SIGTERM until the program is killed. A database writes its buffers before it ends.
const TERMINATION_GRACE: Nanos = Nanos::from_s(10);

/// Why telemetry could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The program is not allowed.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// The drive cannot be identified, or is another one.
    #[error("{0}")]
    Device(String),
    /// The drive must not be overwritten.
    #[error("{0}; nothing was run")]
    Refused(#[from] OpenRefusal),
    /// The program cannot be executed.
    #[error("{program}: cannot be run: {source}")]
    Start {
        /// Its path.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The kernel has no write counter for the drive.
    #[error("{0}: the kernel does not count its writes, so drivetest cannot detect when it is idle")]
    NoWriteCounter(String),
    /// A system call failed.
    #[error("telemetry cannot continue: {0}")]
    System(#[from] io::Error),
}

/// How a recording ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program succeeded. Without a program: a signal ended the recording, or the drive became idle.
    Finished,
    /// The program failed, or the drive did not become idle.
    Failed(String),
    /// A signal ended the program.
    Interrupted(String),
}

/// A recording and the program to run meanwhile.
#[derive(Debug)]
pub struct Watch {
    /// The path of the drive. None on a host that only sends requests.
    pub device: Option<PathBuf>,
    /// The key that the drive must have.
    pub expected_key: Option<String>,
    /// Duration of an interval.
    pub interval: Nanos,
    /// The list of allowed programs.
    pub programs: PathBuf,
    /// Name and arguments of the program, if any.
    pub command: Option<(String, Vec<String>)>,
    /// Ends a recording without a program when the drive is idle.
    pub idle_condition: Option<IdleCondition>,
}

/// Options for a program that overwrites the whole drive without checking it.
pub struct OverwriteOptions<'a> {
    /// Guard that observed the drive, its first device, before this process opened it.
    pub guard: &'a dyn Guard,
    /// Whether recognised data may be overwritten.
    pub may_destroy: bool,
}

struct Recording<'a> {
    telemetry: Telemetry,
    started: Instant,
    sampled_at: Instant,
    idle_detector: Option<IdleDetector>,
    /// The signal that was passed on to the program, and when.
    stop_requested: Option<(&'static str, Instant)>,
    signals: &'a Signals,
    outputs: &'a mut Outputs,
}

impl Watch {
    /// Records telemetry until the program, a signal or an idle drive ends it. Writes a record per interval.
    ///
    /// A program that overwrites the drive gets it by file descriptor, if the drive is safe to overwrite.
    ///
    /// # Errors
    /// [`WatchError`]. No program was run, unless a system call failed in between.
    pub fn execute(
        &self,
        signals: &Signals,
        outputs: &mut Outputs,
        overwrites: Option<&OverwriteOptions<'_>>,
    ) -> Result<Ended, WatchError> {
        let handed_off = match (&self.device, overwrites) {
            (Some(path), Some(OverwriteOptions { guard, may_destroy })) => {
                let name = path.display().to_string();
                Some(open_for_handoff(*guard, &name, *may_destroy)?)
            }
            _ => None,
        };
        let path = self.device.as_deref();
        let identity = path.map(|path| self.identify(path)).transpose()?;
        let command = self.allowed_command(handed_off.as_ref())?;
        let drive = path.zip(identity.as_ref());
        let loaded =
            |path: &Path| LoadedDevice::new(path.display().to_string(), path.metadata().ok().as_ref());
        let devices: Vec<_> = path.into_iter().map(loaded).collect();
        let program = self.command.as_ref().map(|(name, _)| name.as_str());
        let argv = command.as_ref().map_or(&[][..], |command| &command.argv);
        outputs.side(&start_record(drive, program, argv))?;
        let started = Instant::now();
        let mut recording = Recording {
            telemetry: Telemetry::of(&Root::host(), &devices),
            started,
            sampled_at: started,
            idle_detector: self.idle_detector(&devices, started)?,
            stop_requested: None,
            signals,
            outputs,
        };
        let child = command.as_ref().map(start_program).transpose();
        let outcome = child.and_then(|child| recording.run(child, self.interval));
        recording.finish(program.unwrap_or_default(), outcome)
    }

    fn identify(&self, path: &Path) -> Result<Identity, WatchError> {
        let found = drivetest_device::identify_in_use(path);
        let identity = found.map_err(|error| WatchError::Device(error.to_string()))?;
        match &self.expected_key {
            Some(expected) if !drivetest_device::is_same_drive(expected, &identity.drive_key) => {
                Err(WatchError::Device(format!(
                    "{}: expected drive {expected}, found {}; nothing was run",
                    path.display(),
                    identity.drive_key
                )))
            }
            _ => Ok(identity),
        }
    }

    fn idle_detector(
        &self,
        devices: &[LoadedDevice],
        now: Instant,
    ) -> Result<Option<IdleDetector>, WatchError> {
        let Some(condition) = self.idle_condition else {
            return Ok(None);
        };
        let device = devices.first();
        let detector = device.and_then(|device| IdleDetector::of(condition, device, now));
        let name = || device.map_or_else(String::new, |device| device.name.clone());
        detector
            .map(Some)
            .ok_or_else(|| WatchError::NoWriteCounter(name()))
    }

    fn allowed_command(
        &self,
        handed_off: Option<&HandedOffDevice>,
    ) -> Result<Option<AllowedCommand>, WatchError> {
        let Some((name, arguments)) = &self.command else {
            return Ok(None);
        };
        let path = || self.device.as_deref().and_then(Path::to_str).map(str::to_owned);
        let device = handed_off.map(HandedOffDevice::path).or_else(path);
        Ok(Some(allowlist::find(
            &self.programs,
            name,
            arguments,
            device.as_deref(),
        )?))
    }
}

fn start_program(command: &AllowedCommand) -> Result<Child, WatchError> {
    child::start(command, Path::new(".")).map_err(|source| WatchError::Start {
        program: command.argv.first().cloned().unwrap_or_default(),
        source,
    })
}

/// How the recording ended, and the exit status of the program, if any.
type Outcome = (Ended, Option<i32>);

impl Recording<'_> {
    fn run(&mut self, mut child: Option<Child>, interval: Nanos) -> Result<Outcome, WatchError> {
        loop {
            if let Some(status) = child.as_mut().map(Child::try_wait).transpose()?.flatten() {
                self.record_interval()?;
                return Ok((self.outcome_of(status), status.code()));
            }
            if self.signals.first().is_some() && child.is_none() {
                self.record_interval()?;
                return Ok((Ended::Finished, None));
            }
            self.pass_on_signal(child.as_ref());
            if Instant::now().since(self.sampled_at) >= interval {
                self.record_interval()?;
                if let Some(ended) = self.check_idle() {
                    return Ok((ended, None));
                }
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the outcome if the drive is idle or the wait timed out. None while the recording continues.
    fn check_idle(&mut self) -> Option<Ended> {
        let detector = self.idle_detector.as_mut()?;
        match detector.observe(Instant::now()) {
            DriveActivity::Idle => Some(Ended::Finished),
            DriveActivity::Busy => None,
            DriveActivity::TimedOut => {
                Some(Ended::Failed("the drive did not become idle in time".to_owned()))
            }
        }
    }

    /// Passes a signal on to the program, and kills the program if it does not end.
    fn pass_on_signal(&mut self, child: Option<&Child>) {
        let (Some(name), Some(child)) = (self.signals.first(), child) else {
            return;
        };
        match self.stop_requested {
            None => {
                child::signal(child, Signal::SIGTERM);
                self.stop_requested = Some((name, Instant::now()));
            }
            Some((_, at)) if Instant::now().since(at) >= TERMINATION_GRACE => {
                child::signal(child, Signal::SIGKILL);
            }
            Some(_) => {}
        }
    }

    fn outcome_of(&self, status: ExitStatus) -> Ended {
        match self.stop_requested {
            Some((name, _)) => Ended::Interrupted(format!(
                "stopped by signal {name}; the program {}",
                describe_exit(status)
            )),
            None if status.success() => Ended::Finished,
            None => Ended::Failed(describe_exit(status)),
        }
    }

    fn record_interval(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let (elapsed, length) = (now.since(self.started), now.since(self.sampled_at));
        if length == Nanos::default() {
            return Ok(());
        }
        self.sampled_at = now;
        let telemetry = self.telemetry.sample(length);
        let label_s = elapsed.0 / Nanos::from_s(1).0;
        self.outputs
            .side(&interval_record(label_s, elapsed, length, &telemetry))
    }

    fn finish(self, program: &str, outcome: Result<Outcome, WatchError>) -> Result<Ended, WatchError> {
        let (reason, text, status) = match &outcome {
            Ok((Ended::Finished, status)) => ("finished", String::new(), *status),
            Ok((Ended::Failed(text), status)) => (
                "program-failed",
                format!("{program} {text}").trim().to_owned(),
                *status,
            ),
            Ok((Ended::Interrupted(text), status)) => ("interrupted", text.clone(), *status),
            Err(error) => ("refused", error.to_string(), None),
        };
        let elapsed = Instant::now().since(self.started);
        self.outputs.side(&end_record(reason, &text, elapsed, status))?;
        outcome.map(|(ended, _)| match ended {
            Ended::Failed(_) => Ended::Failed(text),
            other => other,
        })
    }
}

/// Returns the start record: the drive, and the program. `argv` is empty without a program.
fn start_record(device: Option<(&Path, &Identity)>, program: Option<&str>, argv: &[String]) -> Value {
    let devices: Vec<&Identity> = device.iter().map(|(_, identity)| *identity).collect();
    json!({
        "record": "start", "schema": "drivecert.side/1", "program_version": env!("CARGO_PKG_VERSION"),
        "started_at": rfc3339(SystemTime::now()), "host": Host::here(), "devices": devices,
        "watch": {"program": program, "argv": argv},
    })
}

/// Returns the record of an interval, `label_s` after the start.
fn interval_record(label_s: u64, elapsed: Nanos, length: Nanos, telemetry: &Record) -> Value {
    json!({
        "record": "interval", "memory": memory(), "label_s": label_s, "at": rfc3339(SystemTime::now()), "elapsed_ns": elapsed.0,
        "length_ns": length.0, "telemetry": telemetry,
    })
}

/// Returns the host's total, available and cached memory in bytes. Null if unknown.
fn memory() -> Value {
    let bytes = |name: &str| Root::host().line_bytes("proc/meminfo", name);
    json!({"total_bytes": bytes("MemTotal:"), "available_bytes": bytes("MemAvailable:"),
           "cached_bytes": bytes("Cached:")})
}

/// Returns the end record. `status` is the exit status of the program.
fn end_record(reason: &str, text: &str, elapsed: Nanos, status: Option<i32>) -> Value {
    json!({
        "record": "end", "reason": reason, "text": text, "at": rfc3339(SystemTime::now()), "elapsed_ns": elapsed.0,
        "program_status": status,
    })
}
