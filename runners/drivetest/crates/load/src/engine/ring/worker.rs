//! The loop of a ring: timestamp completions, submit due requests, wait for either.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use rustix::io::Errno;

use super::arena::Arena;
use super::backlog::{Backlog, InFlight, Waiting};
use super::stream_state::{NextRequest, StreamState, max_in_flight};
use super::uring::{Completion, Ring, Transfer, Wait};
use crate::clock::{Instant, Nanos};
use crate::config::Config;
use crate::engine::buffer::Pattern;
use crate::engine::counters::WorkerCounters;
use crate::engine::request::{self, Request};
use crate::engine::wake_error::WakeError;
use crate::engine::workers::RunContext;
use crate::engine::{GRACE, LONGEST_SLEEP, thread_scheduling};
use crate::schedule::rng::RequestRng;
use crate::schedule::stream::Stream;
use crate::stats::io_errors::Failure;
use crate::stats::recorder::Stamps;
use crate::stop::StopReason;

/// Maximum number of requests in a turn of the loop.
const BATCH: usize = 16;

/// Minimum idle time for renewing this much data of a write, which takes 5 us.
const RENEW_TIME: Nanos = Nanos(15_000);
const RENEW_BYTES: usize = 128 << 10;

/// Period of the check for stalled devices.
const STALL_CHECK_PERIOD: Nanos = Nanos::from_ms(50);

/// Maximum number of waiting requests, over all devices: ten seconds at 100,000 per second.
const MAX_WAITING: usize = 1 << 20;

/// Time for which requests are expected to wait at most if no maximum lag is configured: its default.
const USUAL_MAX_LAG_S: u32 = 10;

/// An outstanding request.
#[derive(Debug, Clone, Copy)]
struct Slot {
    request: Request,
    backlog: Nanos,
    /// When the system call began that first submitted it.
    submitted: Instant,
    state: usize,
}

/// When to wake up for a request, and when it is due. The thread polls between the two.
#[derive(Debug, Clone, Copy)]
struct Wake {
    at: Instant,
    due: Instant,
}

/// A sleep in the kernel.
#[derive(Debug, Clone, Copy)]
struct Sleep {
    until: Instant,
    /// Whether its end shows the wake-up error: the kernel had a time to wake this thread at, and nothing to submit.
    is_sample: bool,
}

/// A worker with one ring. All its memory is allocated here.
pub(crate) struct Worker {
    context: Arc<RunContext>,
    counters: Arc<WorkerCounters>,
    ring: Ring,
    /// Freed last, and only without outstanding requests.
    arena: ManuallyDrop<Arena>,
    states: Vec<StreamState>,
    slots: Vec<Option<Slot>>,
    waiting: Backlog,
    /// Slots to submit rejected, because the kernel was out of resources.
    rejected: Vec<u32>,
    in_flight_count: usize,
    /// Outstanding requests of each device, of all streams.
    in_flight_by_device: Box<[InFlight]>,
    /// The device whose waiting request is submitted next.
    next_device: usize,
    /// Whether more requests can be submitted immediately.
    has_more: bool,
    /// Until when requests are due that belong to the last group of coalesced requests. A group can need several turns.
    group_end: Instant,
    /// Slot of the last request, which is in the queue until the next system call.
    unsent: Option<u32>,
    /// The last sleep, until its end is counted.
    asleep: Option<Sleep>,
    wake_error: WakeError,
    /// When this thread last took completions.
    now: Instant,
    pattern: Pattern,
    rng: RequestRng,
    start: Instant,
    end: Instant,
    next_stall_check: Instant,
}

