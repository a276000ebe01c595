//! A thread of the `threads` engine: takes the next request, waits until it is due, sends it and counts it.
//!
//! A free slot is a free thread here. A request that is due before a thread takes it has a backlog: all threads were
//! busy with earlier requests. The time in which its thread overslept, or was ready but had no processor, is no
//! backlog. Neither is the time in which a request waits for others that its thread took together with it.

use std::ops::Range;
use std::sync::Arc;

use rustix::io::Errno;

use crate::clock::{Instant, Nanos};
use crate::device::Device;
use crate::engine::buffer::{Buffer, Payload};
use crate::engine::counters::WorkerCounters;
use crate::engine::request::{self, Request};
use crate::engine::thread_scheduling::{self, ProcessorWaits, RunQueueWait};
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

/// A thread counts as starved if it lacked a processor for at least its busy time divided by this. On an idle host,
/// waking up after each request takes less than 2 % (20 us after a request of 1 ms), which delays no request for long.
const STARVED_DIVISOR: u64 = 10;

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

/// When a thread was last on time, and since when it is free after its last request.
#[derive(Debug, Clone, Copy)]
struct Availability {
    /// When it was back from waiting for a request that was not due.
    awake_since: Instant,
    free_since: Instant,
    /// How much earlier it would be free if it had always had a processor since it was last on time.
    host_delay: Nanos,
    /// The part of that which delays all later requests until the thread is on time again.
    lasting_host_delay: Nanos,
}

impl Availability {
    fn new(now: Instant) -> Self {
        Self {
            awake_since: now,
            free_since: now,
            host_delay: Nanos(0),
            lasting_host_delay: Nanos(0),
        }
    }

    /// Returns how long a request that this thread takes now has waited for it. A thread that waited for a request
    /// after its last one was free.
    fn backlog(self, due: Instant) -> Nanos {
        let waited = self.free_since.since(due.max(self.awake_since));
        Nanos(waited.0.saturating_sub(self.host_delay.0))
    }

    /// Records the end of a request, and how long the thread lacked a processor in it and since it was last on time.
    /// None if the request was too short for that.
    fn end_request(&mut self, completed: Instant, waits: Option<ProcessorWaits>) {
        self.free_since = completed;
        let mut in_request = Nanos(0);
        if let Some(waits) = waits {
            let busy = completed.since(self.awake_since);
            let is_starved = waits.since_on_time.0 >= busy.0 / STARVED_DIVISOR;
            // Otherwise the delays are those of any program, and only the last one delays the next request.
            self.lasting_host_delay = if is_starved { waits.since_on_time } else { Nanos(0) };
            in_request = waits.in_request;
        }
        self.host_delay = self.lasting_host_delay.max(in_request);
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
        wake_error: WakeError,
    ) -> Self {
        let now = Instant::now();
        counters.set_wake_error(&wake_error);
        let in_window = stream.schedule.rate().per_s() * context.coalescing().0 as f64 / 1e9;
        Self {
            memory: memory(context, stream.operation, number),
            coalesced_count: (1 + in_window as u64).min(MAX_BATCH_SIZE),
            is_fast: false,
            is_behind: false,
            number,
            availability: Availability::new(now),
            run_queue_wait: RunQueueWait::default(),
            wake_error,
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
            if !self.serve_all(taken, start) {
                return;
            }
        }
    }

