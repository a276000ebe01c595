//! A preparation from beginning to end.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use serde_json::json;

use super::device::{self, PrepDevice};
use super::progress::{LiveOutput, ProgressReporter};
use super::progress::{Meter, MeterSample, bytes_per_s};
use super::sequential_fill::{self, DeviceFill};
use super::state::{self, State, StateError};
use super::steady_state::{self, DeviceRounds};
use super::workers::{self, StopFlag};
use super::{PassKind, PrepOptions, PrepOutcome, SteadyStateOptions, record};
use crate::clock::{Instant, Nanos};
use crate::device::Guard;
use crate::report::output::Outputs;
use crate::signals::Signals;

const PROGRESS: Nanos = Nanos::from_s(1);
/// Each time the devices are told to keep what they took, so that the state is never ahead of them.
const SAVE: Nanos = Nanos::from_s(5);

/// What is to be prepared, and how.
pub struct Prep<'a> {
    /// What to do.
    pub options: PrepOptions,
    /// The devices.
    pub names: &'a [String],
    /// What an earlier run of the same options did; its settings have been compared.
    pub resumed: Option<State>,
    /// Knows what the devices are.
    pub guard: &'a dyn Guard,
}

impl From<io::Error> for PrepOutcome {
    fn from(error: io::Error) -> Self {
        Self::Interrupted(format!("stopped: {error}"))
    }
}

impl From<StateError> for PrepOutcome {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Drive { .. } => Self::Refused(error.to_string()),
            _ => Self::Interrupted(error.to_string()),
        }
    }
}

impl Prep<'_> {
    /// Does it; nothing is written to any device before all of them were found fit.
    pub fn execute(self, signals: &Signals, outputs: &mut Outputs, live: LiveOutput) -> PrepOutcome {
        let mut reporter = ProgressReporter::new(outputs, live);
        let mut written = Written::new();
        let ended = self
            .run(signals, &mut reporter, &mut written)
            .unwrap_or_else(|ended| ended);
        reporter.clear_bar();
        match record::end(&mut reporter, &ended, &written) {
            Ok(()) => ended,
            Err(error) => {
                PrepOutcome::Interrupted(format!("the log or side file cannot be written: {error}"))
            }
        }
    }

    fn run(
        &self,
        signals: &Signals,
        reporter: &mut ProgressReporter<'_>,
        written: &mut Written,
    ) -> Result<PrepOutcome, PrepOutcome> {
        let devices = self.devices(reporter)?;
        let state = self.state(&devices);
        record::start(reporter, &self.options, self.resumed.as_ref(), &devices)?;
        let mut job = Job {
            options: &self.options,
            devices: &devices,
            state: state?,
            signals,
            reporter,
            written,
        };
        job.save()?;
        for (ordinal, kind) in self.options.passes.iter().enumerate().skip(job.state.passes_done) {
            job.pass(*kind)?;
            job.begin_pass(ordinal + 1)?;
        }
        let ended = match &self.options.steady {
            Some(steady) => job.steady(steady)?,
            None => PrepOutcome::Finished,
        };
        job.forget()?;
        Ok(ended)
    }

    fn devices(&self, reporter: &mut ProgressReporter<'_>) -> Result<Vec<PrepDevice>, PrepOutcome> {
        let opened = self.names.iter().enumerate();
        let opened = opened.map(|(ordinal, name)| device::open(self.guard, ordinal, name, &self.options));
        match opened.collect::<Result<Vec<_>, _>>() {
            Ok(devices) => Ok(devices),
            Err(unfit) => {
                record::start_refused(reporter, &self.options, self.names)?;
                Err(PrepOutcome::Refused(unfit.to_string()))
            }
        }
    }

    fn state(&self, devices: &[PrepDevice]) -> Result<State, PrepOutcome> {
        let there = devices.iter().map(|device| state::Device {
            path: device.name.clone(),
            place: device.place.clone(),
            done_bytes: 0,
        });
        let there: Vec<_> = there.collect();
        match (&self.resumed, &self.options.state) {
            (Some(state), Some(path)) => {
                state.check_drives(path, &there)?;
                Ok(state.clone())
            }
            _ => Ok(State::new(&self.options, there)),
        }
    }
}

/// What this run wrote, and since when.
#[derive(Debug)]
pub(super) struct Written {
    pub bytes: u64,
    begun: Instant,
}

impl Written {
    fn new() -> Self {
        Self {
            bytes: 0,
            begun: Instant::now(),
        }
    }

    /// Since the beginning.
    pub fn elapsed(&self) -> Nanos {
        Instant::now().since(self.begun)
    }
}

/// A preparation under way.
struct Job<'a, 'v> {
    options: &'a PrepOptions,
    devices: &'a [PrepDevice],
    state: State,
    signals: &'a Signals,
    reporter: &'a mut ProgressReporter<'v>,
    written: &'a mut Written,
}

