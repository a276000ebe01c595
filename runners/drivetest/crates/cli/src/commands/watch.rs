//! `drivetest watch`: telemetry of a drive and its host, alone or while an allowed program runs.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::value_parser;
use drivetest_device::DeviceGuard;
use drivetest_load::clock::Nanos;
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;
use drivetest_telemetry::allowlist::DEFAULT_FILE;
use drivetest_telemetry::{Ended, IdleCondition, OverwriteOptions, Watch, WatchError};

use crate::output::{EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_REFUSED, EXIT_USAGE, print_diagnostic};
use crate::size;

/// Arguments of `watch`.
#[derive(clap::Args)]
pub struct Args {
    /// Block device or file whose telemetry is recorded; leave DEVICE out on a host that only sends requests to another host
    #[arg(value_name = "DEVICE")]
    device: Option<PathBuf>,
    /// File for the identity of the drive, the telemetry of each interval and the outcome of the program, as JSON lines
    #[arg(long, value_name = "FILE")]
    side_file: PathBuf,
    /// Duration of an interval of telemetry in seconds
    #[arg(long, value_name = "SEC", default_value_t = 10, value_parser = value_parser!(u32).range(1..=3600))]
    interval_sec: u32,
    /// Drive key that the drive must have, as `drivetest identify` prints it; watch refuses any other drive
    #[arg(long, value_name = "KEY", requires = "device")]
    expect_drive: Option<String>,
    /// Declare that the program overwrites the drive: watch then refuses a drive that is in use or holds data, and gives
    /// the program the opened drive as a file descriptor
    #[arg(long, requires = "device", requires = "command")]
    will_overwrite: bool,
    /// Allow the program to overwrite file systems and partition tables on the drive
    #[arg(long, requires = "will_overwrite")]
    i_know_this_destroys_data: bool,
    /// File in which the operator of the host lists the programs that watch may run
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
    programs: PathBuf,
    /// Run no program, and end when less than SIZE per second is written to the drive
    #[arg(long, value_name = "SIZE", value_parser = size::parse, conflicts_with = "command",
          requires_all = ["device", "for_sec", "at_most_sec"])]
    until_writes_below: Option<u64>,
    /// Time in seconds for which the write rate must stay below --until-writes-below before watch ends
    #[arg(long, value_name = "SEC", value_parser = value_parser!(u64).range(1..=86_400))]
    for_sec: Option<u64>,
    /// Time in seconds after which watch fails if the write rate has not stayed below --until-writes-below
    #[arg(long, value_name = "SEC", value_parser = value_parser!(u64).range(1..=864_000))]
    at_most_sec: Option<u64>,
    /// Name of a program that the --programs file lists, followed by its arguments, in which {device} stands for the path
    /// of the drive; the program runs in the directory ./out
    #[arg(last = true, value_name = "NAME")]
    command: Vec<String>,
}

impl Args {
    /// Records telemetry and returns the exit code.
    pub fn run(self) -> ExitCode {
        let (code, message) = match self.execute() {
            Ok(Ended::Finished) => return ExitCode::SUCCESS,
            Ok(Ended::Failed(message)) => (EXIT_FAILED, message),
            Ok(Ended::Interrupted(message)) => (EXIT_INTERRUPTED, message),
            Err(Failure::Usage(message)) => (EXIT_USAGE, message),
            Err(Failure::Watch(error)) => (exit_code_of(&error), error.to_string()),
        };
        print_diagnostic(&message);
        ExitCode::from(code)
    }

    fn idle_condition(&self) -> Option<IdleCondition> {
        Some(IdleCondition {
            bytes_per_s: self.until_writes_below?,
            lasting: Nanos::from_s(self.for_sec?),
            timeout: Nanos::from_s(self.at_most_sec?),
        })
    }

    /// Observes the drive before it is opened, as before a load.
    fn observe_drive(&self) -> DeviceGuard {
        let device: Vec<_> = self
            .device
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let expected: Vec<_> = self.expect_drive.iter().cloned().collect();
        DeviceGuard::observe(&device, true, &expected)
    }

    fn execute(self) -> Result<Ended, Failure> {
        let idle_condition = self.idle_condition();
        let mut outputs =
            Outputs::open(None, Some(&self.side_file)).map_err(|error| Failure::Usage(error.to_string()))?;
        let signals = Signals::watch().map_err(|error| Failure::Watch(error.into()))?;
        let guard = self.will_overwrite.then(|| self.observe_drive());
        let overwrites = guard.as_ref().map(|guard| OverwriteOptions {
            guard,
            may_destroy: self.i_know_this_destroys_data,
        });
        let mut words = self.command.into_iter();
        let watch = Watch {
            device: self.device,
            expected_key: self.expect_drive,
            interval: Nanos::from_s(self.interval_sec.into()),
            programs: self.programs,
            command: words.next().map(|name| (name, words.collect())),
            idle_condition,
        };
        let ended = watch.execute(&signals, &mut outputs, overwrites.as_ref());
        ended.map_err(Failure::Watch)
    }
}

/// Why no telemetry was recorded.
enum Failure {
    Usage(String),
    Watch(WatchError),
}

fn exit_code_of(error: &WatchError) -> u8 {
    match error {
        WatchError::Programs(_) | WatchError::Device(_) | WatchError::Refused(_) => EXIT_REFUSED,
        WatchError::Start { .. } | WatchError::NoWriteCounter(_) | WatchError::System(_) => EXIT_ERROR,
    }
}
