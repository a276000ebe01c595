//! The loop of one ring: stamp what came back, hand over what is due, sleep until either happens.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use rustix::io::Errno;

use super::arena::Arena;
use super::backlog::Backlog;
use super::queue_depth::max_in_flight;
use super::stream_state::{NextRequest, StreamState};
use super::uring::{Ring, Transfer};
use crate::clock::{Instant, Nanos};
use crate::engine::buffer::Pattern;
use crate::engine::request::{self, Request};
use crate::engine::workers::RunContext;
use crate::engine::{GRACE, LONGEST_SLEEP, thread_scheduling};
use crate::schedule::rng::RequestRng;
use crate::schedule::stream::Stream;
use crate::stats::io_errors::Failure;
use crate::stats::recorder::Stamps;
use crate::stop::StopReason;

/// Requests that are handed over between two looks at what came back.
const BATCH: usize = 16;

/// Requests that become due within this of each other are handed over together, when the last of them is due: two at
/// 20,000 a second. Each waking, of this thread and of whoever serves the device, then serves all of them: 12 us of CPU a
/// request instead of 19 (loop device, 2 virtual processors). A request is never early, and late by this at most.
const WINDOW: Nanos = Nanos(50_000);

/// The alarm is set so much before a request is due, about what a virtual processor needs to wake; who wakes sooner than
/// that watches the clock for the rest.
const LEAD: Nanos = Nanos(15_000);

/// Data for the next write is made where nothing is due for at least this long; 128 KiB take 5 us.
const SPARE: Nanos = Nanos(15_000);

/// How often it is asked whether a device stands still.
const GLANCE: Nanos = Nanos::from_ms(50);

/// Requests that may wait, all devices together: ten seconds of 100,000 a second. Memory is taken as they come.
const MOST_WAITING: usize = 1 << 20;

/// A request that is out.
#[derive(Debug, Clone, Copy)]
struct Slot {
    request: Request,
    submitted: Instant,
    state: usize,
}

/// What one ring needs; everything it will touch is allocated here.
pub(crate) struct Worker {
    context: Arc<RunContext>,
    ring: Ring,
    /// Freed last, and only when no request is out.
    arena: ManuallyDrop<Arena>,
    states: Vec<StreamState>,
    slots: Vec<Option<Slot>>,
    waiting: Backlog,
    /// To be handed over once more: the kernel had no room.
    again: Vec<u32>,
    in_flight_count: usize,
    /// Of each device: requests that are out, and how many may be.
    in_flight_by_device: Box<[(usize, usize)]>,
    /// More could go out at once.
    has_more: bool,
    /// Something went out since the last sleep.
    has_sent: bool,
    pattern: Pattern,
    rng: RequestRng,
    start: Instant,
    end: Instant,
    next_stall_check: Instant,
}

impl Worker {
    /// The worker of that number, one of `workers`.
    ///
    /// # Errors
    /// When the kernel gives no ring.
    pub(crate) fn new(
        context: &Arc<RunContext>,
        streams: &[Arc<Stream>],
        number: usize,
        workers: usize,
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
        let ring = Ring::new(slots_count, &arena, &files)?;
        let now = Instant::now();
        Ok(Self {
            context: Arc::clone(context),
            ring,
            arena: ManuallyDrop::new(arena),
            states,
            slots: vec![None; slots_count],
            waiting: Backlog::new(MOST_WAITING),
            again: Vec::with_capacity(slots_count),
            in_flight_count: 0,
            in_flight_by_device: files
                .iter()
                .map(|file| (0, max_in_flight(file, workers)))
                .collect(),
            has_more: false,
            has_sent: false,
            pattern,
            rng,
            start: now,
            end: now,
            next_stall_check: now,
        })
    }

    /// Works until the requests are used up or the run stops.
    pub(crate) fn work(mut self) {
        thread_scheduling::minimize_timer_slack();
        thread_scheduling::raise_priority();
        let enabled = self.ring.enable();
        let Some(start) = self.context.start_barrier.pass() else {
            return;
        };
        if let Err(error) = enabled {
            return self.context.stop.raise(broken(&error));
        }
        (self.start, self.end, self.next_stall_check) = (start, self.context.start_barrier.end(), start);
        for state in &mut self.states {
            state.advance(start);
        }
        self.turn();
        self.drain();
    }

