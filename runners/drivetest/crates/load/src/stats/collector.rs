//! The monitoring thread of a run: reports each interval on time and ends the run.

use std::io;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::{Instant, Nanos};
use crate::device::Device;
use crate::engine::counters::EngineCounters;
use crate::engine::workers::RunContext;
use crate::progress::{LoadProgress, OperationProgress, Snapshot};
use crate::report::block::{block, histograms};
use crate::report::header::failed;
use crate::report::output::Outputs;
use crate::report::side::{self, ErrorCount, Interval, RunTotals};
use crate::report::worst::{Hottest, Worst};
use crate::schedule::stream::{ActHistogram, Operation, Stream};
use crate::signals::Signals;
use crate::stats::io_errors::ErrorKind;
use crate::stats::operation_stats::{OperationStats, times_of};
use crate::stats::rate_check::{Extent, RateCheck};
use crate::stats::recorder::Tally;
use crate::stop::StopReason;
use crate::telemetry::{LoadedDevice, Telemetry};

/// Period of the checks for stalled streams and signals.
const CHECK_PERIOD: Nanos = Nanos::from_ms(100);

/// Time limit for outstanding requests at the end of the run if max-lag-sec is 0.
const DRAIN_LIMIT: Nanos = Nanos::from_s(60);

/// Time limit for the threads to exit after the run has stopped.
const EXIT_LIMIT: Nanos = Nanos::from_s(5);

/// The histograms are drained at least this often, before their 32-bit counters can overflow.
const DRAIN_PERIOD: Nanos = Nanos::from_s(60);

/// The same while a person sees the progress, which shows the counts of each drain.
const SHOWN_DRAIN_PERIOD: Nanos = Nanos::from_s(10);

/// Period of the check whether all threads have exited. Polling the descriptors is no use here: they may be readable
/// already.
const EXIT_CHECK_PERIOD: Nanos = Nanos::from_ms(5);

/// A running load, as the reporting thread sees it.
pub struct Collector<'a> {
    context: &'a RunContext,
    streams: &'a [Arc<Stream>],
    signals: &'a Signals,
    start: Instant,
    tallies: Vec<(Operation, Tally)>,
    operation_stats: Vec<OperationStats>,
    telemetry: Telemetry,
    engine_counters: EngineCounters,
    worst: Worst,
    drained: Instant,
    /// Time and counts of the last snapshot.
    shown: (Instant, Vec<u64>),
    /// At the last report.
    hottest: Option<Hottest>,
    interval_start: Nanos,
    reported_errors_count: usize,
}

/// The end of a run.
#[derive(Debug)]
pub struct RunEnd {
    /// None if the run took its full duration.
    pub stop_reason: Option<StopReason>,
    /// Totals for the side file.
    pub totals: RunTotals,
    /// The extremes of the intervals.
    pub worst: Worst,
}

impl<'a> Collector<'a> {
    /// Creates the collector of a run that starts at `start`.
    pub fn new(
        context: &'a RunContext,
        streams: &'a [Arc<Stream>],
        signals: &'a Signals,
        start: Instant,
        telemetry: Telemetry,
        engine_counters: EngineCounters,
    ) -> Self {
        let tally = |stream: &Arc<Stream>| (stream.operation, Tally::new(context.devices.len()));
        Self {
            context,
            streams,
            signals,
            start,
            tallies: streams.iter().map(tally).collect(),
            operation_stats: streams.iter().map(|stream| OperationStats::of(stream)).collect(),
            telemetry,
            engine_counters,
            worst: Worst::default(),
            drained: start,
            shown: (start, vec![0; streams.len()]),
            hottest: None,
            interval_start: Nanos(0),
            reported_errors_count: 0,
        }
    }

    /// Reports until the run ends.
    pub fn run(mut self, outputs: &mut Outputs) -> RunEnd {
        let interval_s = u64::from(self.context.config.report_interval_s);
        let last_s = self.context.length.0 / Nanos::from_s(1).0;
        let mut label_s = 0;
        self.show_progress(outputs);
        while label_s < last_s && !self.is_stopped() {
            label_s += interval_s;
            self.wait_until(self.start.after(Nanos::from_s(label_s)), outputs);
            let mut elapsed = Instant::now().since(self.start);
            if label_s == last_s {
                elapsed = self.wait_for_completions();
            }
            if !self.is_stopped() && self.report(label_s, elapsed, outputs).is_err() {
                self.context.stop.raise(StopReason::Output);
            }
        }
        self.finish(outputs)
    }

