//! One load from beginning to end.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::collector::{Collector, Ending, named};
use crate::config::Config;
use crate::crew::Shared;
use crate::device::{self, Device, Guard, Refusal, Wishes};
use crate::engine::{self, Choice, Engine};
use crate::host::Host;
use crate::raid::Raid;
use crate::report::block::names;
use crate::report::header;
use crate::report::output::Outputs;
use crate::report::side::{End, Plan, Ran, Request, Start, Warning};
use crate::report::summary::Summary;
use crate::signals::Signals;
use crate::stop::{Cause, Stop};
use crate::stream::streams;
use crate::telemetry::{Root, Telemetry};

/// What is to be run, and what it may do.
pub struct Order<'a> {
    /// Checked and supported.
    pub config: Config,
    /// The configuration file, byte for byte.
    pub config_file: &'a [u8],
    /// All random choices follow from it.
    pub seed: u64,
    /// Whether recognised data on the devices may be overwritten.
    pub may_destroy: bool,
    /// Knows what the devices are.
    pub guard: &'a dyn Guard,
}

/// How a run ended, with the sentence that tells it.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Ran its whole time.
    Finished,
    /// A device was refused, or the host cannot run it; nothing was loaded.
    Refused(String),
    /// A request failed.
    DeviceError(String),
    /// The drive, or the host, cannot keep up with the load.
    CannotKeepUp(String),
    /// A signal came, or the log could not be written.
    Interrupted(String),
}

impl Order<'_> {
    /// Runs the load.
    pub fn carry_out(self, host: &Host, signals: &Signals, outputs: &mut Outputs) -> Outcome {
        match self.run(host, signals, outputs) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Interrupted(format!("the log or side file cannot be written: {error}")),
        }
    }

    fn run(self, host: &Host, signals: &Signals, outputs: &mut Outputs) -> io::Result<Outcome> {
        outputs.log(&header::opening(&self.config, host.cpus_count))?;
        let devices = match self.open_devices(signals) {
            Ok(devices) => devices,
            Err(refusal) => return self.refuse(&refusal, host, outputs),
        };
        let shared = Arc::new(Shared::new(self.config.clone(), devices, self.seed, Stop::new()?));
        let choice = self.choose(&shared.devices, host);
        let streams = streams(&self.config, shared.length, self.seed, choice.engine.workers());
        let names = names(&self.config);
        outputs.log(&header::measured(
            self.config.model,
            &shared.devices,
            &choice,
            &names,
        ))?;
        let warnings = self.guard.warnings(limit_celsius(&self.config));
        outputs.side(&Start::new(
            self.request(),
            &Plan::of(&self.config, Some(&choice)),
            host,
            &self.identities(&shared.devices),
            &warnings,
        ))?;
        outputs.tell(&warned(&warnings));
        let telemetry = Telemetry::of(&Root::host(), &named(&shared.devices));
        let begun = Raid::prepare(&shared)
            .and_then(|raid| Ok((engine::start(&shared, &streams, choice.engine)?, raid)));
        let (start, raid) = match begun {
            Ok(begun) => begun,
            Err(error) => return self.cannot_start(choice.engine, &error, outputs),
        };
        raid.begin(start);
        let mut ending = Collector::new(&shared, &streams, signals, start, names, telemetry).run(outputs);
        ending.ran.raided_count = raid.reads_count();
        finish(&ending, &shared, outputs)
    }

    fn open_devices(&self, signals: &Signals) -> Result<Vec<Device>, Refusal> {
        let wishes = Wishes {
            config: &self.config,
            may_destroy: self.may_destroy,
            guard: self.guard,
            signal: &|| signals.first(),
        };
        // All of them before any: files are filled as they are opened.
        let mut refusals =
            (0..self.config.device_names.len()).filter_map(|ordinal| self.guard.refusal(ordinal));
        if let Some(sentence) = refusals.next() {
            return Err(Refusal::Unsafe(sentence));
        }
        let mut devices: Vec<Device> = Vec::new();
        for (ordinal, name) in self.config.device_names.iter().enumerate() {
            // Upstream lets a name stand twice; a second open of its own would find the device held by the first.
            let same = devices.iter().find(|device| device.name == *name);
            devices.push(match same {
                Some(device) => device.again()?,
                None => device::open(&wishes, ordinal, name)?,
            });
        }
        Ok(devices)
    }

    fn request(&self) -> Request<'_> {
        Request {
            config: &self.config,
            config_file: self.config_file,
            seed: self.seed,
        }
    }

    /// The engine that suits the devices at the rate of all streams together.
    fn choose(&self, devices: &[Device], host: &Host) -> Choice {
        let per_s = self.config.rates().iter().map(|(_, rate)| rate.per_s()).sum();
        engine::choose(&self.config, devices, per_s, host.cpus_count as usize)
    }

    fn identities(&self, devices: &[Device]) -> Vec<Value> {
        let plain = |device: &Device| json!({"path": device.name, "size_bytes": device.size_bytes, "minimum_io_bytes": device.minimum_io_bytes});
        let identity = |(ordinal, device): (usize, &Device)| {
            let known = self.guard.identity(ordinal, &device.file);
            known.unwrap_or_else(|| plain(device))
        };
        devices.iter().enumerate().map(identity).collect()
    }

    fn refuse(&self, refusal: &Refusal, host: &Host, outputs: &mut Outputs) -> io::Result<Outcome> {
        let named: Vec<Value> = self
            .config
            .device_names
            .iter()
            .map(|name| json!({"path": name}))
            .collect();
        outputs.side(&Start::new(
            self.request(),
            &Plan::of(&self.config, None),
            host,
            &named,
            &[],
        ))?;
        let (words, outcome) = match refusal {
            Refusal::Interrupted(signal) => (
                header::stopped(Cause::Signal(signal)),
                Outcome::Interrupted(refusal.to_string()),
            ),
            _ => (header::refused(refusal), Outcome::Refused(refusal.to_string())),
        };
        outputs.log(&words)?;
        outputs.side(&never_started(&outcome))?;
        Ok(outcome)
    }

    fn cannot_start(&self, engine: Engine, error: &io::Error, outputs: &mut Outputs) -> io::Result<Outcome> {
        let threads = self.config.service_threads;
        let text = match engine {
            Engine::Threads => {
                format!(
                    "this host cannot start {threads} service threads and those for large blocks: {error}; give fewer service-threads"
                )
            }
            Engine::IoUring { workers } => {
                format!(
                    "this host gives no io_uring for each of {workers} workers: {error}; try engine: threads"
                )
            }
        };
        outputs.log(&format!(
            "ERROR: create service thread\ndrivetest: refused: {text}\n"
        ))?;
        let outcome = Outcome::Refused(text);
        outputs.side(&never_started(&outcome))?;
        Ok(outcome)
    }
}