impl Worker {
    /// Creates worker `number` of `workers`. `has_timeouts` is whether timeouts of its ring are exact.
    ///
    /// # Errors
    /// If the kernel provides no ring.
    pub(crate) fn new(
        context: &Arc<RunContext>,
        streams: &[Arc<Stream>],
        number: usize,
        workers: usize,
        counters: Arc<WorkerCounters>,
        has_timeouts: bool,
    ) -> io::Result<Self> {
        let states = states(context, streams, number);
        let slots_count = states.iter().map(|state| state.size.slots_count).sum();
        let bytes = states.iter().map(|state| state.size.bytes()).sum();
        let mut arena = Arena::new(bytes).ok_or(io::ErrorKind::OutOfMemory)?;
        let pattern = Pattern::new(context.config.compress_pct);
        let mut rng = RequestRng::new(context.seed, u64::MAX, number as u64);
        for state in states.iter().filter(|state| state.is_write()) {
            // SAFETY: there is no ring yet.
            pattern.fill(
                unsafe { arena.bytes(state.memory_offset, state.size.bytes()) },
                &mut rng,
            );
        }
        let files: Vec<&File> = context.devices.iter().map(|device| &device.file).collect();
        let mut ring = Ring::new(slots_count, &arena, &files, Arc::clone(&counters))?;
        ring.has_timeouts = has_timeouts;
        let now = Instant::now();
        Ok(Self {
            context: Arc::clone(context),
            counters,
            ring,
            arena: ManuallyDrop::new(arena),
            states,
            slots: vec![None; slots_count],
            waiting: Backlog::new(MAX_WAITING, expected_waiting(&context.config, streams, workers)),
            rejected: Vec::with_capacity(slots_count),
            in_flight_count: 0,
            in_flight_by_device: files
                .iter()
                .map(|file| InFlight::new(max_in_flight(file, workers), now))
                .collect(),
            next_device: 0,
            has_more: false,
            group_end: now,
            unsent: None,
            asleep: None,
            wake_error: WakeError::new(),
            now,
            pattern,
            rng,
            start: now,
            end: now,
            next_stall_check: now,
        })
    }

    /// Returns the mode of the ring, and why its memory is not registered, for the start record.
    pub(crate) fn ring_setup(&self) -> (&'static str, Option<&io::Error>) {
        (self.ring.mode, self.ring.unregistered_reason.as_ref())
    }

    /// Works until all requests are sent or the run stops.
    pub(crate) fn work(mut self) {
        thread_scheduling::minimize_timer_slack();
        thread_scheduling::raise_priority();
        let enabled = self.ring.enable();
        self.wake_error.measure();
        self.counters.set_wake_error(&self.wake_error);
        let Some(start) = self.context.start_barrier.wait() else {
            return;
        };
        if let Err(error) = enabled {
            return self.context.stop.raise(broken(&error));
        }
        self.begin(start, self.context.start_barrier.end());
        self.run_loop();
        self.drain();
    }

    /// Takes the first requests of a run.
    fn begin(&mut self, start: Instant, end: Instant) {
        (self.start, self.end, self.next_stall_check) = (start, end, start);
        self.group_end = start.before(Nanos(1));
        self.now = Instant::now();
        (0..self.states.len()).for_each(|index| self.advance(index));
    }

    fn run_loop(&mut self) {
        while !self.context.stop.is_raised() {
            let now = Instant::now();
            self.reap(now);
            self.check_stall(now);
            self.submit_due(now);
            if self.is_done() {
                return;
            }
            self.wait();
        }
    }

    fn is_done(&self) -> bool {
        self.in_flight_count == 0
            && self.waiting.count() == 0
            && self.states.iter().all(|state| state.next.is_none())
    }

