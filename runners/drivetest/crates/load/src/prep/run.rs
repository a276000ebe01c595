//! A preparation from start to end.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use drivetest_device::Guard;
use serde_json::json;

use super::device::{self, PrepDevice};
use super::progress::{LiveOutput, Meter, MeterSample, ProgressReporter, bytes_per_s};
use super::sequential_fill::{self, DeviceFill};
use super::state::{self, State, StateError, StateProblem};
use super::steady_state::{self, DeviceRounds};
use super::workers::{self, StopFlag};
use super::{PassKind, PrepOptions, SteadyStateOptions, record};
use crate::clock::{Instant, Nanos};
use crate::outcome::Outcome;
use crate::report::output::Outputs;
use crate::signals::Signals;

const PROGRESS: Nanos = Nanos::from_s(1);
/// Period of flushing the devices and saving the state. The state is never ahead of the devices.
const SAVE: Nanos = Nanos::from_s(5);

/// A preparation.
pub struct Prep<'a> {
    /// The options.
    pub options: PrepOptions,
    /// The devices.
    pub names: &'a [String],
    /// The state of an earlier run with the same options.
    pub resumed: Option<State>,
    /// Identifies and checks the devices.
    pub guard: &'a dyn Guard,
}

impl From<io::Error> for Outcome {
    fn from(error: io::Error) -> Self {
        Self::Interrupted(format!("stopped: {error}"))
    }
}

impl From<StateError> for Outcome {
    fn from(error: StateError) -> Self {
        match error.problem {
            StateProblem::Drive { .. } => Self::Refused(error.to_string()),
            _ => Self::Interrupted(error.to_string()),
        }
    }
}

