//! The threads of a run, what they share, and the start_barrier that lets all of them start at once.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::Builder;

use crate::clock::{Instant, Nanos};
use crate::config::Config;
use crate::device::Device;
use crate::stats::io_errors::IoErrors;
use crate::stop::StopSignal;

/// Between the last thread's readiness and the first request.
const LEAD: Nanos = Nanos::from_ms(20);

/// Buffers are allocated apart; what remains on a stack is small.
const STACK_BYTES: usize = 128 * 1024;

/// What every thread of a run sees.
#[derive(Debug)]
pub struct RunContext {
    /// What is asked.
    pub config: Config,
    /// Under load.
    pub devices: Vec<Device>,
    /// All random choices follow from it.
    pub seed: u64,
    /// How long requests become due.
    pub length: Nanos,
    /// Ends the run before its time.
    pub stop: StopSignal,
    /// What failed.
    pub io_errors: IoErrors,
    pub(crate) start_barrier: StartBarrier,
    alive_count: AtomicUsize,
}

impl RunContext {
    /// A run that has not begun.
    pub fn new(config: Config, devices: Vec<Device>, seed: u64, stop: StopSignal) -> Self {
        // As upstream: a duration that is no multiple of the interval is run to the interval's end.
        let interval_s = u64::from(config.report_interval_s);
        let length = Nanos::from_s(u64::from(config.duration_s).next_multiple_of(interval_s));
        let start_barrier = StartBarrier::new(length);
        let io_errors = IoErrors::new(config.max_errors);
        Self {
            config,
            devices,
            seed,
            length,
            stop,
            io_errors,
            start_barrier,
            alive_count: AtomicUsize::new(0),
        }
    }

    /// Whether a request that much behind its due time stops the run.
    pub fn is_too_late(&self, lag: Nanos) -> bool {
        self.config.max_lag_s != 0 && lag > Nanos::from_s(u64::from(self.config.max_lag_s))
    }

    /// Threads that have not ended.
    pub fn alive_count(&self) -> usize {
        self.alive_count.load(Ordering::Acquire)
    }
}

/// Lets every thread wait until all are there, and tells them when the run starts.
#[derive(Debug)]
pub(crate) struct StartBarrier {
    length: Nanos,
    waiting_count: Mutex<usize>,
    changed: Condvar,
    start: OnceLock<Option<Instant>>,
}

impl StartBarrier {
    fn new(length: Nanos) -> Self {
        Self {
            length,
            waiting_count: Mutex::new(0),
            changed: Condvar::new(),
            start: OnceLock::new(),
        }
    }

    /// Waits for the start; None when the run does not take place.
    pub(crate) fn pass(&self) -> Option<Instant> {
        let mut waiting = self.waiting_count.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting += 1;
        self.changed.notify_all();
        loop {
            if let Some(start) = self.start.get() {
                return *start;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// When requests cease to become due.
    pub(crate) fn end(&self) -> Instant {
        let start = self.start.get().copied().flatten();
        start.map_or_else(Instant::now, |start| start.after(self.length))
    }

    /// Waits until that many threads stand at the start_barrier, and starts the run.
    fn open(&self, threads_count: usize) -> Instant {
        let mut waiting = self.waiting_count.lock().unwrap_or_else(PoisonError::into_inner);
        while *waiting < threads_count {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let start = Instant::now().after(LEAD);
        let start = self.start.get_or_init(|| Some(start)).unwrap_or(start);
        self.changed.notify_all();
        start
    }

    /// Sends the threads home.
    fn cancel(&self) {
        let waiting = self.waiting_count.lock().unwrap_or_else(PoisonError::into_inner);
        // A start_barrier that was opened stays open.
        let _ = self.start.set(None);
        self.changed.notify_all();
        drop(waiting);
    }
}

/// Counts a thread as ended however it ends, and wakes the collector after the last one.
struct Presence(Arc<RunContext>);

impl Drop for Presence {
    fn drop(&mut self) {
        if self.0.alive_count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.stop.wake();
        }
    }
}

/// A thread of a run: what it does, and what it is called.
pub(crate) type Task = (String, Box<dyn FnOnce() + Send>);

/// Starts every thread, and returns when the first requests become due.
///
/// # Errors
/// When the system gives fewer threads than asked for; those that were started have been sent home.
pub(crate) fn start(context: &Arc<RunContext>, tasks: Vec<Task>) -> io::Result<Instant> {
    let threads_count = tasks.len();
    for task in tasks {
        if let Err(error) = start_one(context, task) {
            context.start_barrier.cancel();
            return Err(error);
        }
    }
    Ok(context.start_barrier.open(threads_count))
}

fn start_one(context: &Arc<RunContext>, (name, work): Task) -> io::Result<()> {
    context.alive_count.fetch_add(1, Ordering::AcqRel);
    let presence = Presence(Arc::clone(context));
    // Not joined: a thread may be held in the kernel by a drive that never answers.
    let started = Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
        let _presence = presence;
        work();
    });
    started.map(drop)
}
