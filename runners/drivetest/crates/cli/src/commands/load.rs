//! Loads in the foreground: `drivetest storage` and `drivetest index` put the load of act_storage or act_index on drives.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_device::DeviceGuard;
use drivetest_load::config::{self, Config, Model};
use drivetest_load::host::Host;
use drivetest_load::report::output::{self, Outputs};
use drivetest_load::signals::Signals;
use drivetest_load::{LoadEnd, LoadRun, Outcome};
use drivetest_logs::judge::profile::{Limit, Profile};

use super::dry_run::DryRun;
use crate::input::read_log;
use crate::output::{
    EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OVERLOADED, EXIT_REFUSED, EXIT_USAGE, print_and_exit,
    print_diagnostic, print_json, print_status,
};
use crate::render::colours::Colours;
use crate::render::load_summary::LoadSummary;
use crate::render::progress::TerminalProgress;

/// Options of both loads.
#[derive(clap::Args)]
pub struct Args {
    /// Configuration file of the load, with the keys of ACT 6.6
    config: PathBuf,
    /// File for the log of the run [default: standard output]
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// File for the identity of the devices, the figures of each interval and of the whole run, and whether the rates
    /// were sustained, as JSON lines
    #[arg(long, value_name = "FILE")]
    side_file: Option<PathBuf>,
    /// Seed of the run's random choices: the same seed repeats the same choices [default: a random seed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Drive key that a device must have, as `drivetest identify` prints it; the load refuses any other drive. Repeat
    /// --expect-drive for each device, in the order of the configuration
    #[arg(long, value_name = "KEY")]
    expect_drive: Vec<String>,
    /// Allow the load to overwrite devices that hold file systems or partition tables, and files whose size differs
    /// from file-size-mbytes
    #[arg(long)]
    i_know_this_destroys_data: bool,
    /// Print the configuration, the devices with their safety checks, the rates and the engine, and stop; nothing is
    /// written
    #[arg(long)]
    dry_run: bool,
    /// Print the summary of the load or of the dry run as one line of JSON, as docs/reference/formats.md describes. A
    /// load needs --log for that, because the log goes to standard output otherwise
    #[arg(long)]
    json: bool,
}

/// Why the command line or the configuration is invalid.
pub type UsageError = String;

impl Args {
    /// Runs the load of a model and returns its exit code.
    pub fn run(self, model: Model) -> ExitCode {
        let ended = match self.dry_run {
            true => self.show_dry_run(model),
            false => self.execute(model).map(|end| self.summarise(model, &end)),
        };
        ended.unwrap_or_else(|error| {
            print_diagnostic(&error);
            ExitCode::from(EXIT_USAGE)
        })
    }

    fn execute(&self, model: Model) -> Result<LoadEnd, UsageError> {
        if self.json && self.log.is_none() {
            return Err(
                "--json: expected --log FILE or --dry-run, because the log goes to standard output"
                    .to_owned(),
            );
        }
        let host = Host::here();
        let (config, config_file, warnings) = self.read_config(model, host.cpus_count)?;
        for warning in warnings {
            print_diagnostic(&warning);
        }
        check_expected(&self.expect_drive, &config.device_names)?;
        let mut outputs =
            Outputs::open(self.log.as_deref(), self.side_file.as_deref()).map_err(|e| e.to_string())?;
        let signals = Signals::watch().map_err(|error| format!("cannot watch signals: {error}"))?;
        let seed = self.seed.map_or_else(random_seed, Ok)?;
        let guard = DeviceGuard::observe(&config.device_names, config.has_writes(), &self.expect_drive);
        let run = LoadRun {
            config,
            config_file: &config_file,
            seed,
            may_destroy: self.i_know_this_destroys_data,
            guard: &guard,
        };
        // The thread that draws must not receive signals, so it is started after they are blocked.
        outputs.set_view(TerminalProgress::start(model.name(), default_limits(model)));
        Ok(run.execute(&host, &signals, &mut outputs))
    }

