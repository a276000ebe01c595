//! One load from beginning to end.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::clock::Nanos;
use crate::collector::{Collector, Ending};
use crate::config::Config;
use crate::crew::Shared;
use crate::device::{self, Device, Guard, Refusal, Wishes};
use crate::engine::{self, Choice, Engine};
use crate::host::Host;
use crate::raid::Raid;
use crate::recorder::Tally;
use crate::report::block::names;
use crate::report::header;
use crate::report::output::Outputs;
use crate::report::side::{End, Start, Totals};
use crate::signals::Signals;
use crate::stop::{Cause, Stop};
use crate::stream::streams;

/// What is to be run, and what it may do.
pub struct Order<'a> {
    /// Checked and supported.
    pub config: Config,
    /// The configuration as typed.
    pub config_text: &'a str,
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
        outputs.side(&self.start_record(host, &self.identities(&shared.devices), Some(&choice)))?;
        let raid = Raid::prepare(&shared);
        let start = match raid.and_then(|raid| Ok((engine::start(&shared, &streams, choice.engine)?, raid))) {
            Ok((start, raid)) => {
                raid.begin(start);
                start
            }
            Err(error) => return self.cannot_start(choice.engine, &error, outputs),
        };
        let ending = Collector::new(&shared, &streams, signals, start, names).run(outputs);
        finish(&ending, &shared, outputs)
    }

    fn open_devices(&self, signals: &Signals) -> Result<Vec<Device>, Refusal> {
        let wishes = Wishes {
            config: &self.config,
            may_destroy: self.may_destroy,
            guard: self.guard,
            signal: &|| signals.first(),
        };
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

    /// The engine that suits the devices at the rate of all streams together.
    fn choose(&self, devices: &[Device], host: &Host) -> Choice {
        let per_s = self.config.rates().iter().map(|(_, rate)| rate.per_s()).sum();
        engine::choose(&self.config, devices, per_s, host.cpus_count as usize)
    }

    fn start_record<'b>(
        &'b self,
        host: &'b Host,
        devices: &'b [Value],
        choice: Option<&Choice>,
    ) -> Start<'b> {
        Start::new(&self.config, self.config_text, self.seed, host, devices, choice)
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
        outputs.side(&self.start_record(host, &named, None))?;
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
                format!("this host starts no {threads} service threads and those for large blocks: {error}")
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
    End::new(reason, text, Nanos(0), Totals::default(), &Tally::default())
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
    let text = text.trim_end().replace('\n', "; ");
    let outcome = match ending.cause {
        None => Outcome::Finished,
        Some(Cause::Lag(_) | Cause::Silence) => Outcome::CannotKeepUp(text),
        Some(Cause::Device(_)) => Outcome::DeviceError(text),
        Some(Cause::Signal(_) | Cause::Output | Cause::Ring(_)) => Outcome::Interrupted(text),
    };
    let (reason, text) = outcome.reason();
    let logged = outputs.log(&words);
    // The side file may lie on another disk than the log: it is told even when the log is full.
    outputs
        .side(&End::new(
            reason,
            text,
            ending.elapsed,
            ending.totals,
            &ending.reads,
        ))
        .and(logged)?;
    Ok(outcome)
}
