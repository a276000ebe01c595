//! A load run from start to end.

use std::io;
use std::sync::Arc;

use drivetest_device::opening::OpenRefusal;
use drivetest_device::{Guard, Warning};
use serde_json::{Value, json};

use crate::Outcome;
use crate::config::Config;
use crate::device::{self, Device, OpenRequest};
use crate::engine::ring_cpus::RingCpus;
use crate::engine::setup::Setup;
use crate::engine::workers::RunContext;
use crate::engine::{self, Engine, EngineSelection};
use crate::host::Host;
use crate::prep::MeterSample;
use crate::progress::Snapshot;
use crate::report::header;
use crate::report::output::Outputs;
use crate::report::side::{End, RunTotals, Start};
use crate::report::summary::Summary;
use crate::schedule::stream::streams;
use crate::signals::Signals;
use crate::stats::collector::{Collector, RunEnd, loaded_devices};
use crate::stop::{StopReason, StopSignal};
use crate::telemetry::{Root, Telemetry};
use crate::tomb_raider::TombRaiders;

/// The end of a load.
pub struct LoadEnd {
    /// How it ended.
    pub outcome: Outcome,
    /// The end record of the side file.
    pub record: End,
    /// Its figures; None if it did not start.
    pub summary: Option<Summary>,
}

impl LoadEnd {
    fn not_started(outcome: Outcome) -> Self {
        let record = End::new(&outcome, &RunTotals::default());
        Self {
            outcome,
            record,
            summary: None,
        }
    }
}

/// A load run and its permissions.
pub struct LoadRun<'a> {
    /// A checked configuration.
    pub config: Config,
    /// The configuration file, byte for byte.
    pub config_file: &'a [u8],
    /// Seed of all random choices.
    pub seed: u64,
    /// Whether recognised data on the devices may be overwritten.
    pub may_destroy: bool,
    /// Identifies and checks the devices.
    pub guard: &'a dyn Guard,
}

