//! The loop of one ring: stamp what came back, hand over what is due, sleep until either happens.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use rustix::io::Errno;

use super::arena::Arena;
use super::depth::most_out;
use super::flow::{Flow, Ticket};
use super::uring::{Ring, Transfer};
use super::waiting::Pool;
use crate::buffer::Pattern;
use crate::clock::{Instant, Nanos};
use crate::draws::Draws;
use crate::engine::crew::Shared;
use crate::engine::request::{self, Request};
use crate::engine::{GRACE, LONGEST_SLEEP, punctual};
use crate::faults::Failure;
use crate::recorder::Stamps;
use crate::stop::Cause;
use crate::stream::Stream;

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
    flow: usize,
}

/// What one ring needs; everything it will touch is allocated here.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    ring: Ring,
    /// Freed last, and only when no request is out.
    arena: ManuallyDrop<Arena>,
    flows: Vec<Flow>,
    slots: Vec<Option<Slot>>,
    waiting: Pool,
    /// To be handed over once more: the kernel had no room.
    again: Vec<u32>,
    out_count: usize,
    /// Of each device: requests that are out, and how many may be.
    out_by_device: Box<[(usize, usize)]>,
    /// More could go out at once.
    has_more: bool,
    /// Something went out since the last sleep.
    has_sent: bool,
    pattern: Pattern,
    draws: Draws,
    start: Instant,
    end: Instant,
    next_glance: Instant,
}

