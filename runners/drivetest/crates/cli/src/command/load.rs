//! What `drivetest storage` and `drivetest index` share: options, a run from configuration to exit status.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_load::config::{self, Config, Model};
use drivetest_load::host::Host;
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;
use drivetest_load::{LoadRun, Outcome};

use super::log_file::complain;
use super::looked_at::LookedAt;

/// The options of a load.
#[derive(clap::Args)]
pub struct LoadArgs {
    /// Configuration file, with the keys of ACT 6.6
    config: PathBuf,
    /// Write the log here instead of to standard output
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Write identity, intervals and exact figures here (also whether the rates were held: exit status 0 says only that the
    /// load ran its whole time), as JSON lines
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

impl LoadArgs {
    /// Runs the load of that model; the exit status tells how it ended.
    pub fn run(self, model: Model) -> ExitCode {
        let (status, text) = match self.carry_out(model) {
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

    fn carry_out(self, model: Model) -> Result<Outcome, Usage> {
        let host = Host::here();
        let (config, config_file) = self.read_config(model, host.cpus_count)?;
        self.check_expected(&config)?;
        let mut outputs =
            Outputs::open(self.log.as_deref(), self.side_file.as_deref()).map_err(|e| e.to_string())?;
        let signals = Signals::watch().map_err(|error| format!("signals cannot be watched: {error}"))?;
        let seed = self.seed.map_or_else(random_seed, Ok)?;
        let looked_at = LookedAt::before_opening(&config, &self.expect_drive);
        let run = LoadRun {
            config,
            config_file: &config_file,
            seed,
            may_destroy: self.i_know_this_destroys_data,
            guard: &looked_at,
        };
        Ok(run.execute(&host, &signals, &mut outputs))
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

    fn read_config(&self, model: Model, cpus_count: u32) -> Result<(Config, Vec<u8>), Usage> {
        let path = self.config.display();
        let bytes =
            read_beginning(&self.config).map_err(|error| format!("{path}: cannot be read: {error}"))?;
        let text = config::text(&bytes).map_err(|error| format!("{path}: {error}"))?;
        let (config, warnings) =
            Config::read_of(model, &text, cpus_count).map_err(|error| format!("{path}: {error}"))?;
        for warning in warnings {
            complain(&format!("{path}: {warning}"));
        }
        Ok((config, bytes))
    }
}

/// Reads a file up to one byte more than a configuration may have: a device named by mistake does not fill the memory.
fn read_beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = config::MOST_BYTES as u64 + 1;
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes random choices unlike those of any other run.
///
/// # Errors
/// When the system gives no random bits.
pub fn random_seed() -> Result<u64, Usage> {
    let mut bytes = [0; 8];
    let source = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    source.map_err(|error| format!("/dev/urandom: cannot be read: {error}; give --seed"))?;
    Ok(u64::from_ne_bytes(bytes))
}