impl LoadRun<'_> {
    /// Executes the run and writes its log and side file.
    pub fn execute(self, host: &Host, signals: &Signals, outputs: &mut Outputs) -> LoadEnd {
        let ended = self.run(host, signals, outputs);
        ended.unwrap_or_else(|error| LoadEnd::not_started(unwritten(&error)))
    }

    fn run(self, host: &Host, signals: &Signals, outputs: &mut Outputs) -> io::Result<LoadEnd> {
        let opening = header::opening(&self.config, host.cpus_count);
        // A person at a terminal sees a refusal alone. A file gets its header first, which a killed run leaves in it.
        if !outputs.is_at_terminal()
            && let Err(error) = outputs.log(&opening)
        {
            // Without a log nothing is run. The exit status and the side file still have the refusal of a device.
            return match self.inspect_all() {
                Err(refusal) => Ok(self.refuse(&refusal, host, outputs)),
                Ok(()) => Err(error),
            };
        }
        let devices = match self.open_devices(signals, outputs) {
            Ok(devices) => devices,
            Err(refusal) => return Ok(self.refuse(&refusal, host, outputs)),
        };
        if outputs.is_at_terminal() {
            outputs.log(&opening)?;
        }
        let context = Arc::new(RunContext::new(
            self.config.clone(),
            devices,
            self.seed,
            StopSignal::new()?,
        ));
        let identities = self.identities(&context.devices);
        let ring_cpus = ring_cpus(&identities, host);
        let choice = self.select_engine(&context.devices, &ring_cpus);
        let streams = streams(&self.config, context.length, self.seed, choice.engine.workers());
        outputs.log(&header::measured(&self.config, &context.devices, &choice))?;
        let warnings = self.guard.warnings(limit_celsius(&self.config));
        let mut setup = Setup::apply(&Root::host(), &choice, &ring_cpus);
        let prepared = engine::prepare(&context, &streams, choice.engine, &ring_cpus, &mut setup);
        outputs.side(&Start::new(
            &self,
            Some(&choice),
            host,
            &identities,
            &warnings,
            Some(&setup),
        ))?;
        outputs.print_status(&warning_lines(&warnings));
        let telemetry = Telemetry::of(&Root::host(), &loaded_devices(&context.devices));
        let started = prepared.and_then(|prepared| {
            let tomb_raiders = TombRaiders::prepare(&context)?;
            Ok((prepared.start(&context)?, tomb_raiders))
        });
        let ((start, engine_counters), tomb_raiders) = match started {
            Ok(started) => started,
            Err(error) => return Ok(self.cannot_start(choice.engine, &error, outputs)),
        };
        tomb_raiders.begin(start);
        let mut end =
            Collector::new(&context, &streams, signals, start, telemetry, engine_counters).run(outputs);
        end.totals.tomb_raider_reads_count = tomb_raiders.reads_count();
        Ok(finish(end, &context, outputs))
    }

    fn open_devices(&self, signals: &Signals, outputs: &Outputs) -> Result<Vec<Device>, OpenRefusal> {
        let signal = || signals.first();
        let progress = |sample| outputs.show(Snapshot::Prep("fill", sample));
        let request = self.open_request(&signal, &progress);
        // Check all devices before opening any, because plain files are filled when they are opened.
        self.check_all()?;
        let mut devices: Vec<Device> = Vec::new();
        for (ordinal, name) in self.config.device_names.iter().enumerate() {
            // Like upstream, accept a name twice. A second exclusive open of the same device would fail.
            let same = devices.iter().find(|device| device.name == *name);
            devices.push(match same {
                Some(device) => device.duplicate()?,
                None => device::open(&request, ordinal, name)?,
            });
        }
        Ok(devices)
    }

    /// Checks the use and the identity of all devices.
    pub(crate) fn check_all(&self) -> Result<(), OpenRefusal> {
        (0..self.config.device_names.len()).try_for_each(|ordinal| self.guard.check(ordinal))
    }

    pub(crate) fn open_request<'a>(
        &'a self,
        signal: &'a dyn Fn() -> Option<&'static str>,
        progress: &'a dyn Fn(MeterSample),
    ) -> OpenRequest<'a> {
        OpenRequest {
            config: &self.config,
            may_destroy: self.may_destroy,
            guard: self.guard,
            signal,
            progress,
        }
    }

    /// Selects the engine that suits the devices at the total rate of all streams.
    pub(crate) fn select_engine(&self, devices: &[Device], ring_cpus: &RingCpus) -> EngineSelection {
        let per_s = self.config.rates().iter().map(|(_, rate)| rate.per_s()).sum();
        engine::select(&self.config, devices, per_s, ring_cpus)
    }

    pub(crate) fn identities(&self, devices: &[Device]) -> Vec<Value> {
        let plain = |device: &Device| json!({"path": device.name, "size_bytes": device.size_bytes, "minimum_io_bytes": device.minimum_io_bytes});
        let identity = |(ordinal, device): (usize, &Device)| {
            let known = self.guard.identity(ordinal, &device.file);
            known
                .and_then(|identity| serde_json::to_value(identity).ok())
                .unwrap_or_else(|| plain(device))
        };
        devices.iter().enumerate().map(identity).collect()
    }

    /// Records a refusal, which is the result even if an output cannot be written.
    fn refuse(&self, refusal: &OpenRefusal, host: &Host, outputs: &mut Outputs) -> LoadEnd {
        let names = self.config.device_names.iter();
        let devices: Vec<Value> = names.map(|name| json!({"path": name})).collect();
        let started = outputs.side(&Start::new(self, None, host, &devices, &[], None));
        let (log_lines, outcome) = match refusal {
            OpenRefusal::Interrupted(signal) => (
                header::stopped(StopReason::Signal(signal)),
                Outcome::Interrupted(refusal.to_string()),
            ),
            _ => (header::refused(refusal), Outcome::Refused(refusal.to_string())),
        };
        end_refused(outcome, started, &log_lines, outputs)
    }

    fn cannot_start(&self, engine: Engine, error: &io::Error, outputs: &mut Outputs) -> LoadEnd {
        let threads = self.config.service_threads;
        let text = match engine {
            Engine::Threads => {
                format!(
                    "this host cannot start {threads} service threads and the threads for large blocks: {error}; reduce service-threads"
                )
            }
            Engine::IoUring { workers } => {
                format!("this host provides no io_uring for {workers} workers: {error}; try engine: threads")
            }
        };
        let log_lines = format!("ERROR: create service thread\ndrivetest: refused: {text}\n");
        end_refused(Outcome::Refused(text), Ok(()), &log_lines, outputs)
    }
}

