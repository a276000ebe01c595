//! `drivetest prep`: makes a drive ready for a load.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::value_parser;
use drivetest_load::prep::{LiveOutput, PassKind, Prep, PrepOptions, PrepOutcome, State, SteadyStateOptions};
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;

use super::load::random_seed;
use super::log_file::complain;
use super::looked_at::LookedAt;

/// Write zeros, then random data, over whole devices; ALL DATA ON THEM IS LOST
#[derive(clap::Args)]
pub struct Args {
    /// Block devices, or plain files that have their size already; all at once
    #[arg(required = true, value_name = "DEVICE")]
    devices: Vec<String>,
    /// Write the log here instead of to standard output
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Write progress and ending here, as JSON lines, instead of to a standard error that is no terminal
    #[arg(long, value_name = "FILE")]
    side_file: Option<PathBuf>,
    /// Keep here how far it is; when the file is there, go on from it
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Write the same data as the run with this seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How much of the random data is random, the rest being zeros
    #[arg(long, value_name = "PCT", default_value_t = 100, value_parser = value_parser!(u32).range(0..=100))]
    compress_pct: u32,
    /// Requests out at a time, for each device
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u16).range(1..=1024))]
    streams: u16,
    /// Length of a request in KiB, a multiple of 4
    #[arg(long, value_name = "KIB", default_value_t = 1024, value_parser = kib_in_fours)]
    request_kib: u32,
    /// Only write zeros
    #[arg(long, conflicts_with = "salt_only")]
    zero_only: bool,
    /// Only write random data
    #[arg(long)]
    salt_only: bool,
    /// Afterwards overwrite random places until the rate of five rounds is steady
    #[arg(long)]
    steady_state: bool,
    /// Length of an overwrite in bytes, a multiple of 512
    #[arg(long, value_name = "BYTES", default_value_t = 4096, value_parser = sectors, requires = "steady_state")]
    steady_block_bytes: u32,
    /// Overwrites out at a time, for each device
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = value_parser!(u16).range(1..=4096),
          requires = "steady_state")]
    steady_depth: u16,
    /// Length of a round in seconds
    #[arg(long, value_name = "SEC", default_value_t = 60, value_parser = value_parser!(u32).range(1..=86_400),
          requires = "steady_state")]
    steady_round_sec: u32,
    /// Give up after this many rounds
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = value_parser!(u32).range(5..=10_000),
          requires = "steady_state")]
    steady_rounds_max: u32,
    /// Write the rounds here, as JSON
    #[arg(long, value_name = "FILE", requires = "steady_state")]
    report: Option<PathBuf>,
    /// Write to this drive only, by its drive key (see identify); once for each device, in their order
    #[arg(long, value_name = "KEY")]
    expect_drive: Vec<String>,
    /// Overwrite file systems and partition tables that are found on the devices
    #[arg(long)]
    i_know_this_destroys_data: bool,
}

/// Why it cannot even be asked for.
type Usage = String;

fn kib_in_fours(text: &str) -> Result<u32, String> {
    multiple(text, 4, 16_384)
}

fn sectors(text: &str) -> Result<u32, String> {
    multiple(text, 512, 1 << 20)
}

fn multiple(text: &str, of: u32, most: u32) -> Result<u32, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number: &u32| (of..=most).contains(number) && number.is_multiple_of(of));
    number.ok_or_else(|| format!("expected a multiple of {of} from {of} to {most}"))
}

impl Args {
    /// Prepares the devices; the exit status tells how it ended.
    pub fn run(self) -> ExitCode {
        let is_recorded = matches!(self.live(), LiveOutput::Records);
        let (status, text) = match self.carry_out() {
            Ok(PrepOutcome::Finished) => return ExitCode::SUCCESS,
            Ok(PrepOutcome::NotSteady(text)) => (1, text),
            // The end record says it already, and so does the log.
            Ok(PrepOutcome::Refused(_)) if is_recorded => return ExitCode::from(2),
            Ok(PrepOutcome::Refused(text)) => (2, text),
            Ok(PrepOutcome::DeviceError(text)) => (3, text),
            Ok(PrepOutcome::Interrupted(text)) => (5, text),
            Err(text) => (crate::EXIT_USAGE, text),
        };
        complain(&text);
        ExitCode::from(status)
    }

    fn carry_out(self) -> Result<PrepOutcome, Usage> {
        self.check_expected()?;
        let resumed = self
            .state
            .as_deref()
            .map(State::read)
            .transpose()
            .map_err(|error| error.to_string())?;
        let resumed = resumed.flatten();
        let options = self.options(resumed.as_ref())?;
        if let (Some(state), Some(path)) = (&resumed, &self.state) {
            state
                .check_settings(path, &options)
                .map_err(|error| error.to_string())?;
        }
        let mut outputs = Outputs::open(self.log.as_deref(), self.side_file.as_deref())
            .map_err(|error| error.to_string())?;
        let signals = Signals::watch().map_err(|error| format!("signals cannot be watched: {error}"))?;
        let looked_at = LookedAt::at(&self.devices, true, &self.expect_drive);
        let prep = Prep {
            options,
            names: &self.devices,
            resumed,
            guard: &looked_at,
        };
        Ok(prep.execute(&signals, &mut outputs, self.live()))
    }

    fn check_expected(&self) -> Result<(), Usage> {
        let (expected, devices) = (self.expect_drive.len(), self.devices.len());
        if expected == 0 || expected == devices {
            return Ok(());
        }
        Err(format!(
            "--expect-drive: expected one for each of the {devices} devices, got {expected}"
        ))
    }

    fn live(&self) -> LiveOutput {
        match (std::io::stderr().is_terminal(), &self.side_file) {
            (true, _) => LiveOutput::Bar,
            (false, None) => LiveOutput::Records,
            (false, Some(_)) => LiveOutput::Nothing,
        }
    }

    fn options(&self, resumed: Option<&State>) -> Result<PrepOptions, Usage> {
        let begun_with = resumed.map(|state| state.seed);
        Ok(PrepOptions {
            passes: self.passes(),
            compress_pct: self.compress_pct,
            streams: usize::from(self.streams),
            request_bytes: self.request_kib as usize * 1024,
            seed: self.seed.or(begun_with).map_or_else(random_seed, Ok)?,
            may_destroy: self.i_know_this_destroys_data,
            state: self.state.clone(),
            steady: self.steady_state.then(|| self.steady()),
        })
    }

    fn passes(&self) -> Vec<PassKind> {
        let wanted = [(PassKind::Zero, self.salt_only), (PassKind::Salt, self.zero_only)];
        wanted
            .into_iter()
            .filter(|(_, left_out)| !left_out)
            .map(|(pass, _)| pass)
            .collect()
    }

    fn steady(&self) -> SteadyStateOptions {
        SteadyStateOptions {
            block_bytes: self.steady_block_bytes as usize,
            depth: usize::from(self.steady_depth),
            round_s: u64::from(self.steady_round_sec),
            rounds_max: self.steady_rounds_max as usize,
            report: self.report.clone(),
        }
    }
}