impl Worker {
    /// The worker of that number, one of `workers`.
    ///
    /// # Errors
    /// When the kernel gives no ring.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        streams: &[Arc<Stream>],
        number: usize,
        workers: usize,
    ) -> io::Result<Self> {
        let flows = flows(shared, streams, number);
        let slots_count = flows.iter().map(|flow| flow.size.slots_count).sum();
        let bytes = flows.iter().map(|flow| flow.size.bytes()).sum();
        let mut arena = Arena::new(bytes).ok_or(io::ErrorKind::OutOfMemory)?;
        let pattern = Pattern::new(shared.config.compress_pct);
        let mut draws = Draws::new(shared.seed, u64::MAX, number as u64);
        for flow in flows.iter().filter(|flow| flow.is_write()) {
            // SAFETY: there is no ring yet.
            pattern.fill(
                unsafe { arena.bytes(flow.memory_offset, flow.size.bytes()) },
                &mut draws,
            );
        }
        let files: Vec<&File> = shared.devices.iter().map(|device| &device.file).collect();
        let ring = Ring::new(slots_count, &arena, &files)?;
        let now = Instant::now();
        Ok(Self {
            shared: Arc::clone(shared),
            ring,
            arena: ManuallyDrop::new(arena),
            flows,
            slots: vec![None; slots_count],
            waiting: Pool::new(MOST_WAITING),
            again: Vec::with_capacity(slots_count),
            out_count: 0,
            out_by_device: files.iter().map(|file| (0, most_out(file, workers))).collect(),
            has_more: false,
            has_sent: false,
            pattern,
            draws,
            start: now,
            end: now,
            next_glance: now,
        })
    }

    /// Works until the requests are used up or the run stops.
    pub(crate) fn work(mut self) {
        punctual::wake_on_time();
        punctual::go_first();
        let enabled = self.ring.enable();
        let Some(start) = self.shared.gate.pass() else {
            return;
        };
        if let Err(error) = enabled {
            return self.shared.stop.raise(broken(&error));
        }
        (self.start, self.end, self.next_glance) = (start, self.shared.gate.end(), start);
        for flow in &mut self.flows {
            flow.advance(start);
        }
        self.turn();
        self.drain();
    }

    fn turn(&mut self) {
        while !self.shared.stop.is_raised() {
            let now = Instant::now();
            self.reap(now);
            self.glance(now);
            self.hand_over(now);
            if self.is_done() || !self.enter() {
                return;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.out_count == 0 && self.waiting.count() == 0 && self.flows.iter().all(|flow| flow.next.is_none())
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
            let flow = &mut self.flows[slot.flow];
            let Request { device, extent, due } = slot.request;
            match Failure::of(result, extent.length) {
                None => {
                    let stamps = Stamps {
                        due,
                        submitted: slot.submitted,
                        completed: now,
                    };
                    flow.recorder.record(device, stamps);
                }
                Some(failure) => {
                    flow.recorder.fail(device);
                    request::fail(&self.shared, slot.request.fault(&flow.stream, failure));
                }
            }
            self.slots[number as usize] = None;
            self.out_count -= 1;
            self.out_by_device[device].0 -= 1;
            let lane = &mut flow.lanes[device];
            lane.out_count -= 1;
            lane.moved = Some(now);
            match flow.is_write() {
                true => flow.stale.push(number),
                false => flow.free.push(number),
            }
        }
    }

    /// Stops the run where a device stands still: nothing came back for longer than a request may be late.
    fn glance(&mut self, now: Instant) {
        if now < self.next_glance {
            return;
        }
        self.next_glance = now.after(GLANCE);
        for flow in &self.flows {
            let stands_still = |moved| self.shared.is_too_late(now.since(moved));
            let is_stuck =
                |lane: &super::flow::Lane| lane.out_count > 0 && lane.moved.is_some_and(stands_still);
            if flow.lanes.iter().any(is_stuck) {
                self.shared.stop.raise(Cause::Lag(flow.stream.operation));
            }
        }
    }

    /// Hands over what the kernel gave back, what waits, and what is due, in this order, as far as there is room.
    fn hand_over(&mut self, now: Instant) {
        let mut room = self.ring.room().min(BATCH);
        while room > 0
            && let Some(number) = self.again.pop()
        {
            self.push(number);
            room -= 1;
        }
        if self.waiting.count() > 0 {
            room = self.hand_over_waiting(now, room);
        }
        while room > 0
            && let Some(index) = self.earliest(now)
            && let Some(ticket) = self.flows[index].next
            && self.admit(index, ticket, now, &mut room)
        {
            self.flows[index].advance(self.start);
        }
        self.has_more = room == 0;
    }

    /// The flow whose next request has been due the longest.
    fn earliest(&self, now: Instant) -> Option<usize> {
        let due = |index: &usize| self.flows[*index].next.map(|ticket| ticket.due);
        let index = (0..self.flows.len())
            .filter(|index| due(index).is_some())
            .min_by_key(due)?;
        due(&index).filter(|due| *due <= now).map(|_| index)
    }

    /// Lets a due request go out, or wait for its device; false when neither is possible now.
    fn admit(&mut self, index: usize, ticket: Ticket, now: Instant, room: &mut usize) -> bool {
        if self.is_left_out(index, ticket.due, now) {
            return !self.shared.stop.is_raised();
        }
        let (request, _) = request::draw(&self.shared, &self.flows[index].stream, ticket.k, ticket.due);
        let flow = &self.flows[index];
        if flow.lanes[request.device].queue.is_empty() && self.has_place(index, request.device) {
            self.send(index, request, now);
            *room -= 1;
            return true;
        }
        if self.waiting.is_full() {
            return false;
        }
        let lane = &mut self.flows[index].lanes[request.device];
        self.waiting.push(&mut lane.queue, ticket.k);
        true
    }

    /// Whether one more request can go out to a device at once.
    fn has_place(&self, index: usize, device: usize) -> bool {
        let (out_count, most) = self.out_by_device[device];
        out_count < most && self.flows[index].has_place(device)
    }

    /// Whether a request comes too late to be carried out: its lateness stops the run, or the run's time is over.
    fn is_left_out(&self, index: usize, due: Instant, now: Instant) -> bool {
        let lag = now.since(due);
        if self.shared.is_too_late(lag) {
            self.shared
                .stop
                .raise(Cause::Lag(self.flows[index].stream.operation));
            return true;
        }
        now > self.end && lag > GRACE
    }

    /// Lets waiting requests go whose device has room again; returns how much room is left.
    fn hand_over_waiting(&mut self, now: Instant, mut room: usize) -> usize {
        for device in 0..self.shared.devices.len() {
            while room > 0
                && let Some((due, index)) = self.first_waiting(device, now)
            {
                room -= usize::from(self.hand_over_first(index, device, due, now));
            }
        }
        room
    }

    /// Of the requests that wait for a device and need not wait on, the one that has been due the longest.
    fn first_waiting(&self, device: usize, now: Instant) -> Option<(Instant, usize)> {
        let first = |index: usize| {
            let flow = &self.flows[index];
            let k = self.waiting.first(flow.lanes[device].queue)?;
            let due = self.start.after(flow.stream.due(k));
            let may_go = self.is_left_out(index, due, now) || self.has_place(index, device);
            may_go.then_some((due, index))
        };
        (0..self.flows.len()).filter_map(first).min()
    }

    /// Sends the first request that waits, or leaves it out; whether it was sent.
    fn hand_over_first(&mut self, index: usize, device: usize, due: Instant, now: Instant) -> bool {
        let Some(k) = self.waiting.pop(&mut self.flows[index].lanes[device].queue) else {
            return false;
        };
        if self.is_left_out(index, due, now) {
            return false;
        }
        let request = request::draw(&self.shared, &self.flows[index].stream, k, due).0;
        self.send(index, request, now);
        true
    }

    /// Gives a request a slot, stamps it and hands it over; its device must have a place.
    ///
    /// In a call of its own: of several in one call all but the first would be told slower than the device is, by what
    /// the kernel needs for those before them, the waking of whoever serves the device included.
    fn send(&mut self, index: usize, request: Request, now: Instant) {
        let flow = &mut self.flows[index];
        let free = flow.free.pop();
        let Some(number) = free.or_else(|| flow.stale.pop()) else {
            return;
        };
        let lane = &mut flow.lanes[request.device];
        if lane.out_count == 0 {
            lane.moved = Some(now);
        }
        lane.out_count += 1;
        if free.is_none() {
            self.renew(index, number);
        }
        self.slots[number as usize] = Some(Slot {
            request,
            submitted: Instant::now(),
            flow: index,
        });
        self.out_count += 1;
        self.out_by_device[request.device].0 += 1;
        self.push(number);
        self.has_sent = true;
        self.ring.submit();
    }

    fn push(&mut self, number: u32) {
        let Some(slot) = self.slots[number as usize] else {
            return;
        };
        let flow = &self.flows[slot.flow];
        let transfer = Transfer {
            is_write: flow.is_write(),
            device: slot.request.device,
            extent: slot.request.extent,
            memory_offset: flow.memory_of(number),
        };
        // SAFETY: the flow's memory lies in this arena; a write's belongs to its slot, which stays taken until it
        // comes back, and nobody looks at what is read.
        unsafe { self.ring.push(&self.arena, number, transfer) };
    }

    /// Makes the data of a slot that is not out unlike any written before.
    fn renew(&mut self, index: usize, number: u32) {
        let flow = &self.flows[index];
        let (offset, size) = (flow.memory_of(number), flow.size.stride_bytes);
        // SAFETY: the slot is not out, and the memory of a write belongs to its slot alone.
        self.pattern
            .stamp(unsafe { self.arena.bytes(offset, size) }, &mut self.draws);
    }

    /// Makes the data of one write new while nothing is due.
    fn renew_one(&mut self) {
        for index in 0..self.flows.len() {
            if let Some(number) = self.flows[index].stale.pop() {
                self.renew(index, number);
                self.flows[index].free.push(number);
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
            Some(wait) if wait <= LEAD && self.again.is_empty() => self.watch(now.after(wait)),
            Some(wait) => self.ring.enter(Some(Nanos(wait.0.saturating_sub(LEAD.0)))),
            None => self.ring.enter(None),
        };
        match entered {
            Ok(()) => true,
            Err(error) => {
                self.shared.stop.raise(broken(&error));
                false
            }
        }
    }

    /// Watches the clock until then; what comes back meanwhile ends the watch.
    fn watch(&mut self, until: Instant) -> io::Result<()> {
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
            .flows
            .iter()
            .filter_map(|flow| flow.next.map(|ticket| ticket.due));
        let Some(first) = dues.min() else {
            return Some(LONGEST_SLEEP);
        };
        if first <= now {
            // A full pool takes no more until something comes back.
            return self.waiting.is_full().then_some(LONGEST_SLEEP);
        }
        let limit = first.after(WINDOW);
        let wake = self.flows.iter().filter_map(|flow| flow.last_due(limit)).max();
        Some(wake.unwrap_or(first).min(longest).since(now))
    }

    /// Waits for everything that is out: until then its memory belongs to the kernel.
    fn drain(&mut self) {
        while self.out_count > 0 {
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
            self.out_count -= 1;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.out_count == 0 {
            // SAFETY: dropped once, here; no request is out that the kernel could still write to it. Where one is, the
            // memory is left to the kernel until the process ends.
            unsafe { ManuallyDrop::drop(&mut self.arena) }
        }
    }
}

fn broken(error: &io::Error) -> Cause {
    Cause::Ring(error.raw_os_error().unwrap_or_default())
}

fn flows(shared: &Shared, streams: &[Arc<Stream>], number: usize) -> Vec<Flow> {
    let (mut slots, mut bytes) = (0, 0);
    let mut flows = Vec::new();
    for stream in streams.iter().filter(|stream| number < stream.recorders.len()) {
        let flow = Flow::new(shared, stream, number, slots, bytes);
        slots += flow.size.slots_count;
        bytes += flow.size.bytes();
        flows.push(flow);
    }
    flows
}