impl Outcome {
    /// The side file's word for it, and the sentence.
    fn reason(&self) -> (&'static str, &str) {
        match self {
            Self::Finished => ("finished", ""),
            Self::Refused(text) => ("refused", text),
            Self::DeviceError(text) => ("device-error", text),
            Self::CannotKeepUp(text) => ("lag", text),
            Self::Interrupted(text) => ("interrupted", text),
        }
    }
}

fn never_started(outcome: &Outcome) -> End {
    let (reason, text) = outcome.reason();
    End::new(reason, text, &Ran::default())
}

fn warned(warnings: &[Warning]) -> String {
    let line = |warning: &Warning| format!("drivetest: warning: {} ({})\n", warning.sentence, warning.id);
    warnings.iter().map(line).collect()
}

/// None leaves the drives' own limits.
fn limit_celsius(config: &Config) -> Option<u32> {
    Some(config.temperature_limit_c).filter(|limit| *limit > 0)
}

fn summary(reason: &str, text: &str, ending: &Ending, config: &Config) -> String {
    let limit = limit_celsius(config).map(f64::from);
    Summary::of(reason, text, ending).with_limit(limit).to_string()
}

/// The log's lines in one, without the mark that each of ours bears there: whoever tells them puts a mark of its own first.
fn sentences(lines: &str) -> String {
    let sentence = |line: &'_ str| line.strip_prefix("drivetest: ").unwrap_or(line).to_owned();
    lines.lines().map(sentence).collect::<Vec<_>>().join("; ")
}

fn finish(ending: &Ending, shared: &Shared, outputs: &mut Outputs) -> io::Result<Outcome> {
    let stopped = ending.cause.map(header::stopped).unwrap_or_default();
    let words = header::failures(&shared.faults, &shared.devices) + &stopped;
    let text = match ending.cause {
        Some(Cause::Device(fault)) => {
            let ordinal = shared.faults.total() as usize;
            header::failed(ordinal, fault, &shared.devices) + &stopped
        }
        _ => stopped,
    };
    let text = sentences(&text);
    let outcome = match ending.cause {
        None => Outcome::Finished,
        Some(Cause::Lag(_) | Cause::Silence) => Outcome::CannotKeepUp(text),
        Some(Cause::Device(_)) => Outcome::DeviceError(text),
        Some(Cause::Signal(_) | Cause::Output | Cause::Ring(_)) => Outcome::Interrupted(text),
    };
    let (reason, text) = outcome.reason();
    let logged = outputs.log(&(words + &header::not_held(ending.ran.held.as_ref())));
    // The side file may lie on another disk than the log: it is told even when the log is full.
    let told = outputs.side(&End::new(reason, text, &ending.ran));
    outputs.tell(&summary(reason, text, ending, &shared.config));
    told.and(logged)?;
    Ok(outcome)
}
