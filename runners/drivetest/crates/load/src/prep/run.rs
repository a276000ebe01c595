//! A preparation from beginning to end.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use serde_json::json;

use super::crew::{self, Halt};
use super::meter::{Meter, Reading, bytes_per_s};
use super::pass::{self, Lane};
use super::rounds::{self, Course};
use super::state::{self, State, StateError};
use super::target::{self, Target};
use super::voice::{Live, Voice};
use super::{Ended, Kind, Steady, Wish, record};
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
    pub wish: Wish,
    /// The devices.
    pub names: &'a [String],
    /// What an earlier run of the same wish did; its settings have been compared.
    pub resumed: Option<State>,
    /// Knows what the devices are.
    pub guard: &'a dyn Guard,
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Interrupted(format!("stopped: {error}"))
    }
}

impl From<StateError> for Ended {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Drive { .. } => Self::Refused(error.to_string()),
            _ => Self::Interrupted(error.to_string()),
        }
    }
}

impl Prep<'_> {
    /// Does it; nothing is written to any device before all of them were found fit.
    pub fn carry_out(self, signals: &Signals, outputs: &mut Outputs, live: Live) -> Ended {
        let mut voice = Voice::new(outputs, live);
        let mut written = Written::new();
        let ended = self
            .run(signals, &mut voice, &mut written)
            .unwrap_or_else(|ended| ended);
        voice.clear_bar();
        match record::end(&mut voice, &ended, &written) {
            Ok(()) => ended,
            Err(error) => Ended::Interrupted(format!("the log or side file cannot be written: {error}")),
        }
    }

    fn run(&self, signals: &Signals, voice: &mut Voice<'_>, written: &mut Written) -> Result<Ended, Ended> {
        let targets = self.targets(voice)?;
        let state = self.state(&targets);
        record::start(voice, &self.wish, self.resumed.as_ref(), &targets)?;
        let mut job = Job {
            wish: &self.wish,
            targets: &targets,
            state: state?,
            signals,
            voice,
            written,
        };
        job.save()?;
        for (ordinal, kind) in self.wish.passes.iter().enumerate().skip(job.state.passes_done) {
            job.pass(*kind)?;
            job.begin_pass(ordinal + 1)?;
        }
        let ended = match &self.wish.steady {
            Some(steady) => job.steady(steady)?,
            None => Ended::Finished,
        };
        job.forget()?;
        Ok(ended)
    }

    fn targets(&self, voice: &mut Voice<'_>) -> Result<Vec<Target>, Ended> {
        let opened = self.names.iter().enumerate();
        let opened = opened.map(|(ordinal, name)| target::open(self.guard, ordinal, name, &self.wish));
        match opened.collect::<Result<Vec<_>, _>>() {
            Ok(targets) => Ok(targets),
            Err(unfit) => {
                record::start_refused(voice, &self.wish, self.names)?;
                Err(Ended::Refused(unfit.to_string()))
            }
        }
    }

    fn state(&self, targets: &[Target]) -> Result<State, Ended> {
        let there = targets.iter().map(|target| state::Device {
            path: target.name.clone(),
            place: target.place.clone(),
            done_bytes: 0,
        });
        let there: Vec<_> = there.collect();
        match (&self.resumed, &self.wish.state) {
            (Some(state), Some(path)) => {
                state.check_drives(path, &there)?;
                Ok(state.clone())
            }
            _ => Ok(State::new(&self.wish, there)),
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
    wish: &'a Wish,
    targets: &'a [Target],
    state: State,
    signals: &'a Signals,
    voice: &'a mut Voice<'v>,
    written: &'a mut Written,
}

impl Job<'_, '_> {
    fn pass(&mut self, kind: Kind) -> Result<(), Ended> {
        for target in self.targets {
            self.voice
                .log(&format!("{} device {}", kind.doing(), target.name))?;
        }
        let done = self.state.devices.iter().map(|device| device.done_bytes);
        let sized = self.targets.iter().zip(done);
        let lanes: Vec<_> = sized
            .map(|(target, done)| Lane::new(target.size_bytes, done, self.wish))
            .collect();
        let begun = Instant::now();
        let worked = self.write_pass(kind, &lanes);
        let bytes: u64 = lanes.iter().map(Lane::written_bytes).sum();
        self.written.bytes += bytes;
        // What was done is kept, however it ended.
        let kept = self.keep(&lanes);
        worked.and(kept)?;
        let sentence = record::rate(bytes, Instant::now().since(begun));
        self.voice.log(&format!("{} done: {sentence}", kind.doing()))?;
        Ok(())
    }

    fn write_pass(&mut self, kind: Kind, lanes: &[Lane]) -> Result<(), Ended> {
        let (wish, targets, halt) = (self.wish, self.targets, Halt::default());
        let pairs = targets.iter().zip(lanes).enumerate();
        let streams =
            pairs.flat_map(|(ordinal, pair)| (0..wish.streams).map(move |stream| ((ordinal, stream), pair)));
        let workers = streams.map(|(place, pair)| {
            let halt = &halt;
            move || pass::write(kind, wish, place, pair, halt)
        });
        let total_bytes = targets.iter().map(|target| target.size_bytes).sum();
        let done_bytes = |lanes: &[Lane]| lanes.iter().map(Lane::done_bytes).sum();
        let mut meter = Meter::new(Instant::now(), done_bytes(lanes), total_bytes);
        let (mut told, mut saved) = (Instant::now(), Instant::now());
        crew::work(workers.collect(), &halt, || {
            self.heed_signals()?;
            let now = Instant::now();
            if now.since(told) >= PROGRESS {
                told = now;
                self.voice
                    .progress(kind.word(), meter.read(now, done_bytes(lanes)))?;
            }
            if now.since(saved) >= SAVE {
                saved = now;
                self.keep(lanes)?;
            }
            Ok::<_, Ended>(())
        })?;
        self.failed(&halt)?;
        Ok(self
            .voice
            .progress(kind.word(), meter.read(Instant::now(), done_bytes(lanes)))?)
    }

    fn heed_signals(&self) -> Result<(), Ended> {
        let signal = self.signals.first();
        signal.map_or(Ok(()), |name| {
            Err(Ended::Interrupted(format!("stopped by signal {name}")))
        })
    }

    fn failed(&mut self, halt: &Halt) -> Result<(), Ended> {
        let Some(fault) = halt.fault() else { return Ok(()) };
        let [upstream, ours] = fault.lines();
        self.voice.log(&upstream)?;
        Err(Ended::DeviceError(format!(
            "{}; {}",
            upstream.trim_start_matches("ERROR: "),
            ours.trim_start_matches("drivetest: ")
        )))
    }

    /// Has the devices keep what they took, then says so in the state.
    fn keep(&mut self, lanes: &[Lane]) -> Result<(), Ended> {
        let done: Vec<_> = lanes.iter().map(Lane::done_bytes).collect();
        for target in self.targets {
            let flushed = target.file.sync_data();
            flushed.map_err(|error| {
                Ended::DeviceError(format!("{}: cannot keep what it took: {error}", target.name))
            })?;
        }
        for (device, done_bytes) in self.state.devices.iter_mut().zip(done) {
            device.done_bytes = done_bytes;
        }
        self.save()
    }

    fn begin_pass(&mut self, passes_done: usize) -> Result<(), Ended> {
        self.state.passes_done = passes_done;
        for device in &mut self.state.devices {
            device.done_bytes = 0;
        }
        self.save()
    }

    fn save(&self) -> Result<(), Ended> {
        let path = self.wish.state.as_deref();
        Ok(path.map_or(Ok(()), |path| self.state.save(path))?)
    }

    /// A state is of what is not finished.
    fn forget(&self) -> Result<(), Ended> {
        let removed = self.wish.state.as_deref().map_or(Ok(()), std::fs::remove_file);
        removed.map_err(|error| Ended::Interrupted(format!("the state file cannot be removed: {error}")))
    }

    fn steady(&mut self, steady: &Steady) -> Result<Ended, Ended> {
        for target in self.targets {
            self.voice.log(&format!("overwriting device {}", target.name))?;
        }
        let written: Vec<_> = self.targets.iter().map(|_| AtomicU64::new(0)).collect();
        let mut courses: Vec<_> = self.targets.iter().map(Course::of).collect();
        let worked = self.overwrite(steady, &written, &mut courses);
        self.written.bytes += written.iter().map(|bytes| bytes.load(SeqCst)).sum::<u64>();
        for course in &courses {
            self.voice.log(course.table().trim_end())?;
        }
        if let Some(path) = &steady.report {
            write_report(path, steady, &courses, self.wish.seed)?;
        }
        worked?;
        let unsteady: Vec<_> = courses
            .iter()
            .filter(|course| !course.is_steady())
            .map(|course| course.path.as_str())
            .collect();
        Ok(match unsteady.is_empty() {
            true => Ended::Finished,
            false => Ended::NotSteady(format!(
                "{}: not steady after {} rounds; ask for more rounds, or longer ones",
                unsteady.join(", "),
                steady.rounds_max
            )),
        })
    }

    fn overwrite(
        &mut self,
        steady: &Steady,
        written: &[AtomicU64],
        courses: &mut [Course],
    ) -> Result<(), Ended> {
        let (wish, targets, halt) = (self.wish, self.targets, Halt::default());
        let pairs = targets.iter().zip(written).enumerate();
        let places =
            pairs.flat_map(|(ordinal, pair)| (0..steady.depth).map(move |worker| ((ordinal, worker), pair)));
        let workers = places.map(|(place, (target, written))| {
            let halt = &halt;
            move || rounds::overwrite(wish, steady, place, target, written, halt)
        });
        let mut clock = RoundClock::new(steady, written);
        crew::work(workers.collect(), &halt, || {
            self.heed_signals()?;
            let now = Instant::now();
            if clock.ends_round(now, courses) {
                record::rounds(self.voice, courses)?;
                let rounds_count = courses.first().map_or(0, |course| course.rounds.len());
                if courses.iter().all(Course::is_steady) || rounds_count >= steady.rounds_max {
                    halt.raise();
                }
            }
            if let Some(reading) = clock.reading(now) {
                self.voice.progress("steady", reading)?;
            }
            Ok::<_, Ended>(())
        })?;
        self.failed(&halt)
    }
}

/// Cuts the counters into rounds.
struct RoundClock<'a> {
    steady: &'a Steady,
    written: &'a [AtomicU64],
    begun: Instant,
    before: Vec<u64>,
    told: (Instant, u64),
}

