//! `drivetest storage`: the ACT storage load.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use drivetest_load::config::Config;
use drivetest_load::host::Host;
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;
use drivetest_load::{Order, Outcome};

use super::log_file::complain;
use super::looked_at::LookedAt;

/// Run the load of an act_storage configuration and write its log.
#[derive(clap::Args)]
pub struct Args {
    /// Configuration file, with the keys of act_storage 6.6
    config: PathBuf,
    /// Write the log here instead of to standard output
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Write identity, intervals and exact figures here, as JSON lines
    #[arg(long, value_name = "FILE")]
    side_file: Option<PathBuf>,
    /// Make the same random choices as the run with this seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Load this drive only, by its drive key (see identify); once for each device, in their order
    #[arg(long, value_name = "KEY")]
    expect_drive: Vec<String>,
    /// Overwrite file systems, partition tables and files of another size that are found on the devices
    #[arg(long)]
    i_know_this_destroys_data: bool,
}

/// Why a run cannot even be asked for.
type Usage = String;

impl Args {
    /// Runs the load; the exit status tells how it ended.
    pub fn run(self) -> ExitCode {
        let (status, text) = match self.carry_out() {
            Ok(Outcome::Finished) => return ExitCode::SUCCESS,
            Ok(Outcome::Refused(text)) => (2, text),
            Ok(Outcome::DeviceError(text)) => (3, text),
            Ok(Outcome::CannotKeepUp(text)) => (4, text),
            Ok(Outcome::Interrupted(text)) => (5, text),
            Err(text) => (crate::EXIT_USAGE, text),
        };
        complain(&text);
        ExitCode::from(status)
    }

    fn carry_out(self) -> Result<Outcome, Usage> {
        let host = Host::here();
        let (config, config_text) = self.read_config(host.cpus_count)?;
        self.check_expected(&config)?;
        let mut outputs =
            Outputs::open(self.log.as_deref(), self.side_file.as_deref()).map_err(|e| e.to_string())?;
        let signals = Signals::watch().map_err(|error| format!("signals cannot be watched: {error}"))?;
        let seed = self.seed.map_or_else(random_seed, Ok)?;
        let looked_at = LookedAt::before_opening(&config, &self.expect_drive);
        let order = Order {
            config,
            config_text: &config_text,
            seed,
            may_destroy: self.i_know_this_destroys_data,
            guard: &looked_at,
        };
        Ok(order.carry_out(&host, &signals, &mut outputs))
    }

    fn check_expected(&self, config: &Config) -> Result<(), Usage> {
        let (expected, devices) = (self.expect_drive.len(), config.device_names.len());
        if expected == 0 || expected == devices {
            return Ok(());
        }
        Err(format!(
            "--expect-drive: expected one for each of the {devices} devices, got {expected}"
        ))
    }

    fn read_config(&self, cpus_count: u32) -> Result<(Config, String), Usage> {
        let path = self.config.display();
        let text = std::fs::read_to_string(&self.config)
            .map_err(|error| format!("{path}: cannot be read: {error}"))?;
        let (config, warnings) =
            Config::read(&text, cpus_count).map_err(|error| format!("{path}: {error}"))?;
        config
            .check_supported()
            .map_err(|error| format!("{path}: {error}"))?;
        for warning in warnings {
            complain(&format!("{path}: {warning}"));
        }
        Ok((config, text))
    }
}

fn random_seed() -> Result<u64, Usage> {
    let mut bytes = [0; 8];
    let source = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    source.map_err(|error| format!("/dev/urandom: cannot be read: {error}; give --seed"))?;
    Ok(u64::from_ne_bytes(bytes))
}