    /// Prints the summary of a load, and its reason if it is not in the summary. Returns the exit code.
    fn summarise(&self, model: Model, end: &LoadEnd) -> ExitCode {
        let (exit_status, message) = (exit_code(&end.outcome), end.outcome.reason().1);
        let log = self.log.as_deref().filter(|_| end.summary.is_some());
        let verdict = log.and_then(|log| read_log::default_verdict(log, self.side_file.as_deref()));
        let summary = LoadSummary {
            end,
            exit_status,
            verdict,
            limits: &default_limits(model),
            log: self.log.as_deref(),
            side_file: self.side_file.as_deref(),
        };
        let text = summary.text(Colours::of(&io::stderr()));
        print_status(text.as_deref().unwrap_or_default());
        let code = match self.json {
            true => print_json(&summary.document(), exit_status),
            false => ExitCode::from(exit_status),
        };
        // In a file, the last line of standard error is the reason. A person has just read it.
        if exit_status != 0 && !(text.is_some() && io::stderr().is_terminal()) {
            print_diagnostic(&message);
        }
        code
    }

    /// Prints what the load would do. The exit code is that of a refusal, or 0.
    fn show_dry_run(&self, model: Model) -> Result<ExitCode, UsageError> {
        let host = Host::here();
        let (config, config_file, config_warnings) = self.read_config(model, host.cpus_count)?;
        check_expected(&self.expect_drive, &config.device_names)?;
        for path in [&self.log, &self.side_file].into_iter().flatten() {
            output::check(path).map_err(|error| error.to_string())?;
        }
        let guard = DeviceGuard::observe(&config.device_names, config.has_writes(), &self.expect_drive);
        let run = LoadRun {
            config,
            config_file: &config_file,
            // No request is sent, so there are no random choices.
            seed: 0,
            may_destroy: self.i_know_this_destroys_data,
            guard: &guard,
        };
        let preview = run.preview(&host);
        let code = if preview.refusal.is_some() {
            EXIT_REFUSED
        } else {
            0
        };
        let dry_run = DryRun {
            config_path: &self.config,
            config_warnings: &config_warnings,
            config: &run.config,
            preview: &preview,
            host: &host,
            log: self.log.as_deref(),
            side_file: self.side_file.as_deref(),
        };
        if self.json {
            return Ok(print_json(&dry_run.document(), code));
        }
        for warning in &config_warnings {
            print_diagnostic(warning);
        }
        Ok(print_and_exit(&dry_run.text(), code))
    }

    /// Returns the configuration, its file byte for byte, and warnings about it.
    fn read_config(
        &self,
        model: Model,
        cpus_count: u32,
    ) -> Result<(Config, Vec<u8>, Vec<String>), UsageError> {
        let path = self.config.display();
        let bytes = read_bounded(&self.config).map_err(|error| format!("{path}: cannot be read: {error}"))?;
        let text = config::text(&bytes).map_err(|error| format!("{path}: {error}"))?;
        let (config, warnings) =
            Config::read_of(model, &text, cpus_count).map_err(|error| format!("{path}: {error}"))?;
        let warnings = warnings.iter().map(|warning| format!("{path}: {warning}"));
        Ok((config, bytes, warnings.collect()))
    }
}

/// Returns the limits of the default profile. They do not apply to index loads.
fn default_limits(model: Model) -> Vec<Limit> {
    let profile = Profile::default_profile().filter(|_| model == Model::Storage);
    profile.map_or_else(Vec::new, |profile| profile.rules.limits)
}

/// Reads a file up to one byte above the size limit of a configuration. A device given by mistake would fill the memory.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit_bytes = config::MOST_BYTES as u64 + 1;
    File::open(path)?.take(limit_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a random seed.
///
/// # Errors
/// If the system provides no random bits.
pub fn random_seed() -> Result<u64, UsageError> {
    let mut bytes = [0; 8];
    let source = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    source.map_err(|error| format!("/dev/urandom: cannot be read: {error}; use --seed"))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Checks that `--expect-drive` is absent, or given once per device.
///
/// # Errors
/// If the numbers differ.
pub fn check_expected(keys: &[String], devices: &[String]) -> Result<(), UsageError> {
    let (expected, devices) = (keys.len(), devices.len());
    if expected == 0 || expected == devices {
        return Ok(());
    }
    Err(format!(
        "--expect-drive: expected one per device ({devices}), got {expected}"
    ))
}

/// Returns the exit code of a load or a preparation.
pub fn exit_code(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Finished => 0,
        Outcome::NotSteady(_) => EXIT_FAILED,
        Outcome::Refused(_) => EXIT_REFUSED,
        Outcome::DeviceError(_) => EXIT_ERROR,
        Outcome::Overloaded(_) => EXIT_OVERLOADED,
        Outcome::Interrupted(_) => EXIT_INTERRUPTED,
    }
}
