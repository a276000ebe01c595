//! `drivetest prep`: prepares drives for a load.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::value_parser;
use drivetest_device::DeviceGuard;
use drivetest_load::prep::{PassKind, Prep, PrepEnd, PrepOptions, State, SteadyStateOptions};
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;

use super::load::{UsageError, check_expected, exit_code, random_seed};
use crate::output::{EXIT_REFUSED, EXIT_USAGE, print_diagnostic};
use crate::render::progress::TerminalProgress;
use crate::size;

/// Arguments of `prep`.
#[derive(clap::Args)]
pub struct Args {
    /// Block devices to overwrite, or plain files that already have the wanted size; prep writes all of them at the same time
    #[arg(required = true, value_name = "DEVICE")]
    devices: Vec<String>,
    /// File for the log of the preparation [default: standard output]
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// File for the progress and the outcome of the preparation, as JSON lines [default: standard error, unless it is a terminal]
    #[arg(long, value_name = "FILE")]
    side_file: Option<PathBuf>,
    /// File that stores the progress of the preparation; if the file exists, prep continues from the stored progress
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Seed of the random data: the same seed writes the same data [default: the seed in the --state file, or a random seed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Percentage of each block of random data that is random; the rest of the block is zeros
    #[arg(long, value_name = "PCT", default_value_t = 100, value_parser = value_parser!(u32).range(0..=100))]
    compress_pct: u32,
    /// Number of write requests in flight on each device
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u16).range(1..=1024))]
    streams: u16,
    /// Size of a write request in KiB, a multiple of 4
    #[arg(long, value_name = "KIB", default_value_t = 1024, value_parser = parse_request_kib)]
    request_kib: u32,
    /// Write only the zeros, without the random data
    #[arg(long, conflicts_with = "salt_only")]
    zero_only: bool,
    /// Write only the random data, without the zeros before it
    #[arg(long)]
    salt_only: bool,
    /// At the end, overwrite random blocks in rounds until the write rate is steady over five rounds
    #[arg(long)]
    steady_state: bool,
    /// Size of each random block that --steady-state overwrites, a multiple of 512 bytes
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = parse_sector_bytes,
          requires = "steady_state")]
    steady_block_bytes: u32,
    /// Number of overwrites that --steady-state has in flight on each device
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = value_parser!(u16).range(1..=4096),
          requires = "steady_state")]
    steady_depth: u16,
    /// Duration of a round of --steady-state in seconds
    #[arg(long, value_name = "SEC", default_value_t = 60, value_parser = value_parser!(u32).range(1..=86_400),
          requires = "steady_state")]
    steady_round_sec: u32,
    /// Number of rounds after which --steady-state gives up if the write rate is not steady
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = value_parser!(u32).range(5..=10_000),
          requires = "steady_state")]
    steady_rounds_max: u32,
    /// File for the write rates of all rounds of --steady-state, as JSON
    #[arg(long, value_name = "FILE", requires = "steady_state")]
    report: Option<PathBuf>,
    /// Drive key that a device must have, as `drivetest identify` prints it; prep refuses any other drive. Repeat
    /// --expect-drive for each device, in the order of the devices
    #[arg(long, value_name = "KEY")]
    expect_drive: Vec<String>,
    /// Allow prep to overwrite devices that hold file systems or partition tables
    #[arg(long)]
    i_know_this_destroys_data: bool,
}

fn parse_request_kib(text: &str) -> Result<u32, String> {
    multiple(text.parse().ok(), 4, 16_384)
}

fn parse_sector_bytes(text: &str) -> Result<u32, String> {
    let bytes = u32::try_from(size::parse(text)?).ok();
    multiple(bytes, 512, 1 << 20)
}

fn multiple(number: Option<u32>, of: u32, max: u32) -> Result<u32, String> {
    let is_allowed = |number: &u32| (of..=max).contains(number) && number.is_multiple_of(of);
    let number = number.filter(is_allowed);
    number.ok_or_else(|| format!("expected a multiple of {of} from {of} to {max}"))
}

impl Args {
    /// Prepares the devices and returns the exit code.
    pub fn run(self) -> ExitCode {
        let is_recorded = self.prints_records();
        let (code, message, is_shown) = match self.execute() {
            Ok(PrepEnd { outcome, is_shown }) => {
                (exit_code(&outcome), outcome.reason().1.to_owned(), is_shown)
            }
            Err(message) => (EXIT_USAGE, message, false),
        };
        let is_shown = match code {
            0 => true,
            // If there are records, the end record and the log contain the refusal.
            EXIT_REFUSED => is_recorded,
            _ => is_shown,
        };
        if !is_shown {
            print_diagnostic(&message);
        }
        ExitCode::from(code)
    }

    fn execute(self) -> Result<PrepEnd, UsageError> {
        check_expected(&self.expect_drive, &self.devices)?;
        let resumed = self.state.as_deref().map(State::read).transpose();
        let resumed = resumed.map_err(|error| error.to_string())?.flatten();
        let options = self.options(resumed.as_ref())?;
        if let (Some(state), Some(path)) = (&resumed, &self.state) {
            let checked = state.check_settings(path, &options);
            checked.map_err(|error| error.to_string())?;
        }
        let outputs = Outputs::open(self.log.as_deref(), self.side_file.as_deref());
        let mut outputs = outputs.map_err(|error| error.to_string())?;
        let signals = Signals::watch().map_err(|error| format!("cannot watch signals: {error}"))?;
        let guard = DeviceGuard::observe(&self.devices, true, &self.expect_drive);
        let prep = Prep {
            options,
            names: &self.devices,
            resumed,
            guard: &guard,
        };
        outputs.set_view(TerminalProgress::start("prep", Vec::new()));
        Ok(prep.execute(&signals, &mut outputs, self.prints_records()))
    }

    /// Returns whether the records go to standard error.
    fn prints_records(&self) -> bool {
        self.side_file.is_none() && !io::stderr().is_terminal()
    }

    fn options(&self, resumed: Option<&State>) -> Result<PrepOptions, UsageError> {
        let resumed_seed = resumed.map(|state| state.seed);
        Ok(PrepOptions {
            passes: self.passes(),
            compress_pct: self.compress_pct,
            streams: usize::from(self.streams),
            request_bytes: self.request_kib as usize * 1024,
            seed: self.seed.or(resumed_seed).map_or_else(random_seed, Ok)?,
            may_destroy: self.i_know_this_destroys_data,
            state: self.state.clone(),
            steady: self.steady_state.then(|| self.steady()),
        })
    }

    fn passes(&self) -> Vec<PassKind> {
        let zero = (!self.salt_only).then_some(PassKind::Zero);
        let salt = (!self.zero_only).then_some(PassKind::Salt);
        zero.into_iter().chain(salt).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_the_steady_state_is_a_multiple_of_512_bytes_up_to_1_mib() {
        for (text, bytes) in [("512", 512), ("4096", 4_096), ("4KiB", 4_096), ("1MiB", 1 << 20)] {
            assert_eq!(parse_sector_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["0", "511", "4kB", "2MiB", "16GiB", "4 KiB", "many"] {
            assert!(parse_sector_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_request_is_a_number_of_kib() {
        assert_eq!(parse_request_kib("1024"), Ok(1_024));
        for text in ["0", "6", "1MiB", "32768"] {
            assert!(parse_request_kib(text).is_err(), "{text}");
        }
    }
}
