//! What carries the requests out: rings or threads, whichever suits the devices.

pub mod buffer;
mod probe;
pub(crate) mod request;
mod ring;
mod thread_scheduling;
mod threads;
pub mod workers;

use std::io;
use std::sync::Arc;

pub use probe::choose;

use crate::clock::{Instant, Nanos};
use workers::{RunContext, Task};

use crate::schedule::stream::Stream;

/// The longest sleep at a stretch, so that a stop is seen soon however seldom requests are due.
const LONGEST_SLEEP: Nanos = Nanos::from_ms(50);

/// Requests late by more than this are left out once the run's time is over.
const GRACE: Nanos = Nanos::from_s(1);

/// Workers that a ring each may be asked for.
pub const MOST_WORKERS: usize = 64;

/// Requests in a second that one ring is given before another is made; one carries several times as many.
const REQUESTS_PER_WORKER: f64 = 100_000.0;

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSelection {
    /// Which.
    pub engine: Engine,
    /// A sentence without an end mark.
    pub reason: String,
}

/// What carries the requests out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// So many rings.
    IoUring {
        /// 1 to 64.
        workers: usize,
    },
    /// A thread for each request that is out.
    Threads,
}

impl Engine {
    /// As in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::IoUring { .. } => "io_uring",
            Self::Threads => "threads",
        }
    }

    /// How many ring workers; None for threads.
    pub fn workers(self) -> Option<usize> {
        match self {
            Self::IoUring { workers } => Some(workers),
            Self::Threads => None,
        }
    }
}

/// How many rings carry so many requests a second on a host with that many processors: never more than half of these,
/// so that what is measured finds a processor free.
pub fn workers(asked: usize, per_s: f64, cpus_count: usize) -> usize {
    if asked > 0 {
        return asked.min(MOST_WORKERS);
    }
    let wanted = (per_s / REQUESTS_PER_WORKER).ceil() as usize;
    wanted.clamp(1, (cpus_count / 2).clamp(1, MOST_WORKERS))
}

/// Starts the workers of every stream, and returns when the first requests become due.
///
/// # Errors
/// When the system gives fewer threads or rings than asked for; nothing was asked of any device.
pub fn start(context: &Arc<RunContext>, streams: &[Arc<Stream>], engine: Engine) -> io::Result<Instant> {
    let tasks = match engine {
        Engine::IoUring { workers } => ring_tasks(context, streams, workers)?,
        Engine::Threads => thread_tasks(context, streams),
    };
    workers::start(context, tasks)
}

fn ring_tasks(context: &Arc<RunContext>, streams: &[Arc<Stream>], workers: usize) -> io::Result<Vec<Task>> {
    let task = |number| {
        let worker = ring::Worker::new(context, streams, number, workers)?;
        let work: Box<dyn FnOnce() + Send> = Box::new(move || worker.work());
        Ok((format!("ring-{number}"), work))
    };
    (0..workers).map(task).collect()
}

fn thread_tasks(context: &Arc<RunContext>, streams: &[Arc<Stream>]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for stream in streams {
        for number in 0..stream.recorders.len() {
            let worker = threads::Worker::new(context, stream, number);
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
    fn one_ring_is_enough_until_the_rate_asks_for_more() {
        assert_eq!(
            [
                workers(0, 20_000.0, 2),
                workers(0, 20_000.0, 128),
                workers(0, 100_000.0, 128)
            ],
            [1, 1, 1]
        );
        assert_eq!(
            [
                workers(0, 100_001.0, 128),
                workers(0, 800_000.0, 128),
                workers(0, 1e9, 128)
            ],
            [2, 8, 64]
        );
    }

    #[test]
    fn rings_leave_half_of_the_processors_alone() {
        assert_eq!(
            [
                workers(0, 800_000.0, 1),
                workers(0, 800_000.0, 2),
                workers(0, 800_000.0, 8)
            ],
            [1, 1, 4]
        );
    }

    #[test]
    fn a_number_that_is_given_is_taken() {
        assert_eq!([workers(3, 1.0, 1), workers(65, 1.0, 1)], [3, 64]);
    }
}
