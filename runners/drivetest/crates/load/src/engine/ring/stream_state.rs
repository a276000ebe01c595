//! One stream as one ring carries it: its next request, the offsets for requests that are out, and who waits.

use std::sync::Arc;

use super::backlog::BacklogQueue;
use super::queue_depth::MAX_IN_FLIGHT;
use crate::clock::{Instant, Nanos};
use crate::device::Device;
use crate::engine::workers::RunContext;
use crate::schedule::stream::Stream;
use crate::stats::recorder::Recorder;

/// Memory for reads whose bytes nobody looks at, for each device: beyond it, requests share.
const READ_BYTES: usize = 1 << 20;

/// Memory for writes that are out, for each device, where their rate asks for no more.
const WRITE_BYTES: usize = 2 << 20;

/// Memory for the writes of a stream, over all devices and workers; 4 MB for each of 128 devices are half as much again.
const MOST_WRITE_BYTES: usize = 320 << 20;

/// Time that a write may take before those of its rate run out of offsets.
const WRITE_BUDGET_S: f64 = 0.05;

/// How many requests and how much memory a stream has on one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Requests that may be out at one device.
    pub(super) quota: usize,
    /// Requests that may be out at all.
    pub(super) slots_count: usize,
    /// Memory of one request, bytes; a multiple of 4096.
    pub(super) stride_bytes: usize,
    /// Pieces of memory; as many as slots for writes.
    pub(super) memory_count: usize,
}

impl Size {
    /// For requests of `longest_bytes` that come `per_s` times a second, over that many devices and workers.
    pub(super) fn of(
        is_write: bool,
        longest_bytes: usize,
        per_s: f64,
        devices: usize,
        workers: usize,
    ) -> Self {
        let stride_bytes = longest_bytes.next_multiple_of(super::arena::ALIGNMENT_BYTES);
        let quota = match is_write {
            true => {
                let wanted = (per_s / devices as f64 * WRITE_BUDGET_S).ceil() as usize;
                wanted.max(WRITE_BYTES / stride_bytes).clamp(4, MAX_IN_FLIGHT)
            }
            false => MAX_IN_FLIGHT,
        };
        let quota = quota.div_ceil(workers);
        let all = quota * devices;
        let (slots_count, memory_count) = match is_write {
            true => {
                let affordable = (MOST_WRITE_BYTES / workers / stride_bytes).max(1);
                (all.min(affordable), all.min(affordable))
            }
            false => (
                all,
                (READ_BYTES * devices / workers / stride_bytes).clamp(2, all.max(2)),
            ),
        };
        Self {
            quota,
            slots_count,
            stride_bytes,
            memory_count,
        }
    }

    /// All its memory.
    pub(super) fn bytes(self) -> usize {
        self.stride_bytes * self.memory_count
    }
}

/// A request that is not due yet, or has no place yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct NextRequest {
    pub(super) k: u64,
    pub(super) due: Instant,
}

/// What one device has of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeviceState {
    /// Requests that are out.
    pub(super) in_flight_count: usize,
    /// Requests that wait.
    pub(super) queue: BacklogQueue,
    /// When it last came to something: a completion, or a request after none were out.
    pub(super) moved: Option<Instant>,
}

/// A stream on a worker.
pub(super) struct StreamState {
    pub(super) stream: Arc<Stream>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) size: Size,
    /// The first of its slots among all of the worker.
    pub(super) first_slot: usize,
    /// Where its memory begins.
    pub(super) memory_offset: usize,
    pub(super) next: Option<NextRequest>,
    pub(super) devices: Box<[DeviceState]>,
    /// Slots that are not out; those of writes have data that was never written.
    pub(super) free: Vec<u32>,
    /// Slots whose data was written and must be made new.
    pub(super) stale: Vec<u32>,
    /// Between two requests of this worker, on average.
    pub(super) period: Nanos,
}