    /// Timestamps and counts completions. Returns whether there were any.
    fn reap(&mut self, now: Instant) -> bool {
        self.now = now;
        let mut has_completion = false;
        for Completion { number, result } in self.ring.completions() {
            has_completion = true;
            let Some(slot) = self.slots.get(number as usize).copied().flatten() else {
                continue;
            };
            if matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
                self.rejected.push(number);
                continue;
            }
            let state = &mut self.states[slot.state];
            let Request { device, extent, due } = slot.request;
            match Failure::of(result, extent.length) {
                None => {
                    let stamps = Stamps {
                        due,
                        submitted: slot.submitted,
                        completed: now,
                        backlog: slot.backlog,
                    };
                    state.recorder.record(device, stamps);
                }
                Some(failure) => {
                    state.recorder.fail(device);
                    request::fail(&self.context, slot.request.failed_request(&state.stream, failure));
                }
            }
            self.slots[number as usize] = None;
            self.in_flight_count -= 1;
            self.in_flight_by_device[device].remove(now);
            state.in_flight.remove(now);
            let device_state = &mut state.devices[device];
            device_state.in_flight.remove(now);
            device_state.last_progress = Some(now);
            match state.is_write() {
                true => state.stale.push(number),
                false => state.free.push(number),
            }
        }
        if let Some(sleep) = self.asleep.take() {
            self.counters.count_wake(has_completion);
            let is_sample = sleep.is_sample && !has_completion && now >= sleep.until;
            if is_sample && self.wake_error.add(now.since(sleep.until)) {
                self.counters.set_wake_error(&self.wake_error);
            }
        }
        has_completion
    }

    /// Stops the run if a device has completed nothing for longer than the maximum lag.
    fn check_stall(&mut self, now: Instant) {
        if now < self.next_stall_check {
            return;
        }
        self.next_stall_check = now.after(STALL_CHECK_PERIOD);
        for state in &self.states {
            let is_stalled = |last_progress| self.context.is_too_late(now.since(last_progress));
            let is_stuck = |device_state: &super::stream_state::DeviceState| {
                device_state.in_flight.count > 0 && device_state.last_progress.is_some_and(is_stalled)
            };
            if state.devices.iter().any(is_stuck) {
                self.context.stop.raise(StopReason::Lag(state.stream.operation));
            }
        }
    }

    /// Submits rejected, waiting and due requests, in this order, as long as there is room. Queues all due requests
    /// that find their device full, even without room, because their backlog begins with that.
    fn submit_due(&mut self, now: Instant) {
        self.has_more = false;
        let mut room = self.ring.room().min(BATCH);
        let room_at_start = room;
        while room > 0
            && let Some(number) = self.rejected.pop()
        {
            self.push(number);
            room -= 1;
        }
        if self.waiting.count() > 0 {
            room = self.submit_backlog(now, room);
        }
        let is_due = self.next_due().is_some_and(|due| due <= now);
        if is_due {
            self.group_end = now;
        }
        while is_due
            && let Some((index, next_request)) = self.earliest()
            && next_request.due <= now
            && !self.context.stop.is_raised()
            && self.submit_or_queue(index, next_request, now, &mut room)
        {}
        self.counters.count_batch(room_at_start - room);
        self.has_more |= room == 0;
    }

    /// Returns the first of the next requests of all streams, and the index of its stream.
    fn earliest(&self) -> Option<(usize, NextRequest)> {
        let states = self.states.iter().enumerate();
        let next_requests = states.filter_map(|(index, state)| Some((index, state.next?)));
        next_requests.min_by_key(|(_, next_request)| next_request.due)
    }

    /// Returns when the first of the next requests is to be submitted: when it is due. With coalescing, it is when the
    /// last request is due that follows within `coalesce-us`. Completions that wake this thread do not change it.
    fn next_due(&self) -> Option<Instant> {
        let (_, next) = self.earliest()?;
        if self.context.config.coalesce_us == 0 || next.due <= self.group_end {
            return Some(next.due);
        }
        let limit = next.due.after(self.context.coalescing());
        let last_due = self.states.iter().filter_map(|state| state.last_due(limit)).max();
        Some(last_due.unwrap_or(next.due))
    }

    /// Takes the next request of a stream, and sets timeouts for it and the one that probably follows. Coalesced
    /// requests have one timeout, which is set when this thread sleeps.
    fn advance(&mut self, index: usize) {
        let state = &mut self.states[index];
        let lead = self.wake_error.lead(state.stream.half_period());
        state.advance(self.start, self.now, lead);
        if self.context.config.coalesce_us > 0 {
            return;
        }
        let mut awake_at = self.now;
        for request in [state.next, state.following].into_iter().flatten() {
            // This thread is awake when the request before is due.
            if request.wake_at > awake_at {
                self.ring.set_timeout(request.wake_at);
            }
            awake_at = awake_at.max(request.due);
        }
    }

    /// Submits a due request, or puts it into the backlog, and takes the next one. Returns false if neither is possible
    /// now.
    fn submit_or_queue(
        &mut self,
        index: usize,
        next_request: NextRequest,
        now: Instant,
        room: &mut usize,
    ) -> bool {
        self.flush();
        let NextRequest { k, due, queued, .. } = next_request;
        if self.is_too_late(index, due, now) {
            self.advance(index);
            return true;
        }
        let (request, _) = request::draw(&self.context, &self.states[index].stream, k, due);
        let has_free_slot = self.has_free_slot(index, request.device);
        let state = &mut self.states[index];
        let queue = &mut state.devices[request.device].queue;
        if queue.is_empty() && has_free_slot {
            if *room == 0 {
                return false;
            }
            *room -= 1;
            self.submit(index, request, Nanos(0));
        } else {
            // Earlier submissions of this turn may have taken time. The device was found full after them.
            let queued = queued.unwrap_or(self.now);
            if self.waiting.is_full() {
                state.next = Some(NextRequest {
                    queued: Some(queued),
                    ..next_request
                });
                return false;
            }
            self.waiting.push(queue, Waiting { k, due, queued });
        }
        self.advance(index);
        true
    }

    /// Returns whether another request of a stream can be submitted to a device immediately.
    fn has_free_slot(&self, index: usize, device: usize) -> bool {
        !self.limits(index, device).iter().any(|limit| limit.is_full())
    }

    /// Returns the limits of outstanding requests that a request of a stream to a device must not exceed.
    fn limits(&self, index: usize, device: usize) -> [InFlight; 3] {
        let state = &self.states[index];
        [
            self.in_flight_by_device[device],
            state.in_flight,
            state.devices[device].in_flight,
        ]
    }

    /// Returns whether a request is too late to be sent: its lag stops the run, or the run has ended.
    fn is_too_late(&self, index: usize, due: Instant, now: Instant) -> bool {
        let lag = now.since(due);
        if self.context.is_too_late(lag) {
            self.context
                .stop
                .raise(StopReason::Lag(self.states[index].stream.operation));
            return true;
        }
        now > self.end && lag > GRACE
    }

    /// Submits waiting requests whose device has a free slot, one of each device in turn. Returns the remaining room.
    fn submit_backlog(&mut self, now: Instant, mut room: usize) -> usize {
        let mut idle_count = 0;
        while room > 0 && idle_count < self.context.devices.len() {
            let device = self.next_device;
            self.next_device = (device + 1) % self.context.devices.len();
            idle_count += 1;
            if let Some((_, index)) = self.oldest_waiting(device, now) {
                room -= usize::from(self.submit_first_waiting(index, device, now));
                idle_count = 0;
            }
        }
        room
    }

    /// Returns the waiting request of a device that may be submitted and has been due for the longest time.
    fn oldest_waiting(&self, device: usize, now: Instant) -> Option<(Instant, usize)> {
        let first = |index: usize| {
            let Waiting { due, .. } = self.waiting.first(self.states[index].devices[device].queue)?;
            let may_go = self.is_too_late(index, due, now) || self.has_free_slot(index, device);
            may_go.then_some((due, index))
        };
        (0..self.states.len()).filter_map(first).min()
    }

    /// Submits the first waiting request, or leaves it out. Returns whether it was submitted.
    fn submit_first_waiting(&mut self, index: usize, device: usize, now: Instant) -> bool {
        let Some(waiting) = self.waiting.pop(&mut self.states[index].devices[device].queue) else {
            return false;
        };
        let Waiting { k, due, .. } = waiting;
        if self.is_too_late(index, due, now) {
            return false;
        }
        let request = request::draw(&self.context, &self.states[index].stream, k, due).0;
        let backlog = waiting.backlog(InFlight::free_since(self.limits(index, device)));
        self.submit(index, request, backlog);
        self.flush();
        true
    }

    /// Assigns a slot to a request, and queues it for the next system call: if no other request is due, it is the call
    /// that waits. The device must have a free slot.
    ///
    /// Each request has a system call of its own. With several in one call, all but the first would appear slower
    /// than the device is, by the time that the kernel needs for the earlier ones.
    fn submit(&mut self, index: usize, request: Request, backlog: Nanos) {
        let state = &mut self.states[index];
        let free = state.free.pop();
        let Some(number) = free.or_else(|| state.stale.pop()) else {
            return;
        };
        let device_state = &mut state.devices[request.device];
        if device_state.in_flight.count == 0 {
            device_state.last_progress = Some(self.now);
        }
        device_state.in_flight.add();
        state.in_flight.add();
        if free.is_none() {
            self.renew(index, number);
        }
        self.slots[number as usize] = Some(Slot {
            request,
            backlog,
            submitted: self.now,
            state: index,
        });
        self.in_flight_count += 1;
        self.in_flight_by_device[request.device].add();
        self.push(number);
        self.unsent = Some(number);
    }

    /// Submits what is in the queue, and waits as [`Ring::wait`] does. Timestamps the last request immediately before
    /// the system call. Stops the run and returns false if the ring is broken.
    fn enter(&mut self, wait: Wait) -> bool {
        if let Some(number) = self.unsent.take()
            && let Some(slot) = &mut self.slots[number as usize]
        {
            slot.submitted = Instant::now();
            let lateness = slot.submitted.since(slot.request.due);
            let own_lateness = Nanos(lateness.0.saturating_sub(slot.backlog.0));
            let stream = &self.states[slot.state].stream;
            stream.note_submission(slot.submitted, own_lateness);
        }
        let entered = self.ring.wait(wait);
        if let Err(error) = &entered {
            self.context.stop.raise(broken(error));
        }
        entered.is_ok()
    }

    /// Submits what is in the queue, and timestamps completions, so that none waits for the submission of several
    /// requests.
    fn flush(&mut self) {
        if self.ring.has_queued() || self.ring.has_completions() {
            self.enter(Wait::No);
            let has_completion = self.reap(Instant::now());
            // Waiting requests may have a free slot now.
            self.has_more |= has_completion && self.waiting.count() > 0;
        }
    }

    fn push(&mut self, number: u32) {
        let Some(slot) = self.slots[number as usize] else {
            return;
        };
        let state = &self.states[slot.state];
        let transfer = Transfer {
            is_write: state.is_write(),
            device: slot.request.device,
            extent: slot.request.extent,
            memory_offset: state.memory_of(number),
        };
        // SAFETY: the stream's memory is in this arena; that of a write belongs to its slot, which is used until
        // completion; the content of reads is not used.
        unsafe { self.ring.push(&self.arena, number, transfer) };
    }

    /// Makes the data of a free slot different from all earlier writes.
    fn renew(&mut self, index: usize, number: u32) {
        let state = &self.states[index];
        let (offset, size) = (state.memory_of(number), state.size.stride_bytes);
        // SAFETY: the slot has no outstanding request, and the memory of a write belongs to its slot alone.
        self.pattern
            .stamp(unsafe { self.arena.bytes(offset, size) }, &mut self.rng);
    }

    /// Renews the data of one write, if nothing is due for long enough.
    fn renew_one(&mut self, idle: Nanos) {
        for index in 0..self.states.len() {
            let state = &mut self.states[index];
            let needed = RENEW_TIME.0 * state.size.stride_bytes.div_ceil(RENEW_BYTES) as u64;
            if idle.0 >= needed
                && let Some(number) = state.stale.pop()
            {
                self.renew(index, number);
                self.states[index].free.push(number);
                return;
            }
        }
    }

    /// Submits the last request, and waits for a completion or until requests are due.
    fn wait(&mut self) {
        let now = match self.unsent {
            Some(_) => self.now,
            None => Instant::now(),
        };
        let Some(wake) = self.next_wake(now) else {
            return self.flush();
        };
        if wake.at <= now {
            self.flush();
            return self.spin(wake.due);
        }
        if self.unsent.is_none() {
            self.renew_one(wake.at.since(now));
        }
        let is_longest = wake.at.since(now) >= LONGEST_SLEEP;
        let mut has_submitted = self.ring.has_queued();
        let wait = if is_longest {
            Wait::AtMost(LONGEST_SLEEP)
        } else if self.ring.set_timeout(wake.at) {
            Wait::UntilTimeout
        } else {
            // This time counts from the end of the submission.
            self.flush();
            if self.has_more {
                return;
            }
            has_submitted = false;
            Wait::AtMost(wake.at.since(Instant::now()))
        };
        self.asleep = Some(Sleep {
            until: wake.at,
            is_sample: !is_longest && !has_submitted,
        });
        self.enter(wait);
    }

    /// Spins until a time, or until there is something else to do.
    fn spin(&mut self, until: Instant) {
        if self.has_more || self.ring.has_queued() {
            return;
        }
        let begin = Instant::now();
        let mut now = begin;
        while now < until && !self.ring.has_completions() {
            std::hint::spin_loop();
            now = Instant::now();
        }
        self.counters.count_spin(now.since(begin));
        if now < until {
            self.enter(Wait::No);
        }
    }

    /// Returns when this thread has something to do, or None if that is now.
    fn next_wake(&self, now: Instant) -> Option<Wake> {
        let longest = now.after(LONGEST_SLEEP);
        let longest = Wake {
            at: longest,
            due: longest,
        };
        if self.has_more || !self.rejected.is_empty() {
            return None;
        }
        let (Some(due), Some((_, next))) = (self.next_due(), self.earliest()) else {
            return Some(longest);
        };
        if due <= now {
            // With a full backlog, nothing can be submitted before a completion.
            return self.waiting.is_full().then_some(longest);
        }
        let lead = next.due.since(next.wake_at);
        Some(Wake {
            at: due.before(lead),
            due,
        })
    }

    /// Waits for all outstanding requests; until then their memory belongs to the kernel.
    fn drain(&mut self) {
        while self.in_flight_count > 0 {
            if !self.enter(Wait::AtMost(LONGEST_SLEEP)) {
                return;
            }
            self.reap(Instant::now());
            self.discard_rejected();
        }
    }

    /// Discards rejected requests after the end.
    fn discard_rejected(&mut self) {
        for number in self.rejected.drain(..) {
            self.slots[number as usize] = None;
            self.in_flight_count -= 1;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.in_flight_count == 0 {
            // SAFETY: dropped once, here; there is no outstanding request that the kernel could still write to. With
            // outstanding requests, the memory remains allocated until the process ends.
            unsafe { ManuallyDrop::drop(&mut self.arena) }
        }
    }
}

