//! The state of a stream on a ring: the next requests, the slots of outstanding requests, and the waiting requests.
//!
//! The kernel passes requests for which a device has no slot to threads of its own, which wait there: hundreds of them,
//! at twice the cost of the request itself (measured on a loop device with 128 slots). So they wait here and count as
//! backlog.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::clock::{Instant, Nanos};
use crate::device::Device;
use crate::engine::ring::backlog::{BacklogQueue, InFlight};
use crate::engine::workers::RunContext;
use crate::schedule::stream::Stream;
use crate::stats::recorder::Recorder;
use crate::telemetry::{Root, block_number, disk_directory};

/// Read memory for each device. Reads share it, because their content is not used.
const READ_BYTES: usize = 1 << 20;

/// Memory for outstanding writes for each device, unless the rate needs more.
const WRITE_BYTES: usize = 2 << 20;

/// Memory limit for the writes of a stream, over all devices and workers: 4 MB for each of 128 devices, and less than
/// half as much again.
const MOST_WRITE_BYTES: usize = 320 << 20;

/// Time budget of a write, which determines the number of its slots.
const WRITE_BUDGET_S: f64 = 0.05;

/// Slots and memory of a stream on one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Maximum number of outstanding requests per device.
    pub(super) quota: usize,
    /// Maximum number of outstanding requests in total.
    pub(super) slots_count: usize,
    /// Memory of one request, bytes; a multiple of 4096.
    pub(super) stride_bytes: usize,
    /// Number of memory pieces. Writes have one for each slot.
    pub(super) memory_count: usize,
}

impl Size {
    /// Computes the size for requests of `longest_bytes` at `per_s` per second, over that many devices and workers.
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

    /// Returns its total memory.
    pub(super) fn bytes(self) -> usize {
        self.stride_bytes * self.memory_count
    }
}

/// A request that is not due, or has no slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct NextRequest {
    pub(super) k: u64,
    pub(super) due: Instant,
    /// When a timer wakes the worker for it, earlier by the lead.
    pub(super) wake_at: Instant,
    /// When it would have been queued, if the backlog was full.
    pub(super) queued: Option<Instant>,
}

/// The state of one device in a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceState {
    /// Outstanding requests.
    pub(super) in_flight: InFlight,
    /// Waiting requests.
    pub(super) queue: BacklogQueue,
    /// Time of the last progress: a completion, or a submission while none was outstanding.
    pub(super) last_progress: Option<Instant>,
}

/// The state of a stream on a worker.
pub(super) struct StreamState {
    pub(super) stream: Arc<Stream>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) size: Size,
    /// Its first slot among all slots of the worker.
    pub(super) first_slot: usize,
    /// Start of its memory.
    pub(super) memory_offset: usize,
    /// The request that this worker submits next, or None if all are taken.
    pub(super) next: Option<NextRequest>,
    /// The one that this worker takes afterwards if all workers are on time. Until then, any worker may take it.
    ///
    /// A timeout is set for it, too. So a timeout that is set is never the next one to end, and setting it does not
    /// program the processor's timer, which takes a virtual machine 6 us.
    pub(super) following: Option<NextRequest>,
    /// Average time between two requests of this worker.
    distance: Nanos,
    pub(super) devices: Box<[DeviceState]>,
    /// Outstanding requests of all devices.
    pub(super) in_flight: InFlight,
    /// Free slots. Those of writes contain data that was never written.
    pub(super) free: Vec<u32>,
    /// Free slots with data that was written and must be renewed.
    pub(super) stale: Vec<u32>,
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
        let now = Instant::now();
        let device_state = DeviceState {
            in_flight: InFlight::new(size.quota, now),
            queue: BacklogQueue::default(),
            last_progress: None,
        };
        let slots = first_slot as u32..(first_slot + size.slots_count) as u32;
        Self {
            stream: Arc::clone(stream),
            recorder: Arc::clone(&stream.recorders[number]),
            size,
            first_slot,
            memory_offset,
            next: None,
            following: None,
            distance: Nanos((workers as f64 * 1e9 / per_s).ceil() as u64),
            devices: vec![device_state; devices.len()].into(),
            in_flight: InFlight::new(size.slots_count, now),
            free: slots.collect(),
            stale: Vec::with_capacity(size.slots_count),
        }
    }

    pub(super) fn is_write(&self) -> bool {
        self.stream.operation.is_write()
    }

    /// Returns the start of a slot's memory.
    pub(super) fn memory_of(&self, slot: u32) -> usize {
        let ordinal = (slot as usize - self.first_slot) % self.size.memory_count;
        self.memory_offset + ordinal * self.size.stride_bytes
    }

    /// Takes the next request. If the one before found the backlog full, so did this one when it became due. The worker
    /// is woken for each request this much before it is due.
    pub(super) fn advance(&mut self, start: Instant, now: Instant, lead: Nanos) {
        let queued = self.next.take().and_then(|previous| previous.queued);
        let expected = self.following.take();
        let Some(k) = self.stream.take() else { return };
        let mut next = match expected {
            Some(expected) if expected.k == k => expected,
            _ => self.request(k, start, lead),
        };
        next.queued = queued
            .filter(|_| next.due <= now)
            .map(|queued| queued.max(next.due));
        self.next = Some(next);
        let k = k + self.stream.recorders.len() as u64;
        if k < self.stream.schedule.requests_count() {
            self.following = Some(self.request(k, start, lead));
        }
    }

    fn request(&self, k: u64, start: Instant, lead: Nanos) -> NextRequest {
        let due = start.after(self.stream.due(k));
        NextRequest {
            k,
            due,
            wake_at: due.before(lead),
            queued: None,
        }
    }

    /// Returns when the last request up to `limit` is due, or None if there is none. Beyond the following one, that is
    /// the average time.
    pub(super) fn last_due(&self, limit: Instant) -> Option<Instant> {
        let within = |request: &NextRequest| request.due <= limit;
        let next = self.next.filter(within)?;
        let Some(following) = self.following.filter(within) else {
            return Some(next.due);
        };
        let more = limit.since(following.due).0 / self.distance.0;
        Some(following.due.after(Nanos(more * self.distance.0)))
    }
}

