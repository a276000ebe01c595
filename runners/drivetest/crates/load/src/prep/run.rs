//! A preparation from start to end.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use drivetest_device::Guard;
use serde_json::json;

use super::device::{self, PrepDevice};
use super::progress::{Meter, ProgressReporter};
use super::sequential_fill::{self, DeviceFill};
use super::state::{self, State, StateError, StateProblem};
use super::steady_state::{self, DeviceRounds};
use super::workers::{self, StopFlag};
use super::{PassKind, PrepOptions, SteadyStateOptions, record};
use crate::Outcome;
use crate::clock::{Instant, Nanos};
use crate::report::output::Outputs;
use crate::signals::Signals;

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

/// The end of a preparation.
#[derive(Debug, PartialEq, Eq)]
pub struct PrepEnd {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether a person has read the reason, because the log is at a terminal and has it.
    pub is_shown: bool,
}

impl PrepEnd {
    /// Creates the end from the outcome, and whether its lines were shown and written. Returns with it what cannot be
    /// written and is not the reason: a refusal or a stop remains the result.
    fn of(outcome: Outcome, is_shown: bool, written: io::Result<()>) -> (Self, io::Result<()>) {
        match (&outcome, written) {
            (Outcome::Finished | Outcome::NotSteady(_), Err(error)) => {
                let text = format!("the log or side file cannot be written: {error}");
                let end = Self {
                    outcome: Outcome::Interrupted(text),
                    // The lines have the former outcome.
                    is_shown: false,
                };
                (end, Ok(()))
            }
            (_, written) => (Self { outcome, is_shown }, written),
        }
    }
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
    /// Executes the preparation, and prints its records on standard error on request. Nothing is written before all
    /// devices are accepted.
    pub fn execute(self, signals: &Signals, outputs: &mut Outputs, prints_records: bool) -> PrepEnd {
        let mut reporter = ProgressReporter {
            outputs,
            prints_records,
        };
        let (start, mut written_bytes) = (Instant::now(), 0);
        let ended = self
            .run(signals, &mut reporter, &mut written_bytes)
            .unwrap_or_else(|ended| ended);
        let elapsed = Instant::now().since(start);
        let (is_shown, written) = record::end(&mut reporter, &ended, written_bytes, elapsed);
        let (end, written) = PrepEnd::of(ended, is_shown, written);
        reporter.outputs.warn_unless_written(written);
        end
    }

    fn run(
        &self,
        signals: &Signals,
        reporter: &mut ProgressReporter<'_>,
        written_bytes: &mut u64,
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
            written_bytes,
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
                let devices = self.names.iter().map(|name| json!({"path": name})).collect();
                // A person at a terminal sees a refusal alone.
                let started = match reporter.outputs.is_at_terminal() {
                    true => Ok(()),
                    false => record::head(reporter, &self.options),
                };
                // The refusal is the result. If it cannot be written, the end of the preparation warns.
                let _ = started.and(record::start_record(reporter, &self.options, false, devices));
                Err(Outcome::Refused(unfit.to_string()))
            }
        }
    }

    fn state(&self, devices: &[PrepDevice]) -> Result<State, Outcome> {
        let fresh = |device: &PrepDevice| state::Device {
            path: device.name.clone(),
            place: device.place.clone(),
            done_bytes: 0,
        };
        let there: Vec<_> = devices.iter().map(fresh).collect();
        match (&self.resumed, &self.options.state) {
            (Some(state), Some(path)) => {
                state.check_drives(path, &there)?;
                Ok(state.clone())
            }
            _ => Ok(State::new(&self.options, there)),
        }
    }
}

