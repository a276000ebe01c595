//! The watch itself: find the drive, run the line, look at the telemetry until it ends.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

use drivetest_device::Identity;
use drivetest_load::clock::{Instant, Nanos};
use drivetest_load::device::{Guard, HandedOffDevice, Refusal, open_for_handoff};
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;
use drivetest_load::telemetry::{LoadedDevice, Root, Telemetry};
use nix::sys::signal::Signal;
use rustix::fs::{FileType, major, minor, stat};

use crate::allowlist::{self, Line, ProgramsError};
use crate::child::{Child, words};
use crate::idle_wait::{Quiet, Rest, Stand};
use crate::record;

/// How often the program and the signals are looked at: a cancel takes effect within this, at no cost that can be measured.
const LOOK: Duration = Duration::from_millis(50);
/// A database writes its buffers out before it ends; after this it is killed.
const GRACE: Nanos = Nanos::from_s(10);

/// What cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The operator's file does not allow it.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// The drive cannot be told, or is another one.
    #[error("{0}")]
    Device(String),
    /// The drive must not be written over.
    #[error("{0}; nothing was run")]
    Refused(#[from] Refusal),
    /// The program cannot be executed.
    #[error("{program}: cannot be run: {source}")]
    Start {
        /// Its path.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// What it was asked to wait for cannot be seen.
    #[error("{0}: the kernel counts no writes of it, so that rest cannot be told")]
    Uncounted(String),
    /// The system fails.
    #[error("the watch cannot go on: {0}")]
    System(#[from] io::Error),
}

/// How a watch ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program did what it was run for; or there was none, and somebody asked for the end.
    Finished,
    /// The program says that it failed.
    Failed(String),
    /// Somebody asked for the end before the program came to its own.
    Interrupted(String),
}

/// What is to be watched and run.
#[derive(Debug)]
pub struct Watch {
    /// The drive's path; None on a host that has no drive in it, such as one that only sends requests.
    pub device: Option<PathBuf>,
    /// The drive that it must lead to.
    pub expected_key: Option<String>,
    /// Length of an interval of telemetry.
    pub interval: Nanos,
    /// The operator's file of programs.
    pub programs: PathBuf,
    /// Name and arguments; None watches alone.
    pub command: Option<(String, Vec<String>)>,
    /// Ends a watch that is alone when the drive has come to rest.
    pub quiet: Option<Quiet>,
}

/// A program that writes over the whole drive, and has no question of its own before that.
pub struct Overwrites<'a> {
    /// Has looked at the drive, the first of its devices, before anything of ours opened it.
    pub guard: &'a dyn Guard,
    /// Whether recognised data may be overwritten.
    pub may_destroy: bool,
}

struct Course<'a> {
    telemetry: Telemetry,
    begun: Instant,
    looked_at: Instant,
    rest: Option<Rest>,
    asked: Option<(&'static str, Instant)>,
    signals: &'a Signals,
    outputs: &'a mut Outputs,
}

impl Watch {
    /// Runs to the end of the program or of our patience, and writes a record of each interval.
    ///
    /// A program that `overwrites` the drive gets it by descriptor, if nothing speaks against that.
    ///
    /// # Errors
    /// [`WatchError`]; nothing was run, except where the system failed in between.
    pub fn carry_out(
        &self,
        signals: &Signals,
        outputs: &mut Outputs,
        overwrites: Option<&Overwrites<'_>>,
    ) -> Result<Ended, WatchError> {
        let handed_off = overwrites
            .map(|asked| self.hand_off(asked))
            .transpose()?
            .flatten();
        let identity = self.device.as_deref().map(|path| self.find(path)).transpose()?;
        let line = self.line(handed_off.as_ref())?;
        let found = self.device.as_deref().zip(identity.as_ref());
        let named: Vec<LoadedDevice> = self.device.iter().map(|path| named(path)).collect();
        let program = self.command.as_ref().map(|(name, _)| name.as_str());
        let argv = line.as_ref().map_or(&[][..], |line| &line.argv);
        outputs.side(&record::start(found, program, argv))?;
        let begun = Instant::now();
        let mut course = Course {
            telemetry: Telemetry::of(&Root::host(), &named),
            begun,
            looked_at: begun,
            rest: self.rest(&named, begun)?,
            asked: None,
            signals,
            outputs,
        };
        let child = line.as_ref().map(begin).transpose();
        let outcome = child.and_then(|child| course.run(child, self.interval));
        course.finish(program.unwrap_or_default(), outcome)
    }