/// Maximum number of outstanding requests per device, over all workers. A drive that needs 10 ms for each still
/// reaches 100,000 per second.
pub(super) const MAX_IN_FLIGHT: usize = 1_024;

/// Used if the kernel reports nothing: the number of its own threads.
const DEFAULT_IN_FLIGHT: usize = 256;

/// Returns how many requests each of `workers` may have outstanding at `file`; at least one.
pub(super) fn max_in_flight(file: &File, workers: usize) -> usize {
    let found = file.metadata().ok();
    let drive = found.and_then(|found| disk_directory(&Root::host(), block_number(&found)));
    let slots = drive.and_then(|drive| slots(&drive, workers));
    // An eighth remains for requests that the kernel splits and for other users.
    let most = slots.map_or(DEFAULT_IN_FLIGHT, |slots| slots - slots / 8);
    (most.min(MAX_IN_FLIGHT) / workers).max(1)
}

/// Returns the slots of the hardware queues that the workers use. Each worker runs on one processor and so fills one
/// queue.
fn slots(drive: &Path, workers: usize) -> Option<usize> {
    let text = std::fs::read_to_string(drive.join("queue/nr_requests")).ok()?;
    let each: usize = text.trim().parse().ok()?;
    // Devices without hardware queues have no such directory and no limited slots.
    let queues = std::fs::read_dir(drive.join("mq")).ok()?.count().max(1);
    Some(each * queues.min(workers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::schedule::stream::streams;
    use crate::stop::StopSignal;

    /// Returns the states of a stream of 1000 requests, one due each millisecond, on that many workers.
    fn states(workers: usize) -> Vec<StreamState> {
        let text = "device-names: a\ntest-duration-sec: 1\nread-reqs-per-sec: 1000";
        let config = Config::read(text, 1).unwrap().0;
        let stream = &streams(&config, Nanos::from_s(1), 1, Some(workers))[0];
        let context = RunContext::new(config, Vec::new(), 1, StopSignal::new().unwrap());
        let state = |number| StreamState::new(&context, stream, number, 0, 0);
        (0..workers).map(state).collect()
    }

    proptest::proptest! {
        #[test]
        fn each_request_is_taken_once_and_keeps_its_due_time(turns in proptest::collection::vec(0usize..3, 0..3_000)) {
            let mut states = states(3);
            let start = Instant::ZERO.after(Nanos(7));
            states.iter_mut().for_each(|state| state.advance(start, start, Nanos(5)));
            let mut taken = Vec::new();
            for worker in turns.into_iter().chain((0..3).cycle().take(3_000)) {
                if let Some(next) = states[worker].next {
                    let due = start.after(states[worker].stream.due(next.k));
                    proptest::prop_assert_eq!((next.due, next.wake_at), (due, due.before(Nanos(5))));
                    taken.push(next.k);
                    states[worker].advance(start, start, Nanos(5));
                }
                let expected = states[worker].next.map(|next| next.k + 3).filter(|k| *k < 1_000);
                let following = states[worker].following;
                proptest::prop_assert_eq!(following.map(|request| request.k), expected);
                let due = expected.map(|k| start.after(states[worker].stream.due(k)));
                proptest::prop_assert_eq!(following.map(|request| request.due), due);
            }
            taken.sort_unstable();
            proptest::prop_assert!(taken.into_iter().eq(0..1_000));
        }
    }

    #[test]
    fn a_worker_holds_one_request_and_expects_its_share_of_the_later_ones() {
        let mut states = states(2);
        let mut advance = |worker: usize| {
            states[worker].advance(Instant::ZERO, Instant::ZERO, Nanos(0));
            let [next, following] = [states[worker].next, states[worker].following];
            (next.map(|request| request.k), following.map(|request| request.k))
        };
        assert_eq!([advance(0), advance(1)], [(Some(0), Some(2)), (Some(1), Some(3))]);
        // While the second worker has no processor, the first one submits all requests but one.
        let all: Vec<_> = (0..3).map(|_| advance(0).0).collect();
        assert_eq!(all, [Some(2), Some(3), Some(4)]);
        assert_eq!(advance(1), (Some(5), Some(7)));
    }

    #[test]
    fn the_last_of_the_requests_within_the_limit_decides_when_all_are_submitted() {
        let mut state = states(1).swap_remove(0);
        let at = |us| Instant::ZERO.after(Nanos::from_us(us));
        state.advance(at(100), at(100), Nanos(0));
        // Due after 100 us, 1100 us, 2100 us and so on.
        let limits = [99, 100, 1_099, 1_100, 1_500, 2_099, 2_100, 5_000].map(|us| state.last_due(at(us)));
        let expected = [
            None,
            Some(100),
            Some(100),
            Some(1_100),
            Some(1_100),
            Some(1_100),
            Some(2_100),
            Some(4_100),
        ];
        assert_eq!(limits, expected.map(|us| us.map(at)));
    }

    #[test]
    fn requests_behind_a_full_backlog_were_queued_when_they_became_due() {
        let mut state = states(1).swap_remove(0);
        let at = |us: u64| Instant::ZERO.after(Nanos(us * 1_000));
        let mut advance = |found_full, now| {
            if let Some(next_request) = &mut state.next {
                next_request.queued = found_full;
            }
            state.advance(at(0), now, Nanos(0));
            state.next.unwrap().queued
        };
        // One request is due each millisecond, and the backlog is full from 1.5 ms to 3.2 ms.
        assert_eq!(advance(None, at(0)), None);
        assert_eq!(advance(None, at(100)), None);
        assert_eq!(advance(Some(at(1_500)), at(3_200)), Some(at(2_000)));
        assert_eq!(advance(Some(at(2_000)), at(3_200)), Some(at(3_000)));
        assert_eq!(advance(Some(at(3_000)), at(3_200)), None);
    }

    #[test]
    fn each_write_has_memory_of_its_own() {
        // 10,000 writes a second of 1536 bytes: 118 blocks for writing and as many for defragmentation.
        let size = Size::of(true, 131_072, 235.3, 1, 1);
        assert_eq!((size.quota, size.slots_count, size.memory_count), (16, 16, 16));
        let fast = Size::of(true, 131_072, 4_000.0, 1, 1);
        assert_eq!((fast.quota, fast.memory_count), (200, 200));
    }

    #[test]
    fn reads_share_memory_but_not_slots() {
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
    fn every_worker_has_a_slot_for_every_device() {
        let size = Size::of(true, 131_072, 100.0, 4, 64);
        assert_eq!((size.quota, size.slots_count), (1, 4));
    }

    fn drive(queues: usize) -> tempfile::TempDir {
        let drive = tempfile::tempdir().unwrap();
        std::fs::create_dir(drive.path().join("queue")).unwrap();
        std::fs::write(drive.path().join("queue/nr_requests"), "128\n").unwrap();
        for queue in 0..queues {
            std::fs::create_dir_all(drive.path().join(format!("mq/{queue}"))).unwrap();
        }
        drive
    }

    #[test]
    fn workers_share_the_slots_of_the_queues_they_use() {
        assert_eq!(slots(drive(1).path(), 4), Some(128));
        assert_eq!(slots(drive(8).path(), 1), Some(128));
        assert_eq!(slots(drive(8).path(), 4), Some(512));
        assert_eq!(slots(drive(0).path(), 1), None);
    }

    #[test]
    fn a_device_without_a_reported_depth_has_a_default() {
        let file = tempfile::tempfile().unwrap();
        assert!((1..=MAX_IN_FLIGHT).contains(&max_in_flight(&file, 1)));
        assert_eq!(max_in_flight(&file, 10_000), 1);
    }
}
