//! One thread of the `threads` engine: takes the next request, waits until it is due, carries it out, counts it.

use std::sync::Arc;

use rustix::io::Errno;

use crate::clock::{Instant, Nanos};
use crate::device::Device;
use crate::engine::buffer::{Buffer, Payload};
use crate::engine::request::{self, Request};
use crate::engine::workers::RunContext;
use crate::engine::{GRACE, LONGEST_SLEEP, thread_scheduling};
use crate::schedule::rng::RequestRng;
use crate::schedule::stream::{Operation, Stream};
use crate::stats::io_errors::Failure;
use crate::stats::recorder::{Recorder, Stamps};
use crate::stop::StopReason;

/// Requests of a device of memory that become due within this of each other are served at one waking, when the last of
/// them is due: one waking for three requests costs a third of three. A request is never early, and late by this at most.
const WINDOW: Nanos = Nanos(40_000);

/// A device that answers faster than this is as well asked by one thread several times as by several threads that wake
/// up for it: memory. A read of a drive takes longer.
const QUICK: Nanos = Nanos(10_000);

/// Where the load is more than the device carries, a thread takes no more than this at a time.
const MOST_AT_ONCE: u64 = 16;

/// What a thread needs; everything it will touch is allocated here.
pub(crate) struct Worker {
    context: Arc<RunContext>,
    stream: Arc<Stream>,
    recorder: Arc<Recorder>,
    memory: Memory,
    /// Requests that one waking may serve: those due within the window.
    most_at_once: u64,
    is_quick: bool,
}

/// What becomes of a request whose time has come.
enum Turn {
    Due,
    /// The run's time is over, and the request is late by more than the grace; those behind it may be less late.
    LeftOut,
    Stopped,
}

enum Memory {
    In(Buffer),
    Out(Payload),
}

impl Worker {
    pub(crate) fn new(context: &Arc<RunContext>, stream: &Arc<Stream>, number: usize) -> Self {
        let in_window = stream.schedule.rate().per_s() * WINDOW.0 as f64 / 1e9;
        Self {
            memory: memory(context, stream.operation, number),
            most_at_once: (1 + in_window as u64).min(MOST_AT_ONCE),
            is_quick: false,
            context: Arc::clone(context),
            stream: Arc::clone(stream),
            recorder: Arc::clone(&stream.recorders[number]),
        }
    }

    /// Works until the requests are used up or the run stops.
    pub(crate) fn work(mut self) {
        thread_scheduling::minimize_timer_slack();
        let Some(start) = self.context.start_barrier.pass() else {
            return;
        };
        while let Some(taken) = self.stream.take_several(self.at_once()) {
            // Quick only if all of them are: the next thread waits for the slowest.
            self.is_quick = true;
            let last_due = start.after(self.stream.due(taken.end - 1));
            for k in taken {
                let request = self.prepare(k, start.after(self.stream.due(k)));
                let goes_on = match self.wait(last_due) {
                    Turn::Due => self.serve(request),
                    Turn::LeftOut => true,
                    Turn::Stopped => false,
                };
                if !goes_on {
                    return;
                }
            }
        }
    }

    /// How many requests to take: one, but of a device of memory all that one waking can serve.
    fn at_once(&self) -> u64 {
        match (&self.memory, self.is_quick) {
            (Memory::In(_), true) => self.most_at_once,
            _ => 1,
        }
    }

    /// RequestRng the place and the data, before the request is due.
    fn prepare(&mut self, k: u64, due: Instant) -> Request {
        let (request, rng) = request::draw(&self.context, &self.stream, k, due);
        if let Memory::Out(payload) = &mut self.memory {
            payload.stamp(rng);
        }
        request
    }

    /// Waits until a request is due, or the run stops.
    fn wait(&self, due: Instant) -> Turn {
        loop {
            if self.context.stop.is_raised() {
                return Turn::Stopped;
            }
            let now = Instant::now();
            if now >= due {
                let is_left_out = now > self.context.start_barrier.end() && now.since(due) > GRACE;
                return if is_left_out { Turn::LeftOut } else { Turn::Due };
            }
            due.min(now.after(LONGEST_SLEEP)).sleep_until();
        }
    }

    /// Carries out a request and counts it; false when that ends the run.
    fn serve(&mut self, request: Request) -> bool {
        let submitted = Instant::now();
        if self.context.is_too_late(submitted.since(request.due)) {
            self.context.stop.raise(StopReason::Lag(self.stream.operation));
            return false;
        }
        let moved = self.transfer(request);
        let completed = Instant::now();
        match Failure::of(moved, request.extent.length) {
            None => {
                let stamps = Stamps {
                    due: request.due,
                    submitted,
                    completed,
                };
                self.recorder.record(request.device, stamps);
                self.is_quick &= completed.since(submitted) < QUICK;
            }
            Some(failure) => {
                self.recorder.fail(request.device);
                request::fail(&self.context, request.failed_request(&self.stream, failure));
            }
        }
        true
    }

    /// One call for the whole extent, as often as a signal cuts it short.
    fn transfer(&mut self, request: Request) -> Result<usize, Errno> {
        let device = &self.context.devices[request.device];
        loop {
            let moved = match &mut self.memory {
                Memory::In(buffer) => device.read(request.extent, buffer.bytes()),
                Memory::Out(payload) => device.write(request.extent, payload.bytes()),
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
        false => Memory::In(Buffer::new(size)),
        true => {
            let rng = RequestRng::new(context.seed ^ number as u64, u64::MAX, 0);
            Memory::Out(Payload::new(size, context.config.compress_pct, rng))
        }
    }
}
