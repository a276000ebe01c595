//! Watches a run: reports each interval at its time, and sees to it that the run ends.

use std::io;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::{Instant, Nanos};
use crate::crew::Shared;
use crate::recorder::Tally;
use crate::report::block::{block, histograms};
use crate::report::header::failed;
use crate::report::output::Outputs;
use crate::report::side::{Interval, IntervalReads, Totals};
use crate::signals::Signals;
use crate::stop::Cause;
use crate::stream::{Histogram, Operation, Stream};

/// How often the collector looks for streams that stand still.
const LOOK: Nanos = Nanos::from_ms(100);

/// How long requests may stay out after the run's end where max-lag-sec is 0.
const PATIENCE: Nanos = Nanos::from_s(60);

/// How long threads may take to end once the run is stopped.
const FAREWELL: Nanos = Nanos::from_s(5);

/// How often it then looks whether they have: the bell and a signal's descriptor may be readable already.
const GLANCE: Nanos = Nanos::from_ms(5);

/// A run that is under way, seen from the thread that reports it.
pub struct Collector<'a> {
    shared: &'a Shared,
    streams: &'a [Arc<Stream>],
    signals: &'a Signals,
    start: Instant,
    names: Vec<String>,
    tallies: Vec<(Operation, Tally)>,
    earlier: Tally,
    interval: Tally,
    interval_start: Nanos,
    longest: (Nanos, Nanos),
    told_faults_count: usize,
}

/// How a run went.
#[derive(Debug)]
pub struct Ending {
    /// None when it ran its whole time.
    pub cause: Option<Cause>,
    /// How long it ran.
    pub elapsed: Nanos,
    /// What was completed.
    pub totals: Totals,
    /// All record reads.
    pub reads: Tally,
}

impl<'a> Collector<'a> {
    /// For a run that starts at `start` and reports the histograms of these names.
    pub fn new(
        shared: &'a Shared,
        streams: &'a [Arc<Stream>],
        signals: &'a Signals,
        start: Instant,
        names: Vec<String>,
    ) -> Self {
        let empty = || Tally::new(shared.devices.len());
        let tallies = streams.iter().map(|stream| (stream.operation, empty())).collect();
        Self {
            shared,
            streams,
            signals,
            start,
            names,
            tallies,
            earlier: empty(),
            interval: empty(),
            interval_start: Nanos(0),
            longest: (Nanos(0), Nanos(0)),
            told_faults_count: 0,
        }
    }

    /// Reports until the run ends.
    pub fn run(mut self, outputs: &mut Outputs) -> Ending {
        let interval_s = u64::from(self.shared.config.report_interval_s);
        let last_s = self.shared.length.0 / Nanos::from_s(1).0;
        let mut label_s = 0;
        while label_s < last_s && !self.is_stopped() {
            label_s += interval_s;
            self.wait_until(self.start.after(Nanos::from_s(label_s)), outputs);
            let mut elapsed = Instant::now().since(self.start);
            if label_s == last_s {
                elapsed = self.wait_for_the_last();
            }
            if !self.is_stopped() && self.report(label_s, elapsed, outputs).is_err() {
                self.shared.stop.raise(Cause::Output);
            }
        }
        self.ending(outputs)
    }

    fn is_stopped(&self) -> bool {
        self.shared.stop.is_raised()
    }

    /// Waits for a point in time or for the stop of the run.
    fn wait_until(&mut self, until: Instant, outputs: &mut Outputs) {
        while !self.is_stopped() {
            let now = Instant::now();
            if now >= until {
                return;
            }
            self.sleep(until.since(now).min(LOOK));
            self.look();
            if self.tell_faults(outputs).is_err() {
                self.shared.stop.raise(Cause::Output);
            }
        }
    }

    /// Tells the first requests that failed, as they come.
    fn tell_faults(&mut self, outputs: &mut Outputs) -> io::Result<()> {
        for fault in self.shared.faults.kept().skip(self.told_faults_count) {
            self.told_faults_count += 1;
            let text = failed(self.told_faults_count, fault, &self.shared.devices);
            outputs.log(&text)?;
        }
        Ok(())
    }

