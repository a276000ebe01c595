//! The loop of a ring: timestamp completions, submit due requests, wait for either.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use rustix::io::Errno;

use super::arena::Arena;
use super::backlog::{Backlog, InFlight, Waiting};
use super::stream_state::{NextRequest, StreamState, max_in_flight};
use super::uring::{Completion, Ring, Transfer};
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

/// Minimum idle time for renewing the data of a write; 128 KiB take 5 us.
const RENEW_TIME: Nanos = Nanos(15_000);

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
    submitted: Instant,
    state: usize,
}

/// A worker with one ring. All its memory is allocated here.
pub(crate) struct Worker {
    context: Arc<RunContext>,
    counters: Arc<WorkerCounters>,
    ring: Ring,
    /// Whether alarms wake this thread. If requests are coalesced, it wakes up for several of them.
    has_alarms: bool,
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
    /// The device whose waiting requests are submitted first.
    first_device: usize,
    /// Whether more requests can be submitted immediately.
    has_more: bool,
    /// Time of the last request, which is in the queue until the next system call.
    unsent_since: Option<Instant>,
    /// When the last sleep began, until its end is counted.
    asleep_since: Option<Instant>,
    wake_error: WakeError,
    pattern: Pattern,
    rng: RequestRng,
    start: Instant,
    end: Instant,
    next_stall_check: Instant,
}