    /// Waits for requests that were taken together, and sends them. Returns false if the run ends.
    fn serve_all(&mut self, taken: Range<u64>, start: Instant) -> bool {
        let due = |k| start.after(self.stream.due(k));
        let coalesced = due(taken.end - 1).min(due(taken.start).after(self.context.coalescing()));
        // A request waits for a thread until one takes it. What follows is the delay of that thread.
        let when_taken = self.availability;
        for k in taken {
            let request = self.prepare(k, start.after(self.stream.due(k)));
            let continues = match self.wait(request.due.max(coalesced)) {
                Readiness::Due => self.serve(request, when_taken.backlog(request.due)),
                Readiness::LeftOut => true,
                Readiness::Stopped => false,
            };
            if !continues {
                return false;
            }
        }
        true
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
        let (mut is_early, mut spins_since) = (false, None);
        loop {
            if self.context.stop.is_raised() {
                return Readiness::Stopped;
            }
            let now = Instant::now();
            if now >= due {
                if let Some(since) = spins_since {
                    self.counters.count_spin(now.since(since));
                }
                if is_early {
                    self.availability = Availability::new(now);
                    self.run_queue_wait.begin();
                }
                let is_left_out = now > self.context.start_barrier.end() && now.since(due) > GRACE;
                return if is_left_out {
                    Readiness::LeftOut
                } else {
                    Readiness::Due
                };
            }
            is_early = true;
            if now >= wake_time {
                spins_since = spins_since.or(Some(now));
                std::hint::spin_loop();
                continue;
            }
            let until = wake_time.min(now.after(LONGEST_SLEEP));
            until.sleep_until();
            self.counters.count_wake(false);
            if self.wake_error.add(Instant::now().since(until)) {
                self.counters.set_wake_error(&self.wake_error);
            }
        }
    }