/// A running preparation.
struct Job<'a, 'v> {
    options: &'a PrepOptions,
    devices: &'a [PrepDevice],
    state: State,
    signals: &'a Signals,
    reporter: &'a mut ProgressReporter<'v>,
    /// By this run.
    written_bytes: &'a mut u64,
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
        *self.written_bytes += bytes;
        // The state is saved however the pass ended.
        let saved = self.flush_and_save(&fills);
        worked.and(saved)?;
        let sentence = record::rate(bytes, Instant::now().since(start));
        self.reporter.log(&format!("{} done: {sentence}", kind.verb()))?;
        Ok(())
    }

    fn write_pass(&mut self, kind: PassKind, fills: &[DeviceFill]) -> Result<(), Outcome> {
        let (options, stop) = (self.options, &StopFlag::default());
        let mut workers = Vec::new();
        for (ordinal, pair) in self.devices.iter().zip(fills).enumerate() {
            for stream in 0..options.streams {
                workers.push(move || sequential_fill::write(kind, options, (ordinal, stream), pair, stop));
            }
        }
        let total_bytes = self.devices.iter().map(|device| device.size_bytes).sum();
        let done_bytes = || fills.iter().map(DeviceFill::done_bytes).sum();
        let mut meter = Meter::new(Instant::now(), done_bytes(), Some(total_bytes));
        let mut saved = Instant::now();
        self.work(workers, stop, |job, now| {
            if meter.is_due(now) {
                job.reporter
                    .progress(kind.name(), meter.read(now, done_bytes()))?;
            }
            if now.since(saved) >= SAVE {
                saved = now;
                job.flush_and_save(fills)?;
            }
            Ok(())
        })?;
        let last = meter.read(Instant::now(), done_bytes());
        Ok(self.reporter.progress(kind.name(), last)?)
    }

    /// Runs the workers and calls `check` until they end. A signal or a write error ends the preparation.
    fn work(
        &mut self,
        workers: Vec<impl FnOnce() + Send>,
        stop: &StopFlag,
        mut check: impl FnMut(&mut Self, Instant) -> Result<(), Outcome>,
    ) -> Result<(), Outcome> {
        workers::work(workers, stop, || match self.signals.first() {
            Some(name) => Err(Outcome::Interrupted(format!("stopped by signal {name}"))),
            None => check(self, Instant::now()),
        })?;
        let Some(error) = stop.write_error() else {
            return Ok(());
        };
        let (sentence, offset, length) = (error.sentence(), error.offset, error.length);
        self.reporter.log(&format!("ERROR: {sentence}"))?;
        Err(Outcome::DeviceError(format!(
            "{sentence}; stopped by the first error, at offset {offset}, {length} bytes"
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
        *self.written_bytes += written.iter().map(|bytes| bytes.load(SeqCst)).sum::<u64>();
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
        let (options, stop) = (self.options, &StopFlag::default());
        let mut workers = Vec::new();
        for (ordinal, (device, written)) in self.devices.iter().zip(written).enumerate() {
            for worker in 0..steady.depth {
                let place = (ordinal, worker);
                workers.push(move || steady_state::overwrite(options, steady, place, device, written, stop));
            }
        }
        let mut round_start = Instant::now();
        let mut meter = Meter::new(round_start, 0, None);
        self.work(workers, stop, |job, now| {
            let elapsed = now.since(round_start);
            if elapsed >= Nanos::from_s(steady.round_s) {
                // The actual length of a round counts.
                round_start = now;
                for (rounds, written) in device_rounds.iter_mut().zip(written) {
                    rounds.add(written.load(SeqCst), elapsed, steady.block_bytes);
                }
                record::rounds(job.reporter, device_rounds)?;
                let is_last = |rounds: &DeviceRounds| rounds.rounds.len() >= steady.rounds_max;
                if device_rounds.iter().all(DeviceRounds::is_steady) || device_rounds.iter().all(is_last) {
                    stop.raise();
                }
            }
            if meter.is_due(now) {
                let done_bytes = written.iter().map(|bytes| bytes.load(SeqCst)).sum();
                job.reporter.progress("steady", meter.read(now, done_bytes))?;
            }
            Ok(())
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
    std::fs::write(path, format!("{report:#}\n")).map_err(|error| {
        let path = path.display();
        Outcome::Interrupted(format!("{path}: the report cannot be written: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the end of a preparation at a terminal, and whether the caller warns.
    fn end(outcome: Outcome, is_written: bool) -> (PrepEnd, bool) {
        let written = match is_written {
            true => Ok(()),
            false => Err(io::ErrorKind::StorageFull.into()),
        };
        let (end, unwritten) = PrepEnd::of(outcome, true, written);
        (end, unwritten.is_err())
    }

    #[test]
    fn a_complete_preparation_without_its_end_record_has_a_reason_that_is_not_shown() {
        for outcome in [Outcome::Finished, Outcome::NotSteady("not steady".to_owned())] {
            let (ended, warns) = end(outcome, false);
            let text = ended.outcome.reason().1;
            assert!(
                text.starts_with("the log or side file cannot be written: "),
                "{text}"
            );
            assert_eq!(
                (ended.outcome.reason().0, ended.is_shown, warns),
                ("interrupted", false, false)
            );
        }
    }

    #[test]
    fn another_end_remains_the_result_if_its_record_cannot_be_written() {
        let shown = |outcome| PrepEnd {
            outcome,
            is_shown: true,
        };
        let failed = || Outcome::DeviceError("failed".to_owned());
        assert_eq!(end(failed(), false), (shown(failed()), true));
        assert_eq!(end(failed(), true), (shown(failed()), false));
        assert_eq!(end(Outcome::Finished, true), (shown(Outcome::Finished), false));
    }
}