/// Returns the processors for the rings of a load on these devices.
pub(crate) fn ring_cpus(identities: &[Value], host: &Host) -> RingCpus {
    let nodes = identities.iter().map(|identity| identity["numa_node"].as_u64());
    RingCpus::select(&Root::host(), &nodes.collect::<Vec<_>>(), host.cpus_count)
}

/// Writes the end of a load that did not start. At a terminal, the caller prints the reason on standard error.
fn end_refused(outcome: Outcome, started: io::Result<()>, log_lines: &str, outputs: &mut Outputs) -> LoadEnd {
    let logged = match outputs.is_at_terminal() {
        true => Ok(()),
        false => outputs.log(log_lines),
    };
    let end = LoadEnd::not_started(outcome);
    let recorded = outputs.side(&end.record);
    outputs.warn_unless_written(started.and(logged).and(recorded));
    end
}

fn unwritten(error: &io::Error) -> Outcome {
    Outcome::Interrupted(format!("the log or side file cannot be written: {error}"))
}

fn warning_lines(warnings: &[Warning]) -> String {
    let line = |warning: &Warning| format!("drivetest: warning: {} ({})\n", warning.sentence, warning.id);
    warnings.iter().map(line).collect()
}

/// Returns the configured temperature limit. None means the limits of the drives.
pub(crate) fn limit_celsius(config: &Config) -> Option<u32> {
    Some(config.temperature_limit_c).filter(|limit| *limit > 0)
}

/// Joins the log's lines into one line, without the `drivetest: ` prefix. The caller adds a prefix of its own.
fn joined_lines(lines: &str) -> String {
    let sentence = |line: &'_ str| line.strip_prefix("drivetest: ").unwrap_or(line).to_owned();
    lines.lines().map(sentence).collect::<Vec<_>>().join("; ")
}

fn finish(end: RunEnd, context: &RunContext, outputs: &mut Outputs) -> LoadEnd {
    let stopped = end.stop_reason.map(header::stopped).unwrap_or_default();
    let log_lines = header::failures(&context.io_errors, &context.devices) + &stopped;
    let text = match end.stop_reason {
        Some(StopReason::Device(failed_request)) => {
            let ordinal = context.io_errors.total() as usize;
            header::failed(ordinal, failed_request, &context.devices) + &stopped
        }
        _ => stopped,
    };
    let text = joined_lines(&text);
    let outcome = match end.stop_reason {
        None => Outcome::Finished,
        Some(StopReason::Lag(_) | StopReason::NoResponse) => Outcome::Overloaded(text),
        Some(StopReason::Device(_)) => Outcome::DeviceError(text),
        Some(StopReason::Signal(_) | StopReason::Output | StopReason::Ring(_)) => Outcome::Interrupted(text),
    };
    let logged = outputs.log(&(log_lines + &header::rate_not_sustained(end.totals.rate_check.as_ref())));
    let record = End::new(&outcome, &end.totals);
    // The side file may be on another disk than the log, so it is written even if the log is full.
    let outcome = match outputs.side(&record).and(logged) {
        Err(error) if matches!(end.stop_reason, None | Some(StopReason::Output)) => unwritten(&error),
        // The stop is the result.
        written => {
            outputs.warn_unless_written(written);
            outcome
        }
    };
    let limit_celsius = limit_celsius(&context.config).map(f64::from);
    LoadEnd {
        outcome,
        record,
        summary: Some(Summary { end, limit_celsius }),
    }
}