    fn is_stopped(&self) -> bool {
        self.context.stop.is_raised()
    }

    /// Waits until a time, or until the run stops.
    fn wait_until(&mut self, until: Instant, outputs: &mut Outputs) {
        let drain_period = match outputs.has_view() {
            true => SHOWN_DRAIN_PERIOD,
            false => DRAIN_PERIOD,
        };
        while !self.is_stopped() {
            let now = Instant::now();
            if now >= until {
                return;
            }
            if now.since(self.drained) >= drain_period {
                self.drain_recorders();
                self.show_progress(outputs);
            }
            self.sleep(until.since(now).min(CHECK_PERIOD));
            self.check_run();
            if self.report_errors(outputs).is_err() {
                self.context.stop.raise(StopReason::Output);
            }
        }
    }

    /// Logs the first failed requests as they occur.
    fn report_errors(&mut self, outputs: &mut Outputs) -> io::Result<()> {
        for failed_request in self.context.io_errors.first().skip(self.reported_errors_count) {
            self.reported_errors_count += 1;
            let text = failed(self.reported_errors_count, failed_request, &self.context.devices);
            outputs.log(&text)?;
        }
        Ok(())
    }

    /// Waits for the outstanding requests after the last one is due. Returns the length of the run.
    fn wait_for_completions(&self) -> Nanos {
        if self.context.alive_count() == 0 {
            return self.context.length;
        }
        let patience = match self.context.config.max_lag_s {
            0 => DRAIN_LIMIT,
            seconds => Nanos::from_s(u64::from(seconds)),
        };
        let until = Instant::now().after(patience);
        while self.context.alive_count() > 0 && !self.is_stopped() {
            if Instant::now() >= until {
                self.context.stop.raise(StopReason::NoResponse);
            }
            self.sleep(CHECK_PERIOD);
            self.check_run();
        }
        Instant::now().since(self.start)
    }

    /// Sleeps, but wakes up for a signal or a worker's notification.
    fn sleep(&self, length: Nanos) {
        let timeout = Timespec {
            tv_sec: (length.0 / 1_000_000_000) as i64,
            tv_nsec: (length.0 % 1_000_000_000) as _,
        };
        let wakeup = self.context.stop.wakeup();
        let signals = self.signals.descriptor();
        let mut watched = [
            PollFd::new(&wakeup, PollFlags::IN),
            PollFd::new(&signals, PollFlags::IN),
        ];
        // In any case the caller checks everything again.
        let _ = poll(&mut watched, Some(&timeout));
        self.context.stop.clear_wakeups();
    }

    /// Stops the run after a signal, or if a stream's next request is too late.
    fn check_run(&self) {
        if let Some(signal) = self.signals.first() {
            self.context.stop.raise(StopReason::Signal(signal));
        }
        let now = Instant::now();
        for stream in self.streams {
            if stream
                .lag(self.start, now)
                .is_some_and(|lag| self.context.is_too_late(lag))
            {
                self.context.stop.raise(StopReason::Lag(stream.operation));
            }
        }
    }

    fn drain_recorders(&mut self) {
        for (stream, (_, tally)) in self.streams.iter().zip(&mut self.tallies) {
            tally.clear_buckets();
            stream.drain_into(tally);
        }
        self.drained = Instant::now();
    }

    /// Closes the current interval of every operation.
    fn close_interval(&mut self) {
        self.drain_recorders();
        for (stats, (_, tally)) in self.operation_stats.iter_mut().zip(&mut self.tallies) {
            stats.close_interval(tally);
        }
    }