    /// Waits until every request has come back, after the time for requests is over; returns how long the run was.
    fn wait_for_the_last(&self) -> Nanos {
        if self.shared.alive_count() == 0 {
            return self.shared.length;
        }
        let patience = match self.shared.config.max_lag_s {
            0 => PATIENCE,
            seconds => Nanos::from_s(u64::from(seconds)),
        };
        let until = Instant::now().after(patience);
        while self.shared.alive_count() > 0 && !self.is_stopped() {
            if Instant::now() >= until {
                self.shared.stop.raise(Cause::Silence);
            }
            self.sleep(LOOK);
            self.look();
        }
        Instant::now().since(self.start)
    }

    /// Sleeps, but wakes for a signal and for the workers' bell.
    fn sleep(&self, length: Nanos) {
        let timeout = Timespec {
            tv_sec: (length.0 / 1_000_000_000) as i64,
            tv_nsec: (length.0 % 1_000_000_000) as _,
        };
        let bell = self.shared.stop.bell();
        let signals = self.signals.descriptor();
        let mut watched = [
            PollFd::new(&bell, PollFlags::IN),
            PollFd::new(&signals, PollFlags::IN),
        ];
        // Whatever it returns, the caller looks at everything again.
        let _ = poll(&mut watched, Some(&timeout));
        self.shared.stop.hush();
    }

    /// Stops the run for a signal, and for a stream whose next request nobody takes.
    fn look(&self) {
        if let Some(signal) = self.signals.first() {
            self.shared.stop.raise(Cause::Signal(signal));
        }
        let now = Instant::now();
        for stream in self.streams {
            if stream
                .lag(self.start, now)
                .is_some_and(|lag| self.shared.is_too_late(lag))
            {
                self.shared.stop.raise(Cause::Lag(stream.operation));
            }
        }
    }

    fn count_up(&mut self) {
        for (stream, (_, tally)) in self.streams.iter().zip(&mut self.tallies) {
            tally.clear();
            stream.drain_into(tally);
        }
    }

    fn report(&mut self, label_s: u64, elapsed: Nanos, outputs: &mut Outputs) -> io::Result<()> {
        self.count_up();
        let counts = histograms(&self.shared.config, &self.tallies);
        outputs.log(&block(label_s, &self.names, &counts))?;
        let lag = self
            .tallies
            .iter()
            .map(|(_, tally)| tally.lag)
            .max()
            .unwrap_or_default();
        self.turn_interval();
        let reads = IntervalReads {
            length: Nanos(elapsed.0 - self.interval_start.0),
            lag,
            service: &self.interval.service,
            response: &self.interval.response,
        };
        let totals = Totals::of(&self.tallies);
        outputs.side(&Interval::new(label_s, elapsed, totals, reads))?;
        self.interval_start = elapsed;
        Ok(())
    }

    /// Makes `interval` the reads since the last report.
    fn turn_interval(&mut self) {
        let is_read = |operation: Operation| operation.histogram() == Some(Histogram::Reads);
        let mut reads = Tally::new(self.shared.devices.len());
        for (_, tally) in self.tallies.iter().filter(|(operation, _)| is_read(*operation)) {
            reads.merge(tally);
        }
        self.interval.clone_from(&reads);
        self.interval.service.subtract(&self.earlier.service);
        self.interval.response.subtract(&self.earlier.response);
        self.earlier.clone_from(&reads);
        self.longest.0 = self.longest.0.max(reads.service.longest());
        self.longest.1 = self.longest.1.max(reads.response.longest());
    }

    /// Waits for the threads, but not for ever: a drive that does not answer holds them in the kernel.
    fn wait_for_threads(&self) {
        let until = Instant::now().after(FAREWELL);
        while self.shared.alive_count() > 0 && Instant::now() < until {
            Instant::now().after(GLANCE).sleep_until();
        }
    }

    fn ending(mut self, outputs: &mut Outputs) -> Ending {
        let cause = self.shared.stop.cause();
        // A whole run ended when its last report was taken; writing that report is no part of it.
        let elapsed = cause.map_or(self.interval_start, |_| Instant::now().since(self.start));
        self.wait_for_threads();
        // Where the log takes no more, the words about the end fail as well, and that is told.
        let _ = self.tell_faults(outputs);
        self.count_up();
        self.turn_interval();
        let totals = Totals::of(&self.tallies);
        let mut reads = self.earlier;
        reads.service.raise_longest(self.longest.0);
        reads.response.raise_longest(self.longest.1);
        Ending {
            cause,
            elapsed,
            totals,
            reads,
        }
    }
}
