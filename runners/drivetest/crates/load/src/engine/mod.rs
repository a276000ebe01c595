//! The engines that send the requests: io_uring rings or threads, depending on the devices.

pub mod buffer;
pub mod counters;
mod probe;
pub(crate) mod request;
/// The `io_uring` engine: one ring for each worker, with as many outstanding requests as the load needs.
///
/// A worker takes a request's number, sleeps until it is due, submits it and continues. It timestamps completions
/// before anything else. No request is submitted early. If a device has no free slot, only its own requests wait.
mod ring {
    mod arena;
    mod backlog;
    mod stream_state;
    mod uring;
    mod worker;

    pub(crate) use worker::Worker;
}
pub mod setup;
mod thread_scheduling;
mod threads;
mod wake_error;
pub mod workers;

use std::io;
use std::sync::Arc;

pub use probe::select;

use crate::clock::{Instant, Nanos};
use counters::EngineCounters;
use rustix::thread::sched_setaffinity;
use setup::Setup;
use workers::{RunContext, Task};

use crate::schedule::stream::Stream;

/// Maximum length of one sleep, so that a stop takes effect soon even at low rates.
const LONGEST_SLEEP: Nanos = Nanos::from_ms(50);

/// After the end of the run, requests that are later than this are left out.
const GRACE: Nanos = Nanos::from_s(1);

/// Maximum number of rings.
pub const MOST_WORKERS: usize = 64;

/// Rate per ring above which another ring is added. A ring can carry several times as much, but a delay of its thread
/// then affects fewer requests.
const REQUESTS_PER_WORKER: f64 = 50_000.0;

/// The selected engine and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSelection {
    /// The engine.
    pub engine: Engine,
    /// A sentence without a full stop.
    pub reason: String,
    /// The number of rings and its reason, or None for threads.
    pub rings_reason: Option<String>,
}

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// One or more rings.
    IoUring {
        /// 1 to 64.
        workers: usize,
    },
    /// One thread for each outstanding request.
    Threads,
}

impl Engine {
    /// Returns the name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::IoUring { .. } => "io_uring",
            Self::Threads => "threads",
        }
    }

    /// Returns the number of rings; None for threads.
    pub fn workers(self) -> Option<usize> {
        match self {
            Self::IoUring { workers } => Some(workers),
            Self::Threads => None,
        }
    }
}

/// Returns the number of rings for a rate, and a sentence with the reason. It is at most half the number of processors,
/// so that completions find a free processor.
pub fn workers(configured: usize, per_s: f64, cpus_count: usize) -> (usize, String) {
    let wanted = (per_s / REQUESTS_PER_WORKER).ceil().max(1.0) as usize;
    let most = (cpus_count / 2).clamp(1, MOST_WORKERS);
    let (count, reason) = match configured {
        0 if wanted > most && most < MOST_WORKERS => {
            (most, format!("at most half of {cpus_count} processors"))
        }
        0 => (
            wanted.min(most),
            format!("at most {REQUESTS_PER_WORKER} requests per second for each ring"),
        ),
        _ => (configured.min(MOST_WORKERS), "configured".to_owned()),
    };
    let rings = if count == 1 { "ring" } else { "rings" };
    (
        count,
        format!("{count} {rings} for {per_s:.0} requests per second: {reason}"),
    )
}

/// The workers of all streams, before they start.
pub struct PreparedEngine {
    tasks: Vec<Task>,
    counters: EngineCounters,
}

impl PreparedEngine {
    /// Starts the workers. Returns when the first requests are due, and the workers' counters.
    ///
    /// # Errors
    /// If the system provides too few threads. No request was sent then.
    pub fn start(self, context: &Arc<RunContext>) -> io::Result<(Instant, EngineCounters)> {
        Ok((workers::start(context, self.tasks)?, self.counters))
    }
}

/// Prepares the workers of all streams, and records how their rings or threads are set up.
///
/// # Errors
/// If the system provides too few rings.
pub fn prepare(
    context: &Arc<RunContext>,
    streams: &[Arc<Stream>],
    engine: Engine,
    setup: &mut Setup,
) -> io::Result<PreparedEngine> {
    let threads_count = streams.iter().map(|stream| stream.recorders.len()).sum();
    let counters = EngineCounters::new(
        engine.workers().unwrap_or(threads_count),
        engine.workers().is_some(),
    );
    let tasks = match engine {
        Engine::IoUring { workers } => ring_tasks(context, streams, workers, &counters, setup)?,
        Engine::Threads => {
            setup.is_processor_wait_counted = Some(thread_scheduling::counts_processor_waits());
            thread_tasks(context, streams, &counters)
        }
    };
    Ok(PreparedEngine { tasks, counters })
}

fn ring_tasks(
    context: &Arc<RunContext>,
    streams: &[Arc<Stream>],
    workers: usize,
    counters: &EngineCounters,
    setup: &mut Setup,
) -> io::Result<Vec<Task>> {
    let cpus = setup.ring_cpus;
    let task = |number| {
        let worker = ring::Worker::new(context, streams, number, workers, counters.of_worker(number))?;
        // All rings are set up alike.
        (setup.ring_mode, setup.has_registered_buffers) = worker.ring_setup();
        let work: Box<dyn FnOnce() + Send> = Box::new(move || {
            // Without permission, the ring runs on all processors, as before.
            let _ = cpus.map(|cpus| sched_setaffinity(None, &cpus));
            worker.work();
        });
        Ok((format!("ring-{number}"), work))
    };
    (0..workers).map(task).collect()
}

fn thread_tasks(context: &Arc<RunContext>, streams: &[Arc<Stream>], counters: &EngineCounters) -> Vec<Task> {
    let mut tasks = Vec::new();
    for stream in streams {
        for number in 0..stream.recorders.len() {
            let worker = threads::Worker::new(context, stream, number, counters.of_worker(tasks.len()));
            let work: Box<dyn FnOnce() + Send> = Box::new(move || worker.work());
            tasks.push((format!("load-{number}"), work));
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_ring_is_enough_up_to_its_rate() {
        let of = |per_s, cpus_count| workers(0, per_s, cpus_count).0;
        assert_eq!([of(20_000.0, 2), of(20_000.0, 128), of(50_000.0, 128)], [1, 1, 1]);
        assert_eq!([of(50_001.0, 128), of(800_000.0, 128), of(1e9, 256)], [2, 16, 64]);
    }

    #[test]
    fn rings_use_at_most_half_of_the_processors() {
        assert_eq!(
            [1, 2, 8].map(|cpus_count| workers(0, 800_000.0, cpus_count).0),
            [1, 1, 4]
        );
    }

    #[test]
    fn a_configured_number_is_used() {
        assert_eq!([workers(3, 1.0, 1).0, workers(65, 1.0, 1).0], [3, 64]);
    }

    #[test]
    fn the_number_of_rings_has_a_reason() {
        let reason = |configured, per_s, cpus_count| workers(configured, per_s, cpus_count).1;
        let expected = [
            "1 ring for 30000 requests per second: at most 50000 requests per second for each ring",
            "2 rings for 90000 requests per second: at most 50000 requests per second for each ring",
            "1 ring for 90000 requests per second: at most half of 2 processors",
            "2 rings for 90000 requests per second: configured",
        ];
        let found = [
            reason(0, 3e4, 2),
            reason(0, 9e4, 8),
            reason(0, 9e4, 2),
            reason(2, 9e4, 2),
        ];
        assert_eq!(found, expected);
    }
}
