//! The threads of a run, their shared context, and the barrier that starts them together.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::Builder;

use crate::clock::{Instant, Nanos};
use crate::config::Config;
use crate::device::Device;
use crate::stats::io_errors::IoErrors;
use crate::stop::StopSignal;

/// Time between the readiness of the last thread and the first request.
const START_LEAD: Nanos = Nanos::from_ms(20);

/// Buffers are allocated separately, so a small stack suffices.
const STACK_BYTES: usize = 128 * 1024;

/// The context that all threads of a run share.
#[derive(Debug)]
pub struct RunContext {
    /// The configuration.
    pub config: Config,
    /// The devices under load.
    pub devices: Vec<Device>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Time in which requests are due.
    pub length: Nanos,
    /// Ends the run early.
    pub stop: StopSignal,
    /// Failed requests.
    pub io_errors: IoErrors,
    pub(crate) start_barrier: StartBarrier,
    alive_count: AtomicUsize,
}

impl RunContext {
    /// Creates the context of a run that has not started.
    pub fn new(config: Config, devices: Vec<Device>, seed: u64, stop: StopSignal) -> Self {
        let length = Nanos::from_s(config.length_s());
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

    /// Returns whether a request with this lag stops the run.
    pub fn is_too_late(&self, lag: Nanos) -> bool {
        self.config.max_lag_s != 0 && lag > Nanos::from_s(u64::from(self.config.max_lag_s))
    }

    /// Returns the time within which due requests are submitted together.
    pub(crate) fn coalescing(&self) -> Nanos {
        Nanos::from_us(u64::from(self.config.coalesce_us))
    }

    /// Returns the number of threads that have not ended.
    pub fn alive_count(&self) -> usize {
        self.alive_count.load(Ordering::Acquire)
    }
}

/// Blocks the threads until all are ready, and gives them the start time.
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

    /// Waits for the start. Returns None if the run is cancelled.
    pub(crate) fn wait(&self) -> Option<Instant> {
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

    /// Returns when the last requests are due.
    pub(crate) fn end(&self) -> Instant {
        let start = self.start.get().copied().flatten();
        start.map_or_else(Instant::now, |start| start.after(self.length))
    }

    /// Waits until `threads_count` threads are ready, and starts the run.
    fn release(&self, threads_count: usize) -> Instant {
        let mut waiting = self.waiting_count.lock().unwrap_or_else(PoisonError::into_inner);
        while *waiting < threads_count {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let start = Instant::now().after(START_LEAD);
        let start = self.start.get_or_init(|| Some(start)).unwrap_or(start);
        self.changed.notify_all();
        start
    }

    /// Releases the waiting threads without a run.
    pub(super) fn cancel(&self) {
        let waiting = self.waiting_count.lock().unwrap_or_else(PoisonError::into_inner);
        // A barrier that was released stays released.
        let _ = self.start.set(None);
        self.changed.notify_all();
        drop(waiting);
    }
}

/// Counts a thread as ended, even after a panic, and wakes the collector after the last one.
struct Presence(Arc<RunContext>);

impl Drop for Presence {
    fn drop(&mut self) {
        if self.0.alive_count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.stop.wake();
        }
    }
}

/// Name and work of a thread.
pub(crate) type Task = (String, Box<dyn FnOnce() + Send>);

/// Starts all threads and returns when the first requests are due.
///
/// # Errors
/// If the system provides too few threads. The started ones have been released.
pub(crate) fn start(context: &Arc<RunContext>, tasks: Vec<Task>) -> io::Result<Instant> {
    let threads_count = tasks.len();
    for task in tasks {
        if let Err(error) = start_one(context, task) {
            context.start_barrier.cancel();
            return Err(error);
        }
    }
    Ok(context.start_barrier.release(threads_count))
}

fn start_one(context: &Arc<RunContext>, (name, work): Task) -> io::Result<()> {
    context.alive_count.fetch_add(1, Ordering::AcqRel);
    let presence = Presence(Arc::clone(context));
    // Not joined, because a drive that never answers may block a thread in the kernel.
    let started = Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
        let _presence = presence;
        work();
    });
    started.map(drop)
}
