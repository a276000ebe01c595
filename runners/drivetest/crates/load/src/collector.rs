//! Watches a run: reports each interval at its time, and sees to it that the run ends.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{major, minor};

use crate::account::Account;
use crate::clock::{Instant, Nanos};
use crate::crew::Shared;
use crate::device::Device;
use crate::faults::FaultCount;
use crate::held::{Extent, Held};
use crate::recorder::Tally;
use crate::report::block::{block, histograms};
use crate::report::header::failed;
use crate::report::output::Outputs;
use crate::report::side::{ErrorCount, Interval, Ran};
use crate::report::worst::Worst;
use crate::signals::Signals;
use crate::stop::Cause;
use crate::stream::{Operation, Stream};
use crate::telemetry::{Named, Telemetry};

/// How often the collector looks for streams that stand still.
const LOOK: Nanos = Nanos::from_ms(100);

/// How long requests may stay out after the run's end where max-lag-sec is 0.
const PATIENCE: Nanos = Nanos::from_s(60);

/// How long threads may take to end once the run is stopped.
const FAREWELL: Nanos = Nanos::from_s(5);

/// The cells are emptied at least this often, before 32 bits can be full.
const FILLING: Nanos = Nanos::from_s(60);

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
    accounts: Vec<Account>,
    telemetry: Telemetry,
    worst: Worst,
    drained: Instant,
    interval_start: Nanos,
    told_faults_count: usize,
}

/// How a run went.
#[derive(Debug)]
pub struct Ending {
    /// None when it ran its whole time.
    pub cause: Option<Cause>,
    /// What came of it, as the side file tells it.
    pub ran: Ran,
    /// The extremes of its intervals.
    pub worst: Worst,
}

impl<'a> Collector<'a> {
    /// For a run that starts at `start` and reports the histograms of these names.
    pub fn new(
        shared: &'a Shared,
        streams: &'a [Arc<Stream>],
        signals: &'a Signals,
        start: Instant,
        names: Vec<String>,
        telemetry: Telemetry,
    ) -> Self {
        let tally = |stream: &Arc<Stream>| (stream.operation, Tally::new(shared.devices.len()));
        Self {
            shared,
            streams,
            signals,
            start,
            names,
            tallies: streams.iter().map(tally).collect(),
            accounts: streams.iter().map(|stream| Account::of(stream)).collect(),
            telemetry,
            worst: Worst::default(),
            drained: start,
            interval_start: Nanos(0),
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
            if now.since(self.drained) >= FILLING {
                self.count_up();
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
            tally.clear_buckets();
            stream.drain_into(tally);
        }
        self.drained = Instant::now();
    }

    /// Makes the interval of every account what came since the last one.
    fn turn_interval(&mut self) {
        self.count_up();
        for (account, (_, tally)) in self.accounts.iter_mut().zip(&mut self.tallies) {
            account.turn(tally);
        }
    }

    fn report(&mut self, label_s: u64, elapsed: Nanos, outputs: &mut Outputs) -> io::Result<()> {
        self.turn_interval();
        let counts = histograms(&self.shared.config, &self.tallies);
        outputs.log(&block(label_s, &self.names, &counts))?;
        let length = Nanos(elapsed.0 - self.interval_start.0);
        let telemetry = self.telemetry.look(length);
        self.worst.take(label_s, &self.accounts, &telemetry);
        outputs.side(&Interval::new(
            label_s,
            elapsed,
            length,
            &self.accounts,
            telemetry,
        ))?;
        self.interval_start = elapsed;
        Ok(())
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
        if cause.is_some() {
            self.turn_interval();
        }
        let extent = Extent {
            elapsed,
            is_whole: cause.is_none(),
        };
        let ran = Ran {
            elapsed,
            held: Held::of(&self.accounts, extent),
            accounts: self.accounts,
            raided_count: None,
            errors: errors(self.shared),
            disks: self
                .telemetry
                .look(Nanos(elapsed.0 - self.interval_start.0))
                .disks,
        };
        Ending {
            cause,
            ran,
            worst: self.worst,
        }
    }
}

fn errors(shared: &Shared) -> Vec<ErrorCount> {
    let named = |found: FaultCount| ErrorCount {
        device: shared.devices[found.kind.device].name.clone(),
        operation: found.kind.operation.word(),
        errno: found.kind.errno,
        is_early_end: found.kind.is_early_end,
        count: found.count,
    };
    shared.faults.counts().into_iter().map(named).collect()
}

/// Where the kernel tells of what lies beneath a device: its own number, or that of the one its file system is on.
pub fn named(devices: &[Device]) -> Vec<Named> {
    devices
        .iter()
        .map(|device| Named {
            name: device.name.clone(),
            number: device.file.metadata().ok().map(|found| beneath(&found)),
        })
        .collect()
}

fn beneath(found: &Metadata) -> (u32, u32) {
    let number = match found.file_type().is_block_device() {
        true => found.rdev(),
        false => found.dev(),
    };
    (major(number), minor(number))
}