impl Job<'_, '_> {
    fn pass(&mut self, kind: PassKind) -> Result<(), PrepOutcome> {
        for device in self.devices {
            self.reporter
                .log(&format!("{} device {}", kind.doing(), device.name))?;
        }
        let done = self.state.devices.iter().map(|device| device.done_bytes);
        let sized = self.devices.iter().zip(done);
        let fills: Vec<_> = sized
            .map(|(device, done)| DeviceFill::new(device.size_bytes, done, self.options))
            .collect();
        let begun = Instant::now();
        let worked = self.write_pass(kind, &fills);
        let bytes: u64 = fills.iter().map(DeviceFill::written_bytes).sum();
        self.written.bytes += bytes;
        // What was done is kept, however it ended.
        let kept = self.keep(&fills);
        worked.and(kept)?;
        let sentence = record::rate(bytes, Instant::now().since(begun));
        self.reporter.log(&format!("{} done: {sentence}", kind.doing()))?;
        Ok(())
    }

    fn write_pass(&mut self, kind: PassKind, fills: &[DeviceFill]) -> Result<(), PrepOutcome> {
        let (options, devices, stop) = (self.options, self.devices, StopFlag::default());
        let pairs = devices.iter().zip(fills).enumerate();
        let streams = pairs
            .flat_map(|(ordinal, pair)| (0..options.streams).map(move |stream| ((ordinal, stream), pair)));
        let workers = streams.map(|(place, pair)| {
            let stop = &stop;
            move || sequential_fill::write(kind, options, place, pair, stop)
        });
        let total_bytes = devices.iter().map(|device| device.size_bytes).sum();
        let done_bytes = |fills: &[DeviceFill]| fills.iter().map(DeviceFill::done_bytes).sum();
        let mut meter = Meter::new(Instant::now(), done_bytes(fills), total_bytes);
        let (mut told, mut saved) = (Instant::now(), Instant::now());
        workers::work(workers.collect(), &stop, || {
            self.heed_signals()?;
            let now = Instant::now();
            if now.since(told) >= PROGRESS {
                told = now;
                self.reporter
                    .progress(kind.name(), meter.read(now, done_bytes(fills)))?;
            }
            if now.since(saved) >= SAVE {
                saved = now;
                self.keep(fills)?;
            }
            Ok::<_, PrepOutcome>(())
        })?;
        self.failed(&stop)?;
        Ok(self
            .reporter
            .progress(kind.name(), meter.read(Instant::now(), done_bytes(fills)))?)
    }

    fn heed_signals(&self) -> Result<(), PrepOutcome> {
        let signal = self.signals.first();
        signal.map_or(Ok(()), |name| {
            Err(PrepOutcome::Interrupted(format!("stopped by signal {name}")))
        })
    }

    fn failed(&mut self, stop: &StopFlag) -> Result<(), PrepOutcome> {
        let Some(fault) = stop.fault() else { return Ok(()) };
        let [upstream, ours] = fault.lines();
        self.reporter.log(&upstream)?;
        Err(PrepOutcome::DeviceError(format!(
            "{}; {}",
            upstream.trim_start_matches("ERROR: "),
            ours.trim_start_matches("drivetest: ")
        )))
    }

    /// Has the devices keep what they took, then says so in the state.
    fn keep(&mut self, fills: &[DeviceFill]) -> Result<(), PrepOutcome> {
        let done: Vec<_> = fills.iter().map(DeviceFill::done_bytes).collect();
        for device in self.devices {
            let flushed = device.file.sync_data();
            flushed.map_err(|error| {
                PrepOutcome::DeviceError(format!("{}: cannot keep what it took: {error}", device.name))
            })?;
        }
        for (device, done_bytes) in self.state.devices.iter_mut().zip(done) {
            device.done_bytes = done_bytes;
        }
        self.save()
    }

    fn begin_pass(&mut self, passes_done: usize) -> Result<(), PrepOutcome> {
        self.state.passes_done = passes_done;
        for device in &mut self.state.devices {
            device.done_bytes = 0;
        }
        self.save()
    }

    fn save(&self) -> Result<(), PrepOutcome> {
        let path = self.options.state.as_deref();
        Ok(path.map_or(Ok(()), |path| self.state.save(path))?)
    }

    /// A state is of what is not finished.
    fn forget(&self) -> Result<(), PrepOutcome> {
        let removed = self.options.state.as_deref().map_or(Ok(()), std::fs::remove_file);
        removed
            .map_err(|error| PrepOutcome::Interrupted(format!("the state file cannot be removed: {error}")))
    }

