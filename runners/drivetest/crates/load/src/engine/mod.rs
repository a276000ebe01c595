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

    pub(crate) use uring::has_exact_timeouts;
    pub(crate) use worker::Worker;
}
pub mod ring_cpus;
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
use ring_cpus::{Confinement, RingCpus};
use rustix::thread::sched_setaffinity;
use setup::Setup;
use wake_error::WakeError;
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

/// Returns the number of rings for a rate, and a sentence with the reason. It is at most half the number of their
/// processors, so that completions find a free processor.
pub fn workers(configured: usize, per_s: f64, cpus: &RingCpus) -> (usize, String) {
    let wanted = (per_s / REQUESTS_PER_WORKER).ceil().max(1.0) as usize;
    let most = (cpus.count / 2).clamp(1, MOST_WORKERS);
    let (count, reason) = match configured {
        1.. => (configured.min(MOST_WORKERS), "configured".to_owned()),
        0 if wanted <= most => (
            wanted,
            format!("at most {REQUESTS_PER_WORKER} requests per second for each ring"),
        ),
        0 if most == MOST_WORKERS => (most, format!("at most {MOST_WORKERS} rings")),
        0 if cpus.count == 1 => (most, format!("only {}", cpus.text())),
        0 => (most, format!("at most half of {}", cpus.text())),
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
/// If the system provides too few rings, or no thread.
pub fn prepare(
    context: &Arc<RunContext>,
    streams: &[Arc<Stream>],
    engine: Engine,
    ring_cpus: &RingCpus,
    setup: &mut Setup,
) -> io::Result<PreparedEngine> {
    let threads_count = streams.iter().map(|stream| stream.recorders.len()).sum();
    let counters = EngineCounters::new(
        engine.workers().unwrap_or(threads_count),
        engine.workers().is_some(),
    );
    let tasks = match engine {
        Engine::IoUring { workers } => ring_tasks(context, streams, workers, &counters, ring_cpus, setup)?,
        Engine::Threads => {
            setup.is_processor_wait_counted = Some(thread_scheduling::counts_processor_waits());
            thread_tasks(context, streams, &counters, &WakeError::of_trial_thread()?)
        }
    };
    Ok(PreparedEngine { tasks, counters })
}

fn ring_tasks(
    context: &Arc<RunContext>,
    streams: &[Arc<Stream>],
    workers: usize,
    counters: &EngineCounters,
    ring_cpus: &RingCpus,
    setup: &mut Setup,
) -> io::Result<Vec<Task>> {
    let cpus = ring_cpus.set;
    // The kernel allocates memory on the node of the thread that first uses it.
    let _confinement = cpus.map(|cpus| Confinement::begin(&cpus));
    // A run has devices.
    let has_timeouts = ring::has_exact_timeouts(&context.devices[0].file)?;
    if !has_timeouts {
        setup.note_unset(
            "requests have no timeout of their own",
            &"the kernel shifts timeouts of rings, for example in a time namespace",
        );
    }
    let task = |number| {
        let counters = counters.of_worker(number);
        let worker = ring::Worker::new(context, streams, number, workers, counters, has_timeouts)?;
        let (mode, unregistered_reason) = worker.ring_setup();
        setup.add_ring(mode, unregistered_reason);
        let work: Box<dyn FnOnce() + Send> = Box::new(move || {
            // The kernel accepted these processors when they were selected.
            let _ = cpus.map(|cpus| sched_setaffinity(None, &cpus));
            worker.work();
        });
        Ok((format!("ring-{number}"), work))
    };
    (0..workers).map(task).collect()
}

fn thread_tasks(
    context: &Arc<RunContext>,
    streams: &[Arc<Stream>],
    counters: &EngineCounters,
    wake_error: &WakeError,
) -> Vec<Task> {
    let mut tasks = Vec::new();
    for stream in streams {
        for number in 0..stream.recorders.len() {
            let counters = counters.of_worker(tasks.len());
            let worker = threads::Worker::new(context, stream, number, counters, wake_error.clone());
            let work: Box<dyn FnOnce() + Send> = Box::new(move || worker.work());
            tasks.push((format!("load-{number}"), work));
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu};

    use super::*;
    use crate::config::Config;
    use crate::device::{Device, Offsets};
    use crate::schedule::stream::streams;
    use crate::stop::StopSignal;

    /// Returns the context of a run of 1 s with reads of a file, and its streams for this number of rings.
    pub(super) fn run_of_reads(
        per_s: u32,
        coalesce_us: u32,
        workers: Option<usize>,
    ) -> (Arc<RunContext>, Vec<Arc<Stream>>) {
        let text = format!(
            "device-names: a\ntest-duration-sec: 1\nread-reqs-per-sec: {per_s}\ncoalesce-us: {coalesce_us}"
        );
        let config = Config::read(&text, 1).unwrap().0;
        let streams = streams(&config, Nanos::from_s(1), 1, workers);
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let device = Device {
            name: "a".to_owned(),
            file,
            size_bytes: 1 << 20,
            minimum_io_bytes: 512,
            offsets: Offsets::new(&config, 1 << 20, 512).unwrap(),
        };
        let stop = StopSignal::new().unwrap();
        (Arc::new(RunContext::new(config, vec![device], 1, stop)), streams)
    }

    fn on(count: usize) -> RingCpus {
        RingCpus {
            count,
            ..RingCpus::default()
        }
    }

    #[test]
    fn one_ring_is_enough_up_to_its_rate() {
        let of = |per_s, cpus_count| workers(0, per_s, &on(cpus_count)).0;
        assert_eq!([of(20_000.0, 2), of(20_000.0, 128), of(50_000.0, 128)], [1, 1, 1]);
        assert_eq!([of(50_001.0, 128), of(800_000.0, 128), of(1e9, 256)], [2, 16, 64]);
    }

    #[test]
    fn rings_use_at_most_half_of_the_processors() {
        assert_eq!(
            [1, 2, 8].map(|cpus_count| workers(0, 800_000.0, &on(cpus_count)).0),
            [1, 1, 4]
        );
    }

    #[test]
    fn a_configured_number_is_used() {
        assert_eq!([workers(3, 1.0, &on(1)).0, workers(65, 1.0, &on(1)).0], [3, 64]);
    }

    #[test]
    fn the_number_of_rings_has_a_reason() {
        let reason = |configured, per_s, cpus: RingCpus| workers(configured, per_s, &cpus).1;
        let expected = [
            "1 ring for 30000 requests per second: at most 50000 requests per second for each ring",
            "2 rings for 90000 requests per second: at most 50000 requests per second for each ring",
            "64 rings for 3200000 requests per second: at most 50000 requests per second for each ring",
            "64 rings for 10000000 requests per second: at most 64 rings",
            "1 ring for 90000 requests per second: at most half of 2 processors",
            "4 rings for 400000 requests per second: at most half of 8 processors of NUMA node 1",
            "1 ring for 90000 requests per second: only 1 processor",
            "2 rings for 90000 requests per second: configured",
        ];
        let on_node = RingCpus {
            node: Some(1),
            ..on(8)
        };
        let found = [
            reason(0, 3e4, on(2)),
            reason(0, 9e4, on(8)),
            reason(0, 3.2e6, on(256)),
            reason(0, 1e7, on(256)),
            reason(0, 9e4, on(2)),
            reason(0, 4e5, on_node),
            reason(0, 9e4, on(1)),
            reason(2, 9e4, on(2)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn rings_alone_run_on_their_processors() {
        let before = sched_getaffinity(None).unwrap();
        let (context, streams) = run_of_reads(1_000, 0, Some(1));
        let counters = EngineCounters::new(1, true);
        // Without io_uring there is nothing to test.
        if ring::has_exact_timeouts(&context.devices[0].file).is_err() {
            return;
        }
        let mut one = CpuSet::new();
        one.set(sched_getcpu());
        let ring_cpus = RingCpus {
            set: Some(one),
            ..on(1)
        };
        let mut setup = Setup::default();
        let tasks = ring_tasks(&context, &streams, 1, &counters, &ring_cpus, &mut setup).unwrap();
        assert_eq!(sched_getaffinity(None).unwrap(), before);
        assert!(setup.ring_mode.is_some() && setup.has_registered_buffers.is_some());
        context.start_barrier.cancel();
        for (_, work) in tasks {
            let thread = std::thread::spawn(move || {
                work();
                sched_getaffinity(None).unwrap()
            });
            assert_eq!(thread.join().unwrap(), one);
        }
    }
}
