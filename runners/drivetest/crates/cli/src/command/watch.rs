//! `drivetest watch`: telemetry of a drive and its host, alone or beside a program of the operator's.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::value_parser;
use drivetest_load::clock::Nanos;
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;
use drivetest_telemetry::allowlist::DEFAULT_FILE;
use drivetest_telemetry::{Ended, Overwrites, Quiet, Watch, WatchError};

use super::log_file::complain;
use super::looked_at::LookedAt;

const EXIT_FAILED: u8 = 1;
const EXIT_REFUSED: u8 = 2;
const EXIT_SYSTEM: u8 = 3;
const EXIT_INTERRUPTED: u8 = 5;

/// Write telemetry of a drive and its host while somebody else loads it
#[derive(clap::Args)]
pub struct Args {
    /// Block device or file; none on a host that only sends requests
    #[arg(value_name = "DEVICE")]
    device: Option<PathBuf>,
    /// Write identity, intervals and ending here, as JSON lines
    #[arg(long, value_name = "FILE")]
    side_file: PathBuf,
    /// Length of an interval in seconds
    #[arg(long, value_name = "SEC", default_value_t = 10, value_parser = value_parser!(u32).range(1..=3600))]
    interval_sec: u32,
    /// Watch this drive only, by its drive key (see identify)
    #[arg(long, value_name = "KEY", requires = "device")]
    expect_drive: Option<String>,
    /// The program writes over the drive: refuse one that is in use or holds data, and give it by descriptor
    #[arg(long, requires = "device", requires = "command")]
    will_overwrite: bool,
    /// Have file systems and partition tables overwritten that are found on it
    #[arg(long, requires = "will_overwrite")]
    i_know_this_destroys_data: bool,
    /// What may be run, as the operator of the host wrote it
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
    programs: PathBuf,
    /// Without a program: end when the drive is asked to write less than this a second
    #[arg(long, value_name = "BYTES", requires_all = ["device", "for_sec", "at_most_sec"], conflicts_with = "command")]
    until_writes_below: Option<u64>,
    /// For so many seconds without a break
    #[arg(long, value_name = "SEC", value_parser = value_parser!(u64).range(1..=86_400))]
    for_sec: Option<u64>,
    /// And fail when it did not within this time
    #[arg(long, value_name = "SEC", value_parser = value_parser!(u64).range(1..=864_000))]
    at_most_sec: Option<u64>,
    /// Name of a program in that file, and its arguments; {device} stands for the drive. Its files go into ./out
    #[arg(last = true, value_name = "NAME")]
    command: Vec<String>,
}

impl Args {
    /// Watches; the exit status tells how it ended.
    pub fn run(self) -> ExitCode {
        let (status, text) = match self.carry_out() {
            Ok(Ended::Finished) => return ExitCode::SUCCESS,
            Ok(Ended::Failed(text)) => (EXIT_FAILED, text),
            Ok(Ended::Interrupted(text)) => (EXIT_INTERRUPTED, text),
            Err(Unable::Usage(text)) => (crate::EXIT_USAGE, text),
            Err(Unable::Watch(error)) => (status_of(&error), error.to_string()),
        };
        complain(&text);
        ExitCode::from(status)
    }

    fn quiet(&self) -> Option<Quiet> {
        Some(Quiet {
            bytes_per_s: self.until_writes_below?,
            lasting: Nanos::from_s(self.for_sec?),
            at_most: Nanos::from_s(self.at_most_sec?),
        })
    }

    /// Looks at the drive before it is opened, as before a load.
    fn look(&self) -> LookedAt {
        let device: Vec<_> = self
            .device
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let expected: Vec<_> = self.expect_drive.iter().cloned().collect();
        LookedAt::at(&device, true, &expected)
    }

    fn carry_out(self) -> Result<Ended, Unable> {
        let quiet = self.quiet();
        let mut outputs =
            Outputs::open(None, Some(&self.side_file)).map_err(|error| Unable::Usage(error.to_string()))?;
        let signals = Signals::watch().map_err(|error| Unable::Watch(error.into()))?;
        let looked_at = self.will_overwrite.then(|| self.look());
        let overwrites = looked_at.as_ref().map(|looked_at| Overwrites {
            guard: looked_at,
            may_destroy: self.i_know_this_destroys_data,
        });
        let mut words = self.command.into_iter();
        let watch = Watch {
            device: self.device,
            expected_key: self.expect_drive,
            interval: Nanos::from_s(self.interval_sec.into()),
            programs: self.programs,
            command: words.next().map(|name| (name, words.collect())),
            quiet,
        };
        let ended = watch.carry_out(&signals, &mut outputs, overwrites.as_ref());
        ended.map_err(Unable::Watch)
    }
}

/// Why nothing was watched.
enum Unable {
    Usage(String),
    Watch(WatchError),
}

fn status_of(error: &WatchError) -> u8 {
    match error {
        WatchError::Programs(_) | WatchError::Device(_) | WatchError::Refused(_) => EXIT_REFUSED,
        WatchError::Start { .. } | WatchError::Uncounted(_) | WatchError::System(_) => EXIT_SYSTEM,
    }
}
