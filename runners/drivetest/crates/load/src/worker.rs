//! One thread of the `threads` engine: takes the next request, waits until it is due, carries it out, counts it.

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;

use crate::buffer::{Buffer, Payload};
use crate::clock::{Instant, Nanos};
use crate::config::Config;
use crate::crew::Shared;
use crate::device::{Device, Extent};
use crate::draws::Draws;
use crate::recorder::{Recorder, Stamps};
use crate::stop::{Cause, Fault};
use crate::stream::{Operation, Stream};

/// The longest sleep at a stretch, so that a stop is seen soon however seldom requests are due.
const LONGEST_SLEEP: Nanos = Nanos::from_ms(50);

/// Requests late by more than this are left out once the run's time is over.
const GRACE: Nanos = Nanos::from_s(1);

/// What a thread needs; everything it will touch is allocated here.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    stream: Arc<Stream>,
    recorder: Arc<Recorder>,
    memory: Memory,
}

enum Memory {
    In(Buffer),
    Out(Payload),
}

/// A request with its place drawn.
#[derive(Clone, Copy)]
struct Request {
    device: usize,
    extent: Extent,
}

impl Worker {
    pub(crate) fn new(shared: &Arc<Shared>, stream: &Arc<Stream>, number: usize) -> Self {
        let memory = memory(
            &shared.config,
            &shared.devices,
            stream.operation,
            shared.seed ^ number as u64,
        );
        let recorder = Arc::clone(&stream.recorders[number]);
        Self {
            shared: Arc::clone(shared),
            stream: Arc::clone(stream),
            recorder,
            memory,
        }
    }

    /// Works until the requests are used up or the run stops.
    pub(crate) fn work(mut self) {
        // Without this the kernel wakes us up to 50 us late, on purpose; where it is not allowed we are merely later.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let Some(start) = self.shared.gate.pass() else {
            return;
        };
        while let Some(k) = self.stream.take() {
            let request = self.prepare(k);
            let due = start.after(self.stream.schedule.due(k));
            if !self.wait(due) || !self.serve(request, due) {
                return;
            }
        }
    }

    /// Draws the place and the data, before the request is due.
    fn prepare(&mut self, k: u64) -> Request {
        let mut draws = Draws::new(self.shared.seed, self.stream.operation as u64, k);
        let device = self.stream.device(k, self.shared.devices.len(), &mut draws);
        let extent = self.shared.devices[device]
            .places
            .extent(self.stream.operation, &mut draws);
        if let Memory::Out(payload) = &mut self.memory {
            payload.stamp(draws);
        }
        Request { device, extent }
    }

    /// Waits until a request is due; false when the run ends before.
    fn wait(&self, due: Instant) -> bool {
        loop {
            if self.shared.stop.is_raised() {
                return false;
            }
            let now = Instant::now();
            if now >= due {
                return now <= self.shared.gate.end() || now.since(due) <= GRACE;
            }
            due.min(now.after(LONGEST_SLEEP)).sleep_until();
        }
    }

    /// Carries out a request and counts it; false when that ends the run.
    fn serve(&mut self, request: Request, due: Instant) -> bool {
        let submitted = Instant::now();
        if self.shared.is_too_late(submitted.since(due)) {
            self.shared.stop.raise(Cause::Lag(self.stream.operation));
            return false;
        }
        if let Err(error) = self.transfer(request) {
            self.shared.stop.raise(Cause::Device(self.fault(request, &error)));
            return false;
        }
        let stamps = Stamps {
            due,
            submitted,
            completed: Instant::now(),
        };
        self.recorder.record(request.device, stamps);
        true
    }

    fn transfer(&mut self, request: Request) -> io::Result<()> {
        let device = &self.shared.devices[request.device];
        match &mut self.memory {
            Memory::In(buffer) => device.read(request.extent, buffer.bytes()),
            Memory::Out(payload) => device.write(request.extent, payload.bytes()),
        }
    }

    fn fault(&self, request: Request, error: &io::Error) -> Fault {
        let Request { device, extent } = request;
        Fault {
            device,
            operation: self.stream.operation,
            extent,
            errno: Fault::number(error),
        }
    }
}

fn memory(config: &Config, devices: &[Device], operation: Operation, seed: u64) -> Memory {
    let longest = devices
        .iter()
        .map(|device| device.places.longest_bytes(operation))
        .max();
    let bytes = longest.unwrap_or_default();
    if operation.is_write() {
        let draws = Draws::new(seed, u64::MAX, 0);
        return Memory::Out(Payload::new(bytes, config.compress_pct, draws));
    }
    Memory::In(Buffer::new(bytes))
}