    fn find(&self, path: &Path) -> Result<Identity, WatchError> {
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

    fn hand_off(&self, asked: &Overwrites<'_>) -> Result<Option<HandedOffDevice>, Refusal> {
        let name = self.device.as_deref().map(|path| path.display().to_string());
        name.map(|name| open_for_handoff(asked.guard, &name, asked.may_destroy))
            .transpose()
    }

    fn rest(&self, named: &[LoadedDevice], now: Instant) -> Result<Option<Rest>, WatchError> {
        let Some(quiet) = self.quiet else { return Ok(None) };
        let rest = named.first().and_then(|device| Rest::of(quiet, device, now));
        let name = || {
            named
                .first()
                .map(|device| device.name.clone())
                .unwrap_or_default()
        };
        rest.map(Some).ok_or_else(|| WatchError::Uncounted(name()))
    }

    fn line(&self, handed_off: Option<&HandedOffDevice>) -> Result<Option<Line>, WatchError> {
        let Some((name, arguments)) = &self.command else {
            return Ok(None);
        };
        let named = || self.device.as_deref().and_then(Path::to_str).map(str::to_owned);
        let device = handed_off.map(HandedOffDevice::path).or_else(named);
        let line = allowlist::line(&self.programs, name, arguments, device.as_deref())?;
        Ok(Some(line))
    }
}

fn begin(line: &Line) -> Result<Child, WatchError> {
    Child::start(line, Path::new(".")).map_err(|source| WatchError::Start {
        program: line.argv.first().cloned().unwrap_or_default(),
        source,
    })
}

/// The block device that a path is, or that its file system lies on.
fn named(path: &Path) -> LoadedDevice {
    let number = stat(path).ok().map(|found| {
        let is_block = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice;
        let number = if is_block { found.st_rdev } else { found.st_dev };
        (major(number), minor(number))
    });
    LoadedDevice {
        name: path.display().to_string(),
        number,
    }
}

/// How the course ended, and the program's status where it told one.
type Outcome = (Ended, Option<i32>);

impl Course<'_> {
    fn run(&mut self, mut child: Option<Child>, interval: Nanos) -> Result<Outcome, WatchError> {
        loop {
            if let Some(status) = child.as_mut().map(Child::ended).transpose()?.flatten() {
                self.interval()?;
                return Ok((self.of(status), status.code()));
            }
            if self.signals.first().is_some() && child.is_none() {
                self.interval()?;
                return Ok((Ended::Finished, None));
            }
            self.pass_on(child.as_ref());
            if Instant::now().since(self.looked_at) >= interval {
                self.interval()?;
                if let Some(ended) = self.rested() {
                    return Ok((ended, None));
                }
            }
            thread::sleep(LOOK);
        }
    }

    /// How a watch ends that waits for rest; None while it goes on.
    fn rested(&mut self) -> Option<Ended> {
        let rest = self.rest.as_mut()?;
        match rest.look(Instant::now()) {
            Stand::Resting => Some(Ended::Finished),
            Stand::Working => None,
            Stand::Restless => Some(Ended::Failed(
                "the drive was still written to when the time to wait was over".to_owned(),
            )),
        }
    }

    /// Hands a signal on, and kills what does not end by it.
    fn pass_on(&mut self, child: Option<&Child>) {
        let (Some(name), Some(child)) = (self.signals.first(), child) else {
            return;
        };
        match self.asked {
            None => {
                child.signal(Signal::SIGTERM);
                self.asked = Some((name, Instant::now()));
            }
            Some((_, at)) if Instant::now().since(at) >= GRACE => child.signal(Signal::SIGKILL),
            Some(_) => {}
        }
    }

    fn of(&self, status: ExitStatus) -> Ended {
        match self.asked {
            Some((name, _)) => {
                Ended::Interrupted(format!("stopped by signal {name}; the program {}", words(status)))
            }
            None if status.success() => Ended::Finished,
            None => Ended::Failed(words(status)),
        }
    }

    fn interval(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let (elapsed, length) = (now.since(self.begun), now.since(self.looked_at));
        if length == Nanos::default() {
            return Ok(());
        }
        self.looked_at = now;
        let telemetry = self.telemetry.sample(length);
        let label_s = elapsed.0 / Nanos::from_s(1).0;
        self.outputs
            .side(&record::interval(label_s, elapsed, length, &telemetry))
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
        let elapsed = Instant::now().since(self.begun);
        self.outputs.side(&record::end(reason, &text, elapsed, status))?;
        outcome.map(|(ended, _)| match ended {
            Ended::Failed(_) => Ended::Failed(text),
            other => other,
        })
    }
}
