//! A thread of the `threads` engine: takes the next request, waits until it is due, sends it and counts it.
//!
//! A free slot is a free thread here. A request that is due before a thread takes it has a backlog: all threads were
//! busy with earlier requests. The time in which its thread overslept, or was ready but had no processor, is no backlog.

use std::sync::Arc;

use rustix::io::Errno;

use crate::clock::{Instant, Nanos};
use crate::device::Device;
use crate::engine::buffer::{Buffer, Payload};
use crate::engine::counters::WorkerCounters;
use crate::engine::request::{self, Request};
use crate::engine::thread_scheduling::{self, RunQueueWait};
use crate::engine::wake_error::WakeError;
use crate::engine::workers::RunContext;
use crate::engine::{GRACE, LONGEST_SLEEP};
use crate::schedule::rng::RequestRng;
use crate::schedule::stream::{Operation, Stream};
use crate::stats::io_errors::Failure;
use crate::stats::recorder::{Recorder, Stamps};
use crate::stop::StopReason;

/// A device that is faster than this is in memory. One thread serves several requests as well as several threads do.
const FAST_DEVICE: Nanos = Nanos(10_000);

/// Maximum number of requests that a thread takes together: those that are coalesced, or have long been due.
const MAX_BATCH_SIZE: u64 = 16;

/// A request that takes as long as this may have waited for a processor. Reading for how long costs a thousandth of it.
const SLOW_REQUEST: Nanos = Nanos::from_ms(1);

/// Number of threads of an operation that read it: each needs an open file, and a process may have few of them.
const RUN_QUEUE_READERS: usize = 64;

/// A worker. All its memory is allocated here.
pub(crate) struct Worker {
    context: Arc<RunContext>,
    stream: Arc<Stream>,
    recorder: Arc<Recorder>,
    memory: Memory,
    /// Number of requests that are due within the time of coalescing, on average.
    coalesced_count: u64,
    is_fast: bool,
    /// Whether the last request was so late that the next batch is already due.
    is_behind: bool,
    number: usize,
    availability: Availability,
    run_queue_wait: RunQueueWait,
    wake_error: WakeError,
    counters: Arc<WorkerCounters>,
}

/// When a thread was last back from sleeping, and when it was last done with a request.
#[derive(Debug, Clone, Copy)]
struct Availability {
    awake_since: Instant,
    free_since: Instant,
}

impl Availability {
    /// Returns how long a request that this thread serves next has waited for it. A thread that slept after its last
    /// request was free.
    fn backlog(self, due: Instant) -> Nanos {
        self.free_since.since(due.max(self.awake_since))
    }
}

/// The state of a request after waiting.
enum Readiness {
    Due,
    /// The run has ended, and the request is later than the grace time. Requests behind it may be less late.
    LeftOut,
    Stopped,
}

enum Memory {
    Read(Buffer),
    Write(Payload),
}

impl Worker {
    pub(crate) fn new(
        context: &Arc<RunContext>,
        stream: &Arc<Stream>,
        number: usize,
        counters: Arc<WorkerCounters>,
    ) -> Self {
        let now = Instant::now();
        let in_window = stream.schedule.rate().per_s() * context.coalescing().0 as f64 / 1e9;
        Self {
            memory: memory(context, stream.operation, number),
            coalesced_count: (1 + in_window as u64).min(MAX_BATCH_SIZE),
            is_fast: false,
            is_behind: false,
            number,
            availability: Availability {
                awake_since: now,
                free_since: now,
            },
            run_queue_wait: RunQueueWait::default(),
            wake_error: WakeError::new(),
            counters,
            context: Arc::clone(context),
            stream: Arc::clone(stream),
            recorder: Arc::clone(&stream.recorders[number]),
        }
    }

    /// Works until all requests are sent or the run stops.
    pub(crate) fn work(mut self) {
        thread_scheduling::minimize_timer_slack();
        if self.number < RUN_QUEUE_READERS {
            self.run_queue_wait = RunQueueWait::of_this_thread();
        }
        let Some(start) = self.context.start_barrier.wait() else {
            return;
        };
        while let Some(taken) = self.stream.take_several(self.batch_size()) {
            // Fast only if all of them are, because the next thread waits for the slowest.
            self.is_fast = true;
            self.counters.count_batch((taken.end - taken.start) as usize);
            let due = |k| start.after(self.stream.due(k));
            let coalesced = due(taken.end - 1).min(due(taken.start).after(self.context.coalescing()));
            for k in taken {
                let request = self.prepare(k, start.after(self.stream.due(k)));
                let continues = match self.wait(request.due.max(coalesced)) {
                    Readiness::Due => self.serve(request),
                    Readiness::LeftOut => true,
                    Readiness::Stopped => false,
                };
                if !continues {
                    return;
                }
            }
        }
    }

    /// Returns how many requests to take: one, or several of a device in memory. None of them waits for another longer
    /// than the configuration allows.
    fn batch_size(&self) -> u64 {
        match (&self.memory, self.is_fast, self.is_behind) {
            (Memory::Write(_), ..) | (_, false, _) => 1,
            (.., true) => MAX_BATCH_SIZE,
            (.., false) => self.coalesced_count,
        }
    }

    /// Determines offset and data before the request is due.
    fn prepare(&mut self, k: u64, due: Instant) -> Request {
        let (request, rng) = request::draw(&self.context, &self.stream, k, due);
        if let Memory::Write(payload) = &mut self.memory {
            payload.stamp(rng);
        }
        request
    }