    fn turn(&mut self) {
        while !self.context.stop.is_raised() {
            let now = Instant::now();
            self.reap(now);
            self.check_stall(now);
            self.submit_due(now);
            if self.is_done() || !self.enter() {
                return;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.in_flight_count == 0
            && self.waiting.count() == 0
            && self.states.iter().all(|state| state.next.is_none())
    }

    /// Stamps and counts what came back.
    fn reap(&mut self, now: Instant) {
        for (number, result) in self.ring.completions() {
            let Some(slot) = self.slots.get(number as usize).copied().flatten() else {
                continue;
            };
            if matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
                self.again.push(number);
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
            self.in_flight_by_device[device].0 -= 1;
            let device_state = &mut state.devices[device];
            device_state.in_flight_count -= 1;
            device_state.moved = Some(now);
            match state.is_write() {
                true => state.stale.push(number),
                false => state.free.push(number),
            }
        }
    }

    /// Stops the run where a device stands still: nothing came back for longer than a request may be late.
    fn check_stall(&mut self, now: Instant) {
        if now < self.next_stall_check {
            return;
        }
        self.next_stall_check = now.after(GLANCE);
        for state in &self.states {
            let stands_still = |moved| self.context.is_too_late(now.since(moved));
            let is_stuck = |device_state: &super::stream_state::DeviceState| {
                device_state.in_flight_count > 0 && device_state.moved.is_some_and(stands_still)
            };
            if state.devices.iter().any(is_stuck) {
                self.context.stop.raise(StopReason::Lag(state.stream.operation));
            }
        }
    }

    /// Hands over what the kernel gave back, what waits, and what is due, in this order, as far as there is room.
    fn submit_due(&mut self, now: Instant) {
        let mut room = self.ring.room().min(BATCH);
        while room > 0
            && let Some(number) = self.again.pop()
        {
            self.push(number);
            room -= 1;
        }
        if self.waiting.count() > 0 {
            room = self.submit_backlog(now, room);
        }
        while room > 0
            && let Some(index) = self.earliest(now)
            && let Some(next_request) = self.states[index].next
            && self.admit(index, next_request, now, &mut room)
        {
            self.states[index].advance(self.start);
        }
        self.has_more = room == 0;
    }

    /// The state whose next request has been due the longest.
    fn earliest(&self, now: Instant) -> Option<usize> {
        let due = |index: &usize| self.states[*index].next.map(|next_request| next_request.due);
        let index = (0..self.states.len())
            .filter(|index| due(index).is_some())
            .min_by_key(due)?;
        due(&index).filter(|due| *due <= now).map(|_| index)
    }

    /// Lets a due request go out, or wait for its device; false when neither is possible now.
    fn admit(&mut self, index: usize, next_request: NextRequest, now: Instant, room: &mut usize) -> bool {
        if self.is_left_out(index, next_request.due, now) {
            return !self.context.stop.is_raised();
        }
        let (request, _) = request::draw(
            &self.context,
            &self.states[index].stream,
            next_request.k,
            next_request.due,
        );
        let state = &self.states[index];
        if state.devices[request.device].queue.is_empty() && self.has_place(index, request.device) {
            self.send(index, request, now);
            *room -= 1;
            return true;
        }
        if self.waiting.is_full() {
            return false;
        }
        let device_state = &mut self.states[index].devices[request.device];
        self.waiting.push(&mut device_state.queue, next_request.k);
        true
    }

    /// Whether one more request can go out to a device at once.
    fn has_place(&self, index: usize, device: usize) -> bool {
        let (in_flight_count, most) = self.in_flight_by_device[device];
        in_flight_count < most && self.states[index].has_place(device)
    }

    /// Whether a request comes too late to be carried out: its lateness stops the run, or the run's time is over.
    fn is_left_out(&self, index: usize, due: Instant, now: Instant) -> bool {
        let lag = now.since(due);
        if self.context.is_too_late(lag) {
            self.context
                .stop
                .raise(StopReason::Lag(self.states[index].stream.operation));
            return true;
        }
        now > self.end && lag > GRACE
    }

    /// Lets waiting requests go whose device has room again; returns how much room is left.
    fn submit_backlog(&mut self, now: Instant, mut room: usize) -> usize {
        for device in 0..self.context.devices.len() {
            while room > 0
                && let Some((due, index)) = self.first_waiting(device, now)
            {
                room -= usize::from(self.submit_first_waiting(index, device, due, now));
            }
        }
        room
    }

    /// Of the requests that wait for a device and need not wait on, the one that has been due the longest.
    fn first_waiting(&self, device: usize, now: Instant) -> Option<(Instant, usize)> {
        let first = |index: usize| {
            let state = &self.states[index];
            let k = self.waiting.first(state.devices[device].queue)?;
            let due = self.start.after(state.stream.due(k));
            let may_go = self.is_left_out(index, due, now) || self.has_place(index, device);
            may_go.then_some((due, index))
        };
        (0..self.states.len()).filter_map(first).min()
    }

    /// Sends the first request that waits, or leaves it out; whether it was sent.
    fn submit_first_waiting(&mut self, index: usize, device: usize, due: Instant, now: Instant) -> bool {
        let Some(k) = self.waiting.pop(&mut self.states[index].devices[device].queue) else {
            return false;
        };
        if self.is_left_out(index, due, now) {
            return false;
        }
        let request = request::draw(&self.context, &self.states[index].stream, k, due).0;
        self.send(index, request, now);
        true
    }

    /// Gives a request a slot, stamps it and hands it over; its device must have a place.
    ///
    /// In a call of its own: of several in one call all but the first would be told slower than the device is, by what
    /// the kernel needs for those before them, the waking of whoever serves the device included.
    fn send(&mut self, index: usize, request: Request, now: Instant) {
        let state = &mut self.states[index];
        let free = state.free.pop();
        let Some(number) = free.or_else(|| state.stale.pop()) else {
            return;
        };
        let device_state = &mut state.devices[request.device];
        if device_state.in_flight_count == 0 {
            device_state.moved = Some(now);
        }
        device_state.in_flight_count += 1;
        if free.is_none() {
            self.renew(index, number);
        }
        self.slots[number as usize] = Some(Slot {
            request,
            submitted: Instant::now(),
            state: index,
        });
        self.in_flight_count += 1;
        self.in_flight_by_device[request.device].0 += 1;
        self.push(number);
        self.has_sent = true;
        self.ring.submit();
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
        // SAFETY: the state's memory lies in this arena; a write's belongs to its slot, which stays taken until it
        // comes back, and nobody looks at what is read.
        unsafe { self.ring.push(&self.arena, number, transfer) };
    }

    /// Makes the data of a slot that is not out unlike any written before.
    fn renew(&mut self, index: usize, number: u32) {
        let state = &self.states[index];
        let (offset, size) = (state.memory_of(number), state.size.stride_bytes);
        // SAFETY: the slot is not out, and the memory of a write belongs to its slot alone.
        self.pattern
            .stamp(unsafe { self.arena.bytes(offset, size) }, &mut self.rng);
    }

    /// Makes the data of one write new while nothing is due.
    fn renew_one(&mut self) {
        for index in 0..self.states.len() {
            if let Some(number) = self.states[index].stale.pop() {
                self.renew(index, number);
                self.states[index].free.push(number);
                return;
            }
        }
    }

    /// Sleeps until something comes back or is due; false when the ring is of no use.
    fn enter(&mut self) -> bool {
        let now = Instant::now();
        let is_idle = !std::mem::take(&mut self.has_sent);
        let wait = self.wait(now);
        if is_idle && wait.is_some_and(|wait| wait >= SPARE) {
            self.renew_one();
        }
        let entered = match wait {
            Some(wait) if wait <= LEAD && self.again.is_empty() => self.spin_until(now.after(wait)),
            Some(wait) => self.ring.enter(Some(Nanos(wait.0.saturating_sub(LEAD.0)))),
            None => self.ring.enter(None),
        };
        match entered {
            Ok(()) => true,
            Err(error) => {
                self.context.stop.raise(broken(&error));
                false
            }
        }
    }

    /// Watches the clock until then; what comes back meanwhile ends the spin_until.
    fn spin_until(&mut self, until: Instant) -> io::Result<()> {
        while Instant::now() < until {
            if self.ring.has_news() {
                return self.ring.enter(None);
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// How long nothing is due; None when something is already.
    fn wait(&self, now: Instant) -> Option<Nanos> {
        let longest = now.after(LONGEST_SLEEP);
        if self.has_more || !self.again.is_empty() {
            return None;
        }
        let dues = self
            .states
            .iter()
            .filter_map(|state| state.next.map(|next_request| next_request.due));
        let Some(first) = dues.min() else {
            return Some(LONGEST_SLEEP);
        };
        if first <= now {
            // A full backlog takes no more until something comes back.
            return self.waiting.is_full().then_some(LONGEST_SLEEP);
        }
        let limit = first.after(WINDOW);
        let wake = self.states.iter().filter_map(|state| state.last_due(limit)).max();
        Some(wake.unwrap_or(first).min(longest).since(now))
    }

    /// Waits for everything that is out: until then its memory belongs to the kernel.
    fn drain(&mut self) {
        while self.in_flight_count > 0 {
            if self.ring.enter(Some(LONGEST_SLEEP)).is_err() {
                return;
            }
            self.reap(Instant::now());
            self.forget_again();
        }
    }

    /// What the kernel gave back after the end is not handed over any more.
    fn forget_again(&mut self) {
        for number in self.again.drain(..) {
            self.slots[number as usize] = None;
            self.in_flight_count -= 1;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.in_flight_count == 0 {
            // SAFETY: dropped once, here; no request is out that the kernel could still write to it. Where one is, the
            // memory is left to the kernel until the process ends.
            unsafe { ManuallyDrop::drop(&mut self.arena) }
        }
    }
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