impl Prep<'_> {
    /// Executes the preparation. Nothing is written before all devices are accepted.
    pub fn execute(self, signals: &Signals, outputs: &mut Outputs, live: LiveOutput) -> Outcome {
        let mut reporter = ProgressReporter::new(outputs, live);
        let mut written = Written::new();
        let ended = self
            .run(signals, &mut reporter, &mut written)
            .unwrap_or_else(|ended| ended);
        reporter.clear_bar();
        match record::end(&mut reporter, &ended, &written) {
            Ok(()) => ended,
            Err(error) => Outcome::Interrupted(format!("the log or side file cannot be written: {error}")),
        }
    }

    fn run(
        &self,
        signals: &Signals,
        reporter: &mut ProgressReporter<'_>,
        written: &mut Written,
    ) -> Result<Outcome, Outcome> {
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
            None => Outcome::Finished,
        };
        job.remove_state()?;
        Ok(ended)
    }

    fn devices(&self, reporter: &mut ProgressReporter<'_>) -> Result<Vec<PrepDevice>, Outcome> {
        let opened = self.names.iter().enumerate();
        let opened = opened.map(|(ordinal, name)| device::open(self.guard, ordinal, name, &self.options));
        match opened.collect::<Result<Vec<_>, _>>() {
            Ok(devices) => Ok(devices),
            Err(unfit) => {
                record::start_refused(reporter, &self.options, self.names)?;
                Err(Outcome::Refused(unfit.to_string()))
            }
        }
    }

    fn state(&self, devices: &[PrepDevice]) -> Result<State, Outcome> {
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

/// The bytes written by this run, and its start.
#[derive(Debug)]
pub(super) struct Written {
    pub bytes: u64,
    start: Instant,
}

impl Written {
    fn new() -> Self {
        Self {
            bytes: 0,
            start: Instant::now(),
        }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Nanos {
        Instant::now().since(self.start)
    }
}

/// A running preparation.
struct Job<'a, 'v> {
    options: &'a PrepOptions,
    devices: &'a [PrepDevice],
    state: State,
    signals: &'a Signals,
    reporter: &'a mut ProgressReporter<'v>,
    written: &'a mut Written,
}

impl Job<'_, '_> {
    fn pass(&mut self, kind: PassKind) -> Result<(), Outcome> {
        for device in self.devices {
            self.reporter
                .log(&format!("{} device {}", kind.verb(), device.name))?;
        }
        let done = self.state.devices.iter().map(|device| device.done_bytes);
        let sized = self.devices.iter().zip(done);
        let fills: Vec<_> = sized
            .map(|(device, done)| DeviceFill::new(device.size_bytes, done, self.options))
            .collect();
        let start = Instant::now();
        let worked = self.write_pass(kind, &fills);
        let bytes: u64 = fills.iter().map(DeviceFill::written_bytes).sum();
        self.written.bytes += bytes;
        // The state is saved however the pass ended.
        let saved = self.flush_and_save(&fills);
        worked.and(saved)?;
        let sentence = record::rate(bytes, Instant::now().since(start));
        self.reporter.log(&format!("{} done: {sentence}", kind.verb()))?;
        Ok(())
    }

    fn write_pass(&mut self, kind: PassKind, fills: &[DeviceFill]) -> Result<(), Outcome> {
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
        let (mut reported, mut saved) = (Instant::now(), Instant::now());
        workers::work(workers.collect(), &stop, || {
            self.check_signals()?;
            let now = Instant::now();
            if now.since(reported) >= PROGRESS {
                reported = now;
                self.reporter
                    .progress(kind.name(), meter.read(now, done_bytes(fills)))?;
            }
            if now.since(saved) >= SAVE {
                saved = now;
                self.flush_and_save(fills)?;
            }
            Ok::<_, Outcome>(())
        })?;
        self.check_write_error(&stop)?;
        Ok(self
            .reporter
            .progress(kind.name(), meter.read(Instant::now(), done_bytes(fills)))?)
    }

    fn check_signals(&self) -> Result<(), Outcome> {
        let signal = self.signals.first();
        signal.map_or(Ok(()), |name| {
            Err(Outcome::Interrupted(format!("stopped by signal {name}")))
        })
    }

    fn check_write_error(&mut self, stop: &StopFlag) -> Result<(), Outcome> {
        let Some(write_error) = stop.write_error() else {
            return Ok(());
        };
        let [upstream, ours] = write_error.lines();
        self.reporter.log(&upstream)?;
        Err(Outcome::DeviceError(format!(
            "{}; {}",
            upstream.trim_start_matches("ERROR: "),
            ours.trim_start_matches("drivetest: ")
        )))
    }

    /// Flushes the devices, then saves the state.
    fn flush_and_save(&mut self, fills: &[DeviceFill]) -> Result<(), Outcome> {
        let done: Vec<_> = fills.iter().map(DeviceFill::done_bytes).collect();
        for device in self.devices {
            let flushed = device.file.sync_data();
            flushed.map_err(|error| {
                Outcome::DeviceError(format!("{}: cannot flush written data: {error}", device.name))
            })?;
        }
        for (device, done_bytes) in self.state.devices.iter_mut().zip(done) {
            device.done_bytes = done_bytes;
        }
        self.save()
    }

    fn begin_pass(&mut self, passes_done: usize) -> Result<(), Outcome> {
        self.state.passes_done = passes_done;
        for device in &mut self.state.devices {
            device.done_bytes = 0;
        }
        self.save()
    }

    fn save(&self) -> Result<(), Outcome> {
        let path = self.options.state.as_deref();
        Ok(path.map_or(Ok(()), |path| self.state.save(path))?)
    }

    /// Removes the state file, because the preparation is complete.
    fn remove_state(&self) -> Result<(), Outcome> {
        let removed = self.options.state.as_deref().map_or(Ok(()), std::fs::remove_file);
        removed.map_err(|error| Outcome::Interrupted(format!("the state file cannot be removed: {error}")))
    }

    fn steady(&mut self, steady: &SteadyStateOptions) -> Result<Outcome, Outcome> {
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
            true => Outcome::Finished,
            false => Outcome::NotSteady(format!(
                "{}: not steady after {} rounds; use more or longer rounds",
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
    ) -> Result<(), Outcome> {
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
            self.check_signals()?;
            let now = Instant::now();
            if clock.end_round(now, device_rounds) {
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
            Ok::<_, Outcome>(())
        })?;
        self.check_write_error(&stop)
    }
}

/// Divides the counters into rounds.
struct RoundClock<'a> {
    steady: &'a SteadyStateOptions,
    written: &'a [AtomicU64],
    start: Instant,
    before: Vec<u64>,
    last_sample: (Instant, u64),
}

impl<'a> RoundClock<'a> {
    fn new(steady: &'a SteadyStateOptions, written: &'a [AtomicU64]) -> Self {
        let start = Instant::now();
        Self {
            steady,
            written,
            start,
            before: vec![0; written.len()],
            last_sample: (start, 0),
        }
    }

    /// Ends the round when its time is over. Its actual length counts.
    fn end_round(&mut self, now: Instant, device_rounds: &mut [DeviceRounds]) -> bool {
        let elapsed = now.since(self.start);
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
        self.start = now;
        true
    }

    /// Returns a sample once a second. The total is unknown.
    fn sample(&mut self, now: Instant) -> Option<MeterSample> {
        let (before, bytes) = self.last_sample;
        if now.since(before) < PROGRESS {
            return None;
        }
        let all: u64 = self.written.iter().map(|written| written.load(SeqCst)).sum();
        self.last_sample = (now, all);
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
) -> Result<(), Outcome> {
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
    let check_write_error = |error| {
        Outcome::Interrupted(format!(
            "{}: the report cannot be written: {error}",
            path.display()
        ))
    };
    std::fs::write(path, format!("{report:#}\n")).map_err(check_write_error)
}