/// Returns how many requests of a worker can wait before the maximum lag stops the run.
fn expected_waiting(config: &Config, streams: &[Arc<Stream>], workers: usize) -> usize {
    let per_s: f64 = streams.iter().map(|stream| stream.schedule.rate().per_s()).sum();
    let max_lag_s = match config.max_lag_s {
        0 => USUAL_MAX_LAG_S,
        seconds => seconds,
    };
    (per_s * f64::from(max_lag_s)) as usize / workers
}

fn broken(error: &io::Error) -> StopReason {
    StopReason::Ring(error.raw_os_error().unwrap_or_default())
}

fn states(context: &RunContext, streams: &[Arc<Stream>], number: usize) -> Vec<StreamState> {
    let (mut slots, mut bytes) = (0, 0);
    let mut states = Vec::new();
    for stream in streams.iter().filter(|stream| number < stream.recorders.len()) {
        let state = StreamState::new(context, stream, number, slots, bytes);
        slots += state.size.slots_count;
        bytes += state.size.bytes();
        states.push(state);
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Device, Extent, Offsets};
    use crate::engine::ring::uring::has_exact_timeouts;
    use crate::schedule::stream::streams;
    use crate::stats::recorder::Tally;
    use crate::stop::StopSignal;

    /// Returns a worker for a few files, before its first turn, or None without io_uring. The run may have begun in the
    /// past, from which the test moves the clock of the turns.
    fn worker(start: Instant, files_count: usize) -> Option<Worker> {
        coalescing_worker(start, files_count, 10_000, 0)
    }

    fn coalescing_worker(
        start: Instant,
        files_count: usize,
        reads_per_s: u32,
        coalesce_us: u32,
    ) -> Option<Worker> {
        let names = ["a", "b"][..files_count].join(",");
        let rates = format!("read-reqs-per-sec: {reads_per_s}\nwrite-reqs-per-sec: 5000");
        let text =
            format!("device-names: {names}\ntest-duration-sec: 1\n{rates}\ncoalesce-us: {coalesce_us}");
        let config = Config::read(&text, 1).unwrap().0;
        let device = |name: &String| {
            let file = tempfile::tempfile().unwrap();
            file.set_len(1 << 20).unwrap();
            Device {
                name: name.clone(),
                file,
                size_bytes: 1 << 20,
                minimum_io_bytes: 512,
                offsets: Offsets::new(&config, 1 << 20, 512).unwrap(),
            }
        };
        let devices: Vec<Device> = config.device_names.iter().map(device).collect();
        let streams = streams(&config, Nanos::from_s(1), 1, Some(1));
        let has_timeouts = has_exact_timeouts(&devices[0].file).ok()?;
        let context = Arc::new(RunContext::new(config, devices, 1, StopSignal::new().unwrap()));
        let mut worker = Worker::new(&context, &streams, 0, 1, Arc::default(), has_timeouts).ok()?;
        worker.ring.enable().unwrap();
        worker.begin(start, start.after(Nanos::from_s(60)));
        Some(worker)
    }

    /// Takes turns at this time as long as there is something to do at once.
    fn turns(worker: &mut Worker, now: Instant) {
        worker.has_more = true;
        while worker.has_more {
            worker.reap(Instant::now());
            worker.submit_due(now);
            worker.flush();
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(24))]
        #[test]
        fn at_any_time_exactly_the_due_requests_have_been_taken(
            steps in proptest::collection::vec(proptest::prop_oneof![0u64..150_000, 0u64..40_000_000], 1..12),
        ) {
            let start = Instant::now().before(Nanos::from_s(10));
            let Some(mut worker) = worker(start, 1) else { return Ok(()) };
            let mut now = start;
            for step in steps {
                now = now.after(Nanos(step));
                turns(&mut worker, now);
                for state in &worker.states {
                    let stream = &state.stream;
                    let all_count = stream.schedule.requests_count();
                    let taken_count = state.next.map_or(all_count, |next_request| next_request.k);
                    let due_count = (0..).take_while(|k| start.after(stream.due(*k)) <= now).count() as u64;
                    proptest::prop_assert_eq!(taken_count, due_count);
                }
            }
            while worker.in_flight_count > 0 || worker.waiting.count() > 0 {
                worker.ring.wait(Wait::AtMost(LONGEST_SLEEP)).unwrap();
                turns(&mut worker, now);
            }
            for state in &worker.states {
                let mut tally = Tally::new(1);
                state.recorder.drain_into(&mut tally);
                let due_count = (0..).take_while(|k| start.after(state.stream.due(*k)) <= now).count() as u64;
                proptest::prop_assert_eq!(tally.count(), due_count);
            }
        }
    }

    fn completed_count(worker: &Worker) -> u64 {
        let mut tally = Tally::new(1);
        for state in &worker.states {
            state.recorder.drain_into(&mut tally);
        }
        tally.count()
    }

    #[test]
    fn completions_are_counted_between_two_submissions() {
        let start = Instant::now().before(Nanos::from_s(10));
        let Some(mut worker) = worker(start, 1) else {
            return;
        };
        let extent = Extent {
            offset: 0,
            length: 1 << 20,
        };
        let whole = &mut vec![0; extent.length];
        worker.context.devices[0].read(extent, whole).unwrap();
        // The file is in the page cache. Most file systems then complete a read in the call that submits it.
        worker.submit_due(start);
        worker.flush();
        if completed_count(&worker) == 0 {
            return turns(&mut worker, start);
        }
        worker.submit_due(start.after(Nanos::from_us(900)));
        let count = completed_count(&worker);
        assert!(count > 5, "{count}");
        turns(&mut worker, start);
    }

    #[test]
    fn timeouts_are_set_for_the_first_requests_and_end_the_wait() {
        let start = Instant::now().after(Nanos::from_ms(200));
        let Some(mut worker) = worker(start, 1) else {
            return;
        };
        if !has_exact_timeouts(&worker.context.devices[0].file).unwrap() {
            return;
        }
        assert!(worker.ring.has_queued());
        let first = worker.earliest().unwrap().1;
        assert_eq!(first.wake_at, start);
        while Instant::now() < start {
            worker.wait();
            worker.reap(Instant::now());
        }
        assert_eq!((worker.in_flight_count, worker.ring.has_queued()), (0, false));
    }

    #[test]
    fn requests_that_are_already_due_need_no_timeouts() {
        let Some(mut worker) = worker(Instant::now().before(Nanos::from_s(10)), 1) else {
            return;
        };
        assert!(!worker.ring.has_queued());
    }

    #[test]
    fn coalesced_requests_wait_for_the_last_of_them() {
        let start = Instant::now().before(Nanos::from_s(10));
        let Some(mut worker) = coalescing_worker(start, 1, 10_000, 1_000) else {
            return;
        };
        let mut taken_at = |us| {
            turns(&mut worker, start.after(Nanos::from_us(us)));
            worker.states[0].next.map(|next_request| next_request.k)
        };
        // Reads are 100 us apart. Completions wake the thread earlier.
        assert_eq!(
            [0, 500, 999, 1_000, 1_050, 2_099, 2_100].map(&mut taken_at),
            [0, 0, 0, 11, 11, 11, 22].map(Some)
        );
    }

    #[test]
    fn a_group_of_coalesced_requests_that_is_larger_than_a_turn_is_submitted_without_another_wait() {
        let start = Instant::now().before(Nanos::from_s(10));
        let Some(mut worker) = coalescing_worker(start, 1, 100_000, 400) else {
            return;
        };
        let mut taken_at = |us| {
            turns(&mut worker, start.after(Nanos::from_us(us)));
            worker.states[0].next.map(|next_request| next_request.k)
        };
        // Reads are 10 us apart, so 41 of them are due within 400 us: more than fit into a turn.
        assert_eq!([399, 400, 809, 810].map(&mut taken_at), [0, 41, 41, 82].map(Some));
    }

    #[test]
    fn a_sleep_that_submits_nothing_shows_the_wake_up_error() {
        let start = Instant::now().after(Nanos::from_ms(20));
        let Some(mut worker) = worker(start, 1) else {
            return;
        };
        // The second sleep submitted a request, and the third one ended early.
        for (is_sample, until) in [(true, start), (false, start), (true, start.after(Nanos(2)))] {
            worker.asleep = Some(Sleep { until, is_sample });
            worker.reap(start.after(Nanos(1)));
            assert_eq!(worker.wake_error.counts.iter().sum::<u32>(), 1);
        }
    }

    #[test]
    fn waiting_requests_of_all_devices_are_submitted_in_turn() {
        let start = Instant::now().before(Nanos::from_s(10));
        let now = start.after(Nanos::from_ms(10));
        let Some(mut worker) = worker(start, 2) else {
            return;
        };
        worker.in_flight_by_device.fill(InFlight::new(0, start));
        worker.submit_due(now);
        assert!(worker.waiting.count() >= 100 && worker.in_flight_count == 0);
        worker.in_flight_by_device.fill(InFlight::new(64, start));
        assert_eq!(worker.submit_backlog(now, 8), 0);
        worker.drain();
        let mut tally = Tally::new(2);
        for state in &worker.states {
            state.recorder.drain_into(&mut tally);
        }
        let count = |device: usize| tally.by_device[device].iter().sum::<u64>();
        assert_eq!([count(0), count(1)], [4, 4]);
    }

    #[test]
    fn a_worker_expects_its_share_of_the_requests_within_the_maximum_lag() {
        let expected = |more: &str, workers| {
            let text = format!("device-names: a\ntest-duration-sec: 1\nread-reqs-per-sec: 2000\n{more}");
            let config = Config::read(&text, 1).unwrap().0;
            let streams = streams(&config, Nanos::from_s(1), 1, Some(workers));
            expected_waiting(&config, &streams, workers)
        };
        assert_eq!([expected("", 1), expected("", 4)], [20_000, 5_000]);
        assert_eq!(
            [expected("max-lag-sec: 3", 1), expected("max-lag-sec: 0", 1)],
            [6_000, 20_000]
        );
    }
}