    fn report(&mut self, label_s: u64, elapsed: Nanos, outputs: &mut Outputs) -> io::Result<()> {
        self.close_interval();
        let histograms = histograms(&self.context.config, &self.tallies);
        outputs.log(&block(label_s, &histograms))?;
        let length = Nanos(elapsed.0 - self.interval_start.0);
        let telemetry = self.telemetry.sample(length);
        self.worst.add(label_s, &self.operation_stats, &telemetry);
        self.hottest = Hottest::of(&telemetry, None);
        let (stats, counters) = (&self.operation_stats, self.engine_counters.close_interval());
        let record = Interval::new(label_s, (elapsed, length), stats, &counters, &telemetry);
        outputs.side(&record)?;
        self.interval_start = elapsed;
        self.show_progress(outputs);
        Ok(())
    }

    /// Shows the counts of the last drain, if a person sees the progress.
    fn show_progress(&mut self, outputs: &Outputs) {
        if !outputs.has_view() {
            return;
        }
        let counts: Vec<_> = self.tallies.iter().map(|(_, tally)| tally.count()).collect();
        let (earlier, earlier_counts) = std::mem::replace(&mut self.shown, (self.drained, counts));
        let seconds = self.drained.since(earlier).0 as f64 / 1e9;
        let rates = self.operation_stats.iter().zip(&self.shown.1).zip(earlier_counts);
        let operations = rates.map(|((stats, count), earlier_count)| {
            let done_count = count.saturating_sub(earlier_count);
            OperationProgress::new(stats.operation.name(), stats.requested_per_s, done_count, seconds)
        });
        let mut service = times_of(&self.operation_stats, ActHistogram::Reads, |stats| {
            &stats.total.service
        });
        for (operation, tally) in &self.tallies {
            if operation.histogram() == Some(ActHistogram::Reads) {
                service.merge(&tally.times.service);
            }
        }
        outputs.show(Snapshot::Load(LoadProgress {
            start: self.start,
            length: self.context.length,
            operations: operations.filter(|_| seconds > 0.0).collect(),
            reads_count: service.count(),
            over: side::over(&service),
            hottest: self.hottest.clone(),
        }));
    }

    /// Waits for the threads with a limit, because a drive that does not answer blocks them in the kernel.
    fn wait_for_threads(&self) {
        let until = Instant::now().after(EXIT_LIMIT);
        while self.context.alive_count() > 0 && Instant::now() < until {
            Instant::now().after(EXIT_CHECK_PERIOD).sleep_until();
        }
    }

    fn finish(mut self, outputs: &mut Outputs) -> RunEnd {
        let stop_reason = self.context.stop.stop_reason();
        // A complete run ends with its last report. Writing that report does not count.
        let elapsed = stop_reason.map_or(self.interval_start, |_| Instant::now().since(self.start));
        self.wait_for_threads();
        // If the log cannot be written, the final lines fail as well; the caller reports that.
        let _ = self.report_errors(outputs);
        if stop_reason.is_some() {
            self.close_interval();
            self.show_progress(outputs);
        }
        let extent = Extent {
            elapsed,
            is_whole: stop_reason.is_none(),
        };
        let totals = RunTotals {
            start: Some(self.start),
            elapsed,
            rate_check: RateCheck::of(&self.operation_stats, extent),
            operation_stats: self.operation_stats,
            tomb_raider_reads_count: None,
            engine_counters: Some(self.engine_counters.totals()),
            errors: errors(self.context),
            disks: self
                .telemetry
                .sample(Nanos(elapsed.0 - self.interval_start.0))
                .disks,
        };
        RunEnd {
            stop_reason,
            totals,
            worst: self.worst,
        }
    }
}

fn errors(context: &RunContext) -> Vec<ErrorCount> {
    let named = |(kind, count): (ErrorKind, u64)| ErrorCount {
        device: context.devices[kind.device].name.clone(),
        operation: kind.operation.name(),
        errno: kind.errno,
        is_early_end: kind.is_early_end,
        count,
    };
    context.io_errors.counts().into_iter().map(named).collect()
}

/// Returns the number of the block device: that of the device itself, or that of the device below a file's file
/// system.
pub fn loaded_devices(devices: &[Device]) -> Vec<LoadedDevice> {
    let loaded =
        |device: &Device| LoadedDevice::new(device.name.clone(), device.file.metadata().ok().as_ref());
    devices.iter().map(loaded).collect()
}