impl Worker {
    /// Creates worker `number` of `workers`.
    ///
    /// # Errors
    /// If the kernel provides no ring.
    pub(crate) fn new(
        context: &Arc<RunContext>,
        streams: &[Arc<Stream>],
        number: usize,
        workers: usize,
        counters: Arc<WorkerCounters>,
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
        let ring = Ring::new(slots_count, &arena, &files, Arc::clone(&counters))?;
        let now = Instant::now();
        Ok(Self {
            context: Arc::clone(context),
            counters,
            ring,
            has_alarms: false,
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
            first_device: 0,
            has_more: false,
            unsent_since: None,
            asleep_since: None,
            wake_error: WakeError::new(),
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
        self.has_alarms = self.context.config.coalesce_us == 0 && self.ring.has_exact_alarms();
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
        for index in 0..self.states.len() {
            self.states[index].advance(start, start);
            self.set_alarms(index, start);
        }
    }

    fn run_loop(&mut self) {
        while !self.context.stop.is_raised() {
            let now = Instant::now();
            self.reap(now);
            self.check_stall(now);
            self.submit_due(now);
            if self.is_done() || !self.wait() {
                return;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.in_flight_count == 0
            && self.waiting.count() == 0
            && self.states.iter().all(|state| state.upcoming.is_empty())
    }

    /// Timestamps and counts completions.
    fn reap(&mut self, now: Instant) {
        let mut has_request = false;
        for completion in self.ring.completions() {
            let (number, result) = match completion {
                Completion::Request(number, result) => (number, result),
                Completion::Alarm(at) => {
                    let has_slept = self.asleep_since.is_some_and(|since| since < at);
                    if has_slept && self.wake_error.add(now.since(at)) {
                        self.counters.set_wake_error(&self.wake_error);
                    }
                    let upcoming = self.states.iter_mut().flat_map(|state| &mut state.upcoming);
                    upcoming
                        .filter(|request| request.alarm == Some(at))
                        .for_each(|request| request.alarm = None);
                    continue;
                }
            };
            has_request = true;
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
        if self.asleep_since.take().is_some() {
            self.counters.count_wake(has_request);
        }
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
        while let Some((index, next_request)) = self.earliest()
            && next_request.due <= now
            && self.submit_or_queue(index, next_request, now, &mut room)
        {}
        self.counters.count_batch(room_at_start - room);
        self.has_more |= room == 0;
    }

    /// Returns the first of the next requests of all streams, and the index of its stream.
    fn earliest(&self) -> Option<(usize, NextRequest)> {
        let states = self.states.iter().enumerate();
        let next_requests = states.filter_map(|(index, state)| Some((index, state.next()?)));
        next_requests.min_by_key(|(_, next_request)| next_request.due)
    }

    /// Sets alarms for the upcoming requests of a stream.
    fn set_alarms(&mut self, index: usize, now: Instant) {
        if self.has_alarms {
            let state = &mut self.states[index];
            let lead = self.wake_error.lead(state.stream.half_period());
            let mut awake_at = now;
            for request in &mut state.upcoming {
                let at = request.due.before(lead);
                // This thread is awake when the request before is due.
                if request.alarm.is_none() && at > awake_at && self.ring.set_alarm(at) {
                    request.alarm = Some(at);
                }
                awake_at = request.due;
            }
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
        if self.is_too_late(index, next_request.due, now) {
            self.states[index].advance(self.start, now);
            self.set_alarms(index, now);
            return !self.context.stop.is_raised();
        }
        let (request, _) = request::draw(
            &self.context,
            &self.states[index].stream,
            next_request.k,
            next_request.due,
        );
        let has_free_slot = self.has_free_slot(index, request.device);
        let state = &mut self.states[index];
        let queue = &mut state.devices[request.device].queue;
        if queue.is_empty() && has_free_slot {
            let has_room = *room > 0;
            if has_room {
                state.advance(self.start, now);
                self.submit(index, request, Nanos(0), now);
                self.set_alarms(index, now);
                *room -= 1;
            }
            return has_room;
        }
        let queued = next_request.queued.unwrap_or(now);
        if self.waiting.is_full() {
            if let Some(next_request) = state.upcoming.front_mut() {
                next_request.queued = Some(queued);
            }
            return false;
        }
        let NextRequest { k, due, .. } = next_request;
        self.waiting.push(queue, Waiting { k, due, queued });
        state.advance(self.start, now);
        self.set_alarms(index, now);
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

    /// Submits waiting requests whose device has a free slot, beginning with the device after the last one of the
    /// previous turn. Returns the remaining room.
    fn submit_backlog(&mut self, now: Instant, mut room: usize) -> usize {
        for device in rotation(self.first_device, self.context.devices.len()) {
            while room > 0
                && let Some((_, index)) = self.oldest_waiting(device, now)
            {
                room -= usize::from(self.submit_first_waiting(index, device, now));
                self.first_device = device + 1;
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
        self.submit(index, request, backlog, now);
        self.flush();
        true
    }

    /// Assigns a slot to a request, timestamps it and queues it for the next system call, which must follow
    /// immediately: if no other request is due, it is the call that waits. The device must have a free slot.
    ///
    /// Each request has a system call of its own. With several in one call, all but the first would appear slower
    /// than the device is, by the time that the kernel needs for the earlier ones.
    fn submit(&mut self, index: usize, request: Request, backlog: Nanos, now: Instant) {
        let state = &mut self.states[index];
        let free = state.free.pop();
        let Some(number) = free.or_else(|| state.stale.pop()) else {
            return;
        };
        let device_state = &mut state.devices[request.device];
        if device_state.in_flight.count == 0 {
            device_state.last_progress = Some(now);
        }
        device_state.in_flight.add();
        state.in_flight.add();
        if free.is_none() {
            self.renew(index, number);
        }
        let submitted = Instant::now();
        self.slots[number as usize] = Some(Slot {
            request,
            backlog,
            submitted,
            state: index,
        });
        self.in_flight_count += 1;
        self.in_flight_by_device[request.device].add();
        self.push(number);
        self.unsent_since = Some(submitted);
        let own_lateness = Nanos(submitted.since(request.due).0.saturating_sub(backlog.0));
        self.states[index].stream.note_submission(submitted, own_lateness);
    }

    /// Submits the last request, unless a system call already did. Timestamps the completions until then, so that none
    /// waits for the submission of several requests.
    fn flush(&mut self) {
        if self.unsent_since.take().is_some() {
            // The next wait repeats a failed submission and reports the error.
            let _ = self.ring.wait(None);
            if self.ring.has_completions() {
                self.reap(Instant::now());
                // Waiting requests may have a free slot now.
                self.has_more |= self.waiting.count() > 0;
            }
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

    /// Renews the data of one write while nothing is due.
    fn renew_one(&mut self) {
        for index in 0..self.states.len() {
            if let Some(number) = self.states[index].stale.pop() {
                self.renew(index, number);
                self.states[index].free.push(number);
                return;
            }
        }
    }

    /// Submits the last request, and waits for a completion or a due request. Returns false if the ring is broken.
    fn wait(&mut self) -> bool {
        // Between the timestamp of a request and its system call, nothing else should take time.
        let now = self.unsent_since.unwrap_or_else(Instant::now);
        let wake_time = self.wake_time(now);
        if self.unsent_since.is_none() && wake_time.is_some_and(|time| time.since(now) >= RENEW_TIME) {
            self.renew_one();
        }
        let earliest = self.earliest();
        let half_period = earliest.and_then(|(index, _)| self.states[index].stream.half_period());
        let lead = self.wake_error.lead(half_period);
        let entered = match wake_time {
            Some(time) if time.since(now) <= lead => {
                self.flush();
                match self.has_more {
                    true => Ok(()),
                    false => self.spin(time),
                }
            }
            Some(time) => {
                self.asleep_since = Some(now);
                let has_alarm = earliest.is_some_and(|(_, request)| request.alarm.is_some());
                self.ring.wait(Some(match has_alarm {
                    true => LONGEST_SLEEP,
                    false => time.before(lead).since(now),
                }))
            }
            None => self.ring.wait(None),
        };
        self.unsent_since = None;
        match entered {
            Ok(()) => true,
            Err(error) => {
                self.context.stop.raise(broken(&error));
                false
            }
        }
    }

    /// Spins until a time, or until there is a completion.
    fn spin(&mut self, until: Instant) -> io::Result<()> {
        let begin = Instant::now();
        let mut now = begin;
        while now < until && !self.ring.has_completions() {
            std::hint::spin_loop();
            now = Instant::now();
        }
        self.counters.count_spin(now.since(begin));
        match now < until {
            true => self.ring.wait(None),
            false => Ok(()),
        }
    }

    /// Returns when this thread has something to do, or None if that is now.
    fn wake_time(&self, now: Instant) -> Option<Instant> {
        let longest = now.after(LONGEST_SLEEP);
        if self.has_more || !self.rejected.is_empty() {
            return None;
        }
        let Some((_, NextRequest { due: first, .. })) = self.earliest() else {
            return Some(longest);
        };
        if first <= now {
            // With a full backlog, nothing can be submitted before a completion.
            return self.waiting.is_full().then_some(longest);
        }
        if self.context.config.coalesce_us == 0 {
            return Some(first.min(longest));
        }
        let limit = first.after(self.context.coalescing());
        let wake = self
            .states
            .iter()
            .filter_map(|state| state.coalesced_at(limit))
            .max();
        Some(wake.unwrap_or(first).min(longest))
    }

    /// Waits for all outstanding requests; until then their memory belongs to the kernel.
    fn drain(&mut self) {
        while self.in_flight_count > 0 {
            if self.ring.wait(Some(LONGEST_SLEEP)).is_err() {
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

/// Returns all devices, beginning with one of them.
fn rotation(first: usize, devices_count: usize) -> impl Iterator<Item = usize> {
    (first..first + devices_count).map(move |device| device % devices_count)
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
    use crate::schedule::stream::streams;
    use crate::stats::recorder::Tally;
    use crate::stop::StopSignal;

    /// Returns a worker for a file, before its first turn, or None without io_uring. The run began at a past time, from
    /// which the test moves the clock of the turns.
    fn worker(start: Instant) -> Option<Worker> {
        let text =
            "device-names: a\ntest-duration-sec: 1\nread-reqs-per-sec: 10000\nwrite-reqs-per-sec: 5000";
        let config = Config::read(text, 1).unwrap().0;
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let device = Device {
            name: "a".to_owned(),
            file,
            size_bytes: 1 << 20,
            minimum_io_bytes: 512,
            offsets: Offsets::new(&config, 1 << 20, 512).unwrap(),
        };
        let streams = streams(&config, Nanos::from_s(1), 1, Some(1));
        let context = Arc::new(RunContext::new(
            config,
            vec![device],
            1,
            StopSignal::new().unwrap(),
        ));
        let mut worker = Worker::new(&context, &streams, 0, 1, Arc::default()).ok()?;
        worker.ring.enable().unwrap();
        worker.has_alarms = worker.ring.has_exact_alarms();
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
            let Some(mut worker) = worker(start) else { return Ok(()) };
            let mut now = start;
            for step in steps {
                now = now.after(Nanos(step));
                turns(&mut worker, now);
                for state in &worker.states {
                    let stream = &state.stream;
                    let all_count = stream.schedule.requests_count();
                    let taken_count = state.next().map_or(all_count, |next_request| next_request.k);
                    let due_count = (0..).take_while(|k| start.after(stream.due(*k)) <= now).count() as u64;
                    proptest::prop_assert_eq!(taken_count, due_count);
                }
            }
            while worker.in_flight_count > 0 || worker.waiting.count() > 0 {
                worker.ring.wait(Some(LONGEST_SLEEP)).unwrap();
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

    #[test]
    fn completions_are_counted_between_two_submissions() {
        let start = Instant::now().before(Nanos::from_s(10));
        let Some(mut worker) = worker(start) else { return };
        // The file is in the page cache, so that each read completes in the call that submits it.
        worker.context.devices[0]
            .read(
                Extent {
                    offset: 0,
                    length: 1 << 20,
                },
                &mut vec![0; 1 << 20],
            )
            .unwrap();
        worker.submit_due(start.after(Nanos::from_us(900)));
        assert!(
            (1..5).contains(&worker.in_flight_count),
            "{} of 10",
            worker.in_flight_count
        );
        turns(&mut worker, start);
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

    #[test]
    fn each_device_is_first_in_turn() {
        let all = |first| rotation(first, 3).collect::<Vec<_>>();
        assert_eq!(
            [all(0), all(1), all(2), all(3)],
            [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]
        );
    }
}