impl StreamState {
    pub(super) fn new(
        context: &RunContext,
        stream: &Arc<Stream>,
        number: usize,
        first_slot: usize,
        memory_offset: usize,
    ) -> Self {
        let workers = stream.recorders.len();
        let per_s = stream.schedule.rate().per_s();
        let devices = &context.devices;
        let longest = devices
            .iter()
            .map(|device: &Device| device.offsets.longest_bytes(stream.operation));
        let size = Size::of(
            stream.operation.is_write(),
            longest.max().unwrap_or(1),
            per_s,
            devices.len(),
            workers,
        );
        let slots = first_slot as u32..(first_slot + size.slots_count) as u32;
        Self {
            stream: Arc::clone(stream),
            recorder: Arc::clone(&stream.recorders[number]),
            size,
            first_slot,
            memory_offset,
            next: None,
            devices: vec![DeviceState::default(); devices.len()].into(),
            free: slots.collect(),
            stale: Vec::with_capacity(size.slots_count),
            period: Nanos((workers as f64 / per_s * 1e9) as u64),
        }
    }

    pub(super) fn is_write(&self) -> bool {
        self.stream.operation.is_write()
    }

    /// Where the memory of a slot begins.
    pub(super) fn memory_of(&self, slot: u32) -> usize {
        let ordinal = (slot as usize - self.first_slot) % self.size.memory_count;
        self.memory_offset + ordinal * self.size.stride_bytes
    }

    /// Takes the next request, whatever becomes of the one before.
    pub(super) fn advance(&mut self, start: Instant) {
        self.next = self.stream.take().map(|k| NextRequest {
            k,
            due: start.after(self.stream.due(k)),
        });
    }

    /// Whether a request to that device can go out at once.
    pub(super) fn has_place(&self, device: usize) -> bool {
        self.devices[device].in_flight_count < self.size.quota
            && !(self.free.is_empty() && self.stale.is_empty())
    }

    /// The last time up to `limit` that a request of this state is due, as far as its rate tells; None when none is.
    pub(super) fn last_due(&self, limit: Instant) -> Option<Instant> {
        let due = self.next?.due;
        if due > limit {
            return None;
        }
        let periods = limit.since(due).0.checked_div(self.period.0).unwrap_or(0);
        Some(due.after(Nanos(periods * self.period.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_have_memory_of_their_own() {
        // 10,000 writes a second of 1536 bytes: 118 blocks for writing and as many for defragmentation.
        let size = Size::of(true, 131_072, 235.3, 1, 1);
        assert_eq!((size.quota, size.slots_count, size.memory_count), (16, 16, 16));
        let fast = Size::of(true, 131_072, 4_000.0, 1, 1);
        assert_eq!((fast.quota, fast.memory_count), (200, 200));
    }

    #[test]
    fn reads_share_memory_but_not_places() {
        let size = Size::of(false, 1_536, 20_000.0, 1, 1);
        assert_eq!(
            (size.quota, size.slots_count, size.memory_count),
            (1_024, 1_024, 256)
        );
        let large = Size::of(false, 8 << 20, 1.0, 1, 1);
        assert_eq!((large.slots_count, large.memory_count), (1_024, 2));
    }

    #[test]
    fn memory_stays_within_4_mb_for_each_of_128_devices() {
        for (bytes, workers) in [(131_072, 1), (131_072, 8), (8 << 20, 1), (8 << 20, 64)] {
            let writes = Size::of(true, bytes, 23_530.0, 128, workers).bytes() * workers;
            let blocks = Size::of(false, bytes, 23_530.0, 128, workers).bytes() * workers;
            assert!(writes <= 512 << 20, "{bytes} {workers}: {writes}");
            assert!(blocks <= 1_024 << 20, "{bytes} {workers}: {blocks}");
        }
    }

    #[test]
    fn every_worker_has_a_place_for_every_device() {
        let size = Size::of(true, 131_072, 100.0, 4, 64);
        assert_eq!((size.quota, size.slots_count), (1, 4));
    }
}