    /// Sends a request with this backlog and counts it. Returns false if that ends the run.
    fn serve(&mut self, request: Request, backlog: Nanos) -> bool {
        let submitted = Instant::now();
        let lateness = submitted.since(request.due);
        self.is_behind =
            lateness.0 as f64 * self.stream.schedule.rate().per_s() >= MAX_BATCH_SIZE as f64 * 1e9;
        if self.context.is_too_late(lateness) {
            self.context.stop.raise(StopReason::Lag(self.stream.operation));
            return false;
        }
        let own_lateness = Nanos(lateness.0.saturating_sub(backlog.0));
        self.stream.note_submission(submitted, own_lateness);
        let moved = self.transfer(request);
        let completed = Instant::now();
        let waits = self.processor_waits(completed.since(submitted));
        self.availability.end_request(completed, waits);
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

    /// Returns how long this thread was ready but had no processor in a request of this length, and since it was last
    /// on time. Fast requests cost nothing: None.
    fn processor_waits(&mut self, service: Nanos) -> Option<ProcessorWaits> {
        if service < SLOW_REQUEST {
            self.run_queue_wait.skip_request();
            return None;
        }
        let waits = self.run_queue_wait.read();
        Some(ProcessorWaits {
            in_request: waits.in_request.min(service),
            ..waits
        })
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
    use crate::engine::counters::EngineCounters;
    use crate::engine::tests::run_of_reads;
    use crate::stats::histogram::Histogram;
    use crate::stats::recorder::Tally;

    /// Returns a thread for 20,000 reads per second of a file.
    fn thread(coalesce_us: u32) -> Worker {
        let (context, streams) = run_of_reads(20_000, coalesce_us, None);
        Worker::new(&context, &streams[0], 0, Arc::default(), WakeError::new())
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
        // Requests are 50 us apart.
        assert_eq!(
            [sizes(0), sizes(49), sizes(100)],
            [[1, 1, 16], [1, 1, 16], [1, 3, 16]]
        );
    }

    #[test]
    fn a_thread_begins_with_the_wake_up_error_of_the_run_and_spins_for_that_time() {
        let mut wake_error = WakeError::new();
        while !wake_error.add(Nanos::from_us(120)) {}
        let counters = EngineCounters::new(1, false);
        let (context, streams) = run_of_reads(100, 0, None);
        let mut thread = Worker::new(&context, &streams[0], 0, counters.of_worker(0), wake_error);
        assert_eq!(counters.totals().wake_error_p50_ns, 120_000);
        thread_scheduling::minimize_timer_slack();
        // A busy machine may wake the thread later than that, but not always.
        for _ in 0..100 {
            let due = Instant::now().after(Nanos::from_ms(1));
            assert!(matches!(thread.wait(due), Readiness::Due) && Instant::now() >= due);
            if counters.totals().spin_ns > 0 {
                return;
            }
        }
        panic!("all sleeps ended after the due time");
    }

    fn at(us: u64) -> Instant {
        Instant::ZERO.after(Nanos::from_us(us))
    }

    #[test]
    fn backlog_is_the_time_in_which_the_thread_was_awake_and_busy() {
        let backlog = |awake_us, free_us, due_us| {
            let mut availability = Availability::new(at(awake_us));
            availability.end_request(at(free_us), None);
            availability.backlog(at(due_us)).0 / 1_000
        };
        // Due while the thread was busy; due before it was back from its sleep; due after its last request; slept
        // since.
        let all = [
            backlog(10, 50, 20),
            backlog(30, 50, 20),
            backlog(10, 50, 60),
            backlog(80, 50, 70),
        ];
        assert_eq!(all, [30, 20, 0, 0]);
    }

    /// Returns the backlogs in ms of requests that were due at 1 ms, after each of these requests of 10 ms that begin
    /// then. They are given by the time in ms without a processor in the request and since the thread was on time.
    fn backlogs(requests: &[Option<(u64, u64)>]) -> Vec<u64> {
        let mut availability = Availability::new(at(1_000));
        let ended = requests.iter().zip(1..).map(|(waits, number)| {
            let waits = waits.map(|(in_request_ms, since_on_time_ms)| ProcessorWaits {
                in_request: Nanos::from_ms(in_request_ms),
                since_on_time: Nanos::from_ms(since_on_time_ms),
            });
            availability.end_request(at(1_000 + number * 10_000), waits);
            availability.backlog(at(1_000)).0 / 1_000_000
        });
        ended.collect()
    }

    #[test]
    fn all_time_without_a_processor_since_the_thread_was_on_time_is_no_backlog() {
        assert_eq!(backlogs(&[Some((4, 4)), Some((3, 7)), Some((0, 7))]), [6, 13, 23]);
        // A fast request, in which nothing is read, does not turn the delay into backlog.
        assert_eq!(backlogs(&[Some((4, 4)), None]), [6, 16]);
    }

    #[test]
    fn less_than_a_tenth_of_the_time_without_a_processor_delays_only_the_next_request() {
        // After 20 ms: 2 ms are a tenth, 1 ms is less.
        assert_eq!(backlogs(&[None, Some((1, 2)), None]), [10, 18, 28]);
        assert_eq!(backlogs(&[None, Some((1, 1)), None]), [10, 19, 30]);
    }

    /// Returns the backlogs of 16 requests, the first due at `start` and each 50 us after the one before, that a thread
    /// takes together. It was busy for that long since the start.
    fn backlogs_of_batch(start: Instant, busy: Nanos) -> Histogram {
        let mut thread = thread(1_000);
        thread.availability = Availability::new(start);
        thread.availability.end_request(start.after(busy), None);
        let taken = thread.stream.take_several(16).unwrap();
        assert!(thread.serve_all(taken, start));
        let mut tally = Tally::new(1);
        thread.recorder.drain_into(&mut tally);
        assert_eq!(tally.count(), 16);
        tally.times.backlog
    }

    #[test]
    fn a_request_that_its_thread_took_in_advance_has_no_backlog() {
        let backlogs = backlogs_of_batch(Instant::now().after(Nanos::from_ms(1)), Nanos(0));
        assert_eq!((backlogs.count(), backlogs.longest()), (16, Nanos(0)));
    }

    #[test]
    fn the_backlog_of_requests_that_are_taken_together_ends_when_they_are_taken() {
        let backlogs = backlogs_of_batch(Instant::now().before(Nanos::from_ms(100)), Nanos::from_us(175));
        // 175, 125, 75 and 25 us; the other twelve were due later.
        assert_eq!(
            (backlogs.longest(), backlogs.at_or_over(Nanos::from_us(10))),
            (Nanos::from_us(175), 4)
        );
    }
}