impl<'a> RoundClock<'a> {
    fn new(steady: &'a Steady, written: &'a [AtomicU64]) -> Self {
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
    fn ends_round(&mut self, now: Instant, courses: &mut [Course]) -> bool {
        let elapsed = now.since(self.begun);
        if elapsed < Nanos::from_s(self.steady.round_s) {
            return false;
        }
        for ((course, before), written) in courses.iter_mut().zip(&mut self.before).zip(self.written) {
            let all = written.load(SeqCst);
            course.add(all - *before, elapsed, self.steady.block_bytes);
            *before = all;
        }
        self.begun = now;
        true
    }

    /// Once a second; how much is to be written is not known beforehand.
    fn reading(&mut self, now: Instant) -> Option<Reading> {
        let (before, bytes) = self.told;
        if now.since(before) < PROGRESS {
            return None;
        }
        let all: u64 = self.written.iter().map(|written| written.load(SeqCst)).sum();
        self.told = (now, all);
        Some(Reading {
            done_bytes: all,
            total_bytes: None,
            bytes_per_s: bytes_per_s(all - bytes, now.since(before)),
            remaining_s: None,
        })
    }
}

fn write_report(path: &Path, steady: &Steady, courses: &[Course], seed: u64) -> Result<(), Ended> {
    let report = json!({
        "schema": "drivecert.steady-state/1",
        "program_version": env!("CARGO_PKG_VERSION"),
        "seed": seed,
        "block_bytes": steady.block_bytes,
        "depth": steady.depth,
        "round_s": steady.round_s,
        "rounds_max": steady.rounds_max,
        "is_steady": courses.iter().all(Course::is_steady),
        "devices": courses,
    });
    let failed = |error| {
        Ended::Interrupted(format!(
            "{}: the report cannot be written: {error}",
            path.display()
        ))
    };
    std::fs::write(path, format!("{report:#}\n")).map_err(failed)
}
