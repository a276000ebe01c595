//! `drivetest storage`: the ACT storage load.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_device::Refusal;
use drivetest_load::config::Config;
use drivetest_load::host::Host;
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;
use drivetest_load::{Order, Outcome};
use serde_json::Value;

use super::log_file::complain;

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
        let mut outputs =
            Outputs::open(self.log.as_deref(), self.side_file.as_deref()).map_err(|e| e.to_string())?;
        let signals = Signals::watch().map_err(|error| format!("signals cannot be watched: {error}"))?;
        let seed = self.seed.map_or_else(random_seed, Ok)?;
        let looked_at = LookedAt::before_opening(&config);
        let order = Order {
            config,
            config_text: &config_text,
            seed,
            may_destroy: self.i_know_this_destroys_data,
            refusal: &|path| looked_at.refusal(path),
            identity: &|path| looked_at.identity(path),
        };
        Ok(order.carry_out(&host, &signals, &mut outputs))
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

/// What the devices are and whether they may be written to, found out before the first of them is opened: an exclusive
/// open of our own would look like somebody else's.
struct LookedAt(HashMap<PathBuf, (Option<String>, Option<Value>)>);

impl LookedAt {
    fn before_opening(config: &Config) -> Self {
        let writes = config.writes_per_s > 0;
        let look = |name: &String| (PathBuf::from(name), look_at(Path::new(name), writes));
        Self(config.device_names.iter().map(look).collect())
    }

    fn refusal(&self, path: &Path) -> Option<String> {
        self.0.get(path)?.0.clone()
    }

    fn identity(&self, path: &Path) -> Option<Value> {
        self.0.get(path)?.1.clone()
    }
}

/// The first reason to leave a device alone, and its identity record; of what is neither a block device nor a file (yet),
/// neither: the load itself has the words for that.
fn look_at(path: &Path, writes: bool) -> (Option<String>, Option<Value>) {
    let is_drive = |found: Metadata| found.is_file() || found.file_type().is_block_device();
    if !path.metadata().is_ok_and(is_drive) {
        return (None, None);
    }
    match drivetest_device::identify(path) {
        Ok(identity) => {
            let counts = |refusal: &&Refusal| writes || refusal.id != "read-only";
            let refused = identity.refusals.iter().find(counts);
            let sentence = refused.map(|refusal| refusal.sentence.clone());
            (sentence, serde_json::to_value(&identity).ok())
        }
        Err(error) => (Some(error.to_string()), None),
    }
}

fn random_seed() -> Result<u64, Usage> {
    let mut bytes = [0; 8];
    let source = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    source.map_err(|error| format!("/dev/urandom: cannot be read: {error}; give --seed"))?;
    Ok(u64::from_ne_bytes(bytes))
}