    fn steady(&mut self, steady: &SteadyStateOptions) -> Result<PrepOutcome, PrepOutcome> {
        for device in self.devices {
            self.reporter
                .log(&format!("overwriting device {}", device.name))?;
        }
        let written: Vec<_> = self.devices.iter().map(|_| AtomicU64::new(0)).collect();
        let mut device_rounds: Vec<_> = self.devices.iter().map(DeviceRounds::of).collect();
        let worked = self.overwrite(steady, &written, &mut device_rounds);
        self.written.bytes += written.iter().map(|bytes| bytes.load(SeqCst)).sum::<u64>();
        for rounds_of_device in &device_rounds {
            self.reporter.log(rounds_of_device.table().trim_end())?;
        }
        if let Some(path) = &steady.report {
            write_report(path, steady, &device_rounds, self.options.seed)?;
        }
        worked?;
        let unsteady: Vec<_> = device_rounds
            .iter()
            .filter(|rounds_of_device| !rounds_of_device.is_steady())
            .map(|rounds_of_device| rounds_of_device.path.as_str())
            .collect();
        Ok(match unsteady.is_empty() {
            true => PrepOutcome::Finished,
            false => PrepOutcome::NotSteady(format!(
                "{}: not steady after {} rounds; ask for more rounds, or longer ones",
                unsteady.join(", "),
                steady.rounds_max
            )),
        })
    }

    fn overwrite(
        &mut self,
        steady: &SteadyStateOptions,
        written: &[AtomicU64],
        device_rounds: &mut [DeviceRounds],
    ) -> Result<(), PrepOutcome> {
        let (options, devices, stop) = (self.options, self.devices, StopFlag::default());
        let pairs = devices.iter().zip(written).enumerate();
        let offsets =
            pairs.flat_map(|(ordinal, pair)| (0..steady.depth).map(move |worker| ((ordinal, worker), pair)));
        let workers = offsets.map(|(place, (device, written))| {
            let stop = &stop;
            move || steady_state::overwrite(options, steady, place, device, written, stop)
        });
        let mut clock = RoundClock::new(steady, written);
        workers::work(workers.collect(), &stop, || {
            self.heed_signals()?;
            let now = Instant::now();
            if clock.ends_round(now, device_rounds) {
                record::rounds(self.reporter, device_rounds)?;
                let rounds_count = device_rounds
                    .first()
                    .map_or(0, |rounds_of_device| rounds_of_device.rounds.len());
                if device_rounds.iter().all(DeviceRounds::is_steady) || rounds_count >= steady.rounds_max {
                    stop.raise();
                }
            }
            if let Some(sample) = clock.sample(now) {
                self.reporter.progress("steady", sample)?;
            }
            Ok::<_, PrepOutcome>(())
        })?;
        self.failed(&stop)
    }
}

/// Cuts the counters into rounds.
struct RoundClock<'a> {
    steady: &'a SteadyStateOptions,
    written: &'a [AtomicU64],
    begun: Instant,
    before: Vec<u64>,
    told: (Instant, u64),
}

impl<'a> RoundClock<'a> {
    fn new(steady: &'a SteadyStateOptions, written: &'a [AtomicU64]) -> Self {
        let begun = Instant::now();
        Self {
            steady,
            written,
            begun,
            before: vec![0; written.len()],
            told: (begun, 0),
        }
    }

    /// Ends the round when its time is over; its real length counts.
    fn ends_round(&mut self, now: Instant, device_rounds: &mut [DeviceRounds]) -> bool {
        let elapsed = now.since(self.begun);
        if elapsed < Nanos::from_s(self.steady.round_s) {
            return false;
        }
        for ((rounds_of_device, before), written) in
            device_rounds.iter_mut().zip(&mut self.before).zip(self.written)
        {
            let all = written.load(SeqCst);
            rounds_of_device.add(all - *before, elapsed, self.steady.block_bytes);
            *before = all;
        }
        self.begun = now;
        true
    }

    /// Once a second; how much is to be written is not known beforehand.
    fn sample(&mut self, now: Instant) -> Option<MeterSample> {
        let (before, bytes) = self.told;
        if now.since(before) < PROGRESS {
            return None;
        }
        let all: u64 = self.written.iter().map(|written| written.load(SeqCst)).sum();
        self.told = (now, all);
        Some(MeterSample {
            done_bytes: all,
            total_bytes: None,
            bytes_per_s: bytes_per_s(all - bytes, now.since(before)),
            remaining_s: None,
        })
    }
}

fn write_report(
    path: &Path,
    steady: &SteadyStateOptions,
    device_rounds: &[DeviceRounds],
    seed: u64,
) -> Result<(), PrepOutcome> {
    let report = json!({
        "schema": "drivecert.steady-state/1",
        "program_version": env!("CARGO_PKG_VERSION"),
        "seed": seed,
        "block_bytes": steady.block_bytes,
        "depth": steady.depth,
        "round_s": steady.round_s,
        "rounds_max": steady.rounds_max,
        "is_steady": device_rounds.iter().all(DeviceRounds::is_steady),
        "devices": device_rounds,
    });
    let failed = |error| {
        PrepOutcome::Interrupted(format!(
            "{}: the report cannot be written: {error}",
            path.display()
        ))
    };
    std::fs::write(path, format!("{report:#}\n")).map_err(failed)
}