    /// Waits until a request is due or the run stops.
    fn wait(&mut self, due: Instant) -> Readiness {
        let wake_time = due.before(self.wake_error.lead(self.stream.half_period()));
        let (mut has_slept, mut spins_since) = (false, None);
        loop {
            if self.context.stop.is_raised() {
                return Readiness::Stopped;
            }
            let now = Instant::now();
            if now >= due {
                if let Some(since) = spins_since {
                    self.counters.count_spin(now.since(since));
                }
                if has_slept {
                    self.availability.awake_since = now;
                    self.run_queue_wait.reset();
                }
                let is_left_out = now > self.context.start_barrier.end() && now.since(due) > GRACE;
                return if is_left_out {
                    Readiness::LeftOut
                } else {
                    Readiness::Due
                };
            }
            if now >= wake_time {
                spins_since = spins_since.or(Some(now));
                std::hint::spin_loop();
                continue;
            }
            let until = wake_time.min(now.after(LONGEST_SLEEP));
            until.sleep_until();
            has_slept = true;
            self.counters.count_wake(false);
            if self.wake_error.add(Instant::now().since(until)) {
                self.counters.set_wake_error(&self.wake_error);
            }
        }
    }

    /// Sends a request and counts it. Returns false if that ends the run.
    fn serve(&mut self, request: Request) -> bool {
        let submitted = Instant::now();
        let lateness = submitted.since(request.due);
        self.is_behind =
            lateness.0 as f64 * self.stream.schedule.rate().per_s() >= MAX_BATCH_SIZE as f64 * 1e9;
        if self.context.is_too_late(lateness) {
            self.context.stop.raise(StopReason::Lag(self.stream.operation));
            return false;
        }
        self.stream.note_submission(submitted);
        let backlog = self.availability.backlog(request.due);
        let moved = self.transfer(request);
        let completed = Instant::now();
        self.availability.free_since = completed.before(self.wait_for_processor(completed.since(submitted)));
        match Failure::of(moved, request.extent.length) {
            None => {
                let stamps = Stamps {
                    due: request.due,
                    submitted,
                    completed,
                    backlog,
                };
                self.recorder.record(request.device, stamps);
                self.is_fast &= completed.since(submitted) < FAST_DEVICE;
            }
            Some(failure) => {
                self.recorder.fail(request.device);
                request::fail(&self.context, request.failed_request(&self.stream, failure));
            }
        }
        true
    }

    /// Returns how long this thread was ready but had no processor in a request of this length. Only the time between two
    /// slow requests in a row is read, so that fast ones cost nothing.
    fn wait_for_processor(&mut self, service: Nanos) -> Nanos {
        if service < SLOW_REQUEST {
            self.run_queue_wait.reset();
            return Nanos(0);
        }
        self.run_queue_wait.since_last_call().min(service)
    }

    /// Transfers the extent in one call, again if a signal interrupts it.
    fn transfer(&mut self, request: Request) -> Result<usize, Errno> {
        let device = &self.context.devices[request.device];
        loop {
            let moved = match &mut self.memory {
                Memory::Read(buffer) => device.read(request.extent, buffer.bytes()),
                Memory::Write(payload) => device.write(request.extent, payload.bytes()),
            };
            if moved != Err(Errno::INTR) {
                return moved;
            }
        }
    }
}

fn memory(context: &RunContext, operation: Operation, number: usize) -> Memory {
    let longest = |device: &Device| device.offsets.longest_bytes(operation);
    let size = context.devices.iter().map(longest).max().unwrap_or_default();
    match operation.is_write() {
        false => Memory::Read(Buffer::new(size)),
        true => {
            let rng = RequestRng::new(context.seed ^ number as u64, u64::MAX, 0);
            Memory::Write(Payload::new(size, context.config.compress_pct, rng))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::schedule::stream::streams;
    use crate::stop::StopSignal;

    /// Returns a thread for 20,000 reads per second.
    fn thread(coalesce_us: u32) -> Worker {
        let text = format!(
            "device-names: a\ntest-duration-sec: 1\nread-reqs-per-sec: 20000\ncoalesce-us: {coalesce_us}"
        );
        let config = Config::read(&text, 1).unwrap().0;
        let stream = &streams(&config, Nanos::from_s(1), 1, None)[0];
        let context = Arc::new(RunContext::new(config, Vec::new(), 1, StopSignal::new().unwrap()));
        Worker::new(&context, stream, 0, Arc::default())
    }

    #[test]
    fn several_requests_are_taken_only_if_coalesced_or_already_due() {
        let sizes = |coalesce_us| {
            let mut thread = thread(coalesce_us);
            let slow = thread.batch_size();
            thread.is_fast = true;
            let on_time = thread.batch_size();
            thread.is_behind = true;
            [slow, on_time, thread.batch_size()]
        };
        // 50 us lie between two requests.
        assert_eq!(
            [sizes(0), sizes(49), sizes(100)],
            [[1, 1, 16], [1, 1, 16], [1, 3, 16]]
        );
    }

    #[test]
    fn backlog_is_the_time_in_which_the_thread_was_awake_and_busy() {
        let at = |us: u64| Instant::ZERO.after(Nanos(us * 1_000));
        let backlog = |awake_us, free_us, due_us| {
            let availability = Availability {
                awake_since: at(awake_us),
                free_since: at(free_us),
            };
            availability.backlog(at(due_us)).0 / 1_000
        };
        // Due while the thread was busy; due before it was back from its sleep; due after its last request; slept since.
        let all = [
            backlog(10, 50, 20),
            backlog(30, 50, 20),
            backlog(10, 50, 60),
            backlog(80, 50, 70),
        ];
        assert_eq!(all, [30, 20, 0, 0]);
    }
}
