//! The backlog: due requests that wait for a free slot of their device, in one FIFO queue for each device.
//!
//! The backlog of a request begins when this worker queues it, not when it was due: until then the worker was late. It
//! ends when the device has a free slot for it. What follows until the submission is the worker's delay again.

use crate::clock::{Instant, Nanos};

/// Index of no node.
const NONE: u32 = u32::MAX;

/// A FIFO queue within the backlog, initially empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct BacklogQueue {
    first: u32,
    last: u32,
}

impl Default for BacklogQueue {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
        }
    }
}

impl BacklogQueue {
    pub(super) fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// A due request that waits for a free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) k: u64,
    pub(super) due: Instant,
    /// When the worker found it due and its device full.
    pub(super) queued: Instant,
}

impl Waiting {
    /// Returns how long it waited for a slot that has been free since then.
    pub(super) fn backlog(self, free_since: Instant) -> Nanos {
        free_since.since(self.queued)
    }
}

/// A limited number of outstanding requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    pub(super) count: usize,
    most: usize,
    /// When the limit was last left. The slot that became free then may have been taken since.
    free_since: Instant,
}

impl InFlight {
    pub(super) fn new(most: usize, now: Instant) -> Self {
        Self {
            count: 0,
            most,
            free_since: now,
        }
    }

    pub(super) fn is_full(self) -> bool {
        self.count >= self.most
    }

    pub(super) fn add(&mut self) {
        self.count += 1;
    }

    pub(super) fn remove(&mut self, now: Instant) {
        if self.is_full() {
            self.free_since = now;
        }
        self.count -= 1;
    }

    /// Returns since when all of these limits have been left. None may be full.
    pub(super) fn free_since(all: [Self; 3]) -> Instant {
        let [one, other, third] = all.map(|limit| limit.free_since);
        one.max(other).max(third)
    }
}

/// A waiting request. There may be a million, so it is small.
#[derive(Debug, Clone, Copy)]
struct Node {
    k: u64,
    due: Instant,
    /// Time from when it was due until it was queued, rounded up to whole microseconds, so that the backlog is never
    /// too long. That is enough for 71 minutes.
    queued_after_us: u32,
    /// Index of the next node.
    next: u32,
}

impl Node {
    fn new(waiting: Waiting, next: u32) -> Self {
        let Waiting { k, due, queued } = waiting;
        let queued_after_us = queued.since(due).0.div_ceil(1_000);
        Self {
            k,
            due,
            queued_after_us: u32::try_from(queued_after_us).unwrap_or(u32::MAX),
            next,
        }
    }

    fn waiting(self) -> Waiting {
        Waiting {
            k: self.k,
            due: self.due,
            queued: self.due.after(Nanos::from_us(u64::from(self.queued_after_us))),
        }
    }
}

/// The nodes of all queues of a worker, with a fixed capacity.
#[derive(Debug)]
pub(super) struct Backlog {
    nodes: Vec<Node>,
    free: u32,
    capacity: usize,
    count: usize,
}

impl Backlog {
    /// Reserves the capacity, and touches the memory of the expected number of requests: when requests wait, a page
    /// fault would delay the next ones. The remaining memory is used only if more requests wait.
    pub(super) fn new(capacity: usize, expected_count: usize) -> Self {
        let mut nodes = Vec::with_capacity(capacity);
        let none = Waiting {
            k: 0,
            due: Instant::ZERO,
            queued: Instant::ZERO,
        };
        // The list of free nodes, from the last one to the first.
        let mut free = NONE;
        for node in 0..expected_count.min(capacity) {
            nodes.push(Node::new(none, free));
            free = node as u32;
        }
        Self {
            nodes,
            free,
            capacity,
            count: 0,
        }
    }

    /// Returns the number of waiting requests.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == self.capacity
    }

    /// Appends a request to a queue. The backlog must not be full.
    pub(super) fn push(&mut self, queue: &mut BacklogQueue, waiting: Waiting) {
        let node = self.take_node(waiting);
        match queue.last {
            NONE => queue.first = node,
            last => self.nodes[last as usize].next = node,
        }
        queue.last = node;
        self.count += 1;
    }

    fn take_node(&mut self, waiting: Waiting) -> u32 {
        if self.free == NONE {
            assert!(self.nodes.len() < self.capacity, "the backlog is full");
            self.nodes.push(Node::new(waiting, NONE));
            return self.nodes.len() as u32 - 1;
        }
        let node = self.free;
        self.free = self.nodes[node as usize].next;
        self.nodes[node as usize] = Node::new(waiting, NONE);
        node
    }

    /// Returns the first request, or None if the queue is empty.
    pub(super) fn first(&self, queue: BacklogQueue) -> Option<Waiting> {
        self.nodes.get(queue.first as usize).map(|node| node.waiting())
    }

    /// Removes the first request of a queue.
    pub(super) fn pop(&mut self, queue: &mut BacklogQueue) -> Option<Waiting> {
        let node = queue.first;
        let first = *self.nodes.get(node as usize)?;
        queue.first = first.next;
        if first.next == NONE {
            queue.last = NONE;
        }
        self.nodes[node as usize].next = self.free;
        self.free = node;
        self.count -= 1;
        Some(first.waiting())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns request `k`, due at a time of its own, so that a mix-up shows.
    fn waiting(k: u64) -> Waiting {
        let due = Instant::ZERO.after(Nanos(7 * k));
        Waiting {
            k,
            due,
            queued: due.after(Nanos::from_us(k)),
        }
    }

    #[test]
    fn each_queue_is_in_order() {
        let mut backlog = Backlog::new(6, 2);
        let mut queues = [BacklogQueue::default(); 2];
        for k in 0..6 {
            backlog.push(&mut queues[k as usize % 2], waiting(k));
        }
        assert_eq!(
            (backlog.is_full(), backlog.first(queues[1])),
            (true, Some(waiting(1)))
        );
        let mut taken = |queue: usize| backlog.pop(&mut queues[queue]);
        assert_eq!(
            [taken(0), taken(1), taken(0), taken(0), taken(0)],
            [
                Some(waiting(0)),
                Some(waiting(1)),
                Some(waiting(2)),
                Some(waiting(4)),
                None
            ]
        );
        assert_eq!(backlog.count(), 2);
    }

    #[test]
    fn nodes_are_reused_without_new_memory() {
        let mut backlog = Backlog::new(3, 0);
        let mut queue = BacklogQueue::default();
        for k in 0..1_000 {
            backlog.push(&mut queue, waiting(k));
            backlog.push(&mut queue, waiting(k));
            assert_eq!(
                (backlog.pop(&mut queue), backlog.pop(&mut queue)),
                (Some(waiting(k)), Some(waiting(k)))
            );
        }
        assert_eq!(
            (backlog.nodes.len(), backlog.count(), queue.is_empty()),
            (2, 0, true)
        );
    }

    #[test]
    fn the_time_of_queueing_is_rounded_up_to_a_microsecond() {
        let queued_after = |delay| {
            let (mut backlog, mut queue) = (Backlog::new(1, 0), BacklogQueue::default());
            let queued = waiting(9).due.after(delay);
            backlog.push(&mut queue, Waiting { queued, ..waiting(9) });
            backlog
                .pop(&mut queue)
                .map(|popped| popped.queued.since(waiting(9).due))
        };
        for (delay, expected) in [
            (Nanos(0), Nanos(0)),
            (Nanos(1), Nanos(1_000)),
            (Nanos(1_000), Nanos(1_000)),
            (Nanos(1_001), Nanos(2_000)),
            // A delay of more than 4.3 s does not fit into 32 bits of nanoseconds.
            (Nanos::from_s(4_294), Nanos::from_s(4_294)),
            (Nanos::from_s(5_000), Nanos::from_us(u64::from(u32::MAX))),
        ] {
            assert_eq!(queued_after(delay), Some(expected), "{delay:?}");
        }
    }

    #[test]
    fn a_million_waiting_requests_need_24_mib() {
        assert_eq!(size_of::<Node>() << 20, 24 << 20);
    }

    #[test]
    fn the_memory_of_the_expected_requests_is_touched_at_the_start() {
        let used = |expected_count| Backlog::new(5, expected_count).nodes.len();
        assert_eq!([used(0), used(4), used(5), used(6)], [0, 4, 5, 5]);
        let (mut backlog, mut queue) = (Backlog::new(5, 3), BacklogQueue::default());
        for k in 0..5 {
            backlog.push(&mut queue, waiting(k));
            assert_eq!(backlog.nodes.len(), 3.max(k as usize + 1));
        }
        assert!(backlog.is_full());
    }

    #[test]
    fn backlog_ends_when_the_last_of_three_limits_is_left() {
        let at = |us: u64| Instant::ZERO.after(Nanos(us * 1_000));
        let mut all = [InFlight::new(1, at(0)); 3];
        all.iter_mut().for_each(InFlight::add);
        for (limit, us) in [(2, 20), (0, 30), (1, 10)] {
            assert!(all[limit].is_full());
            all[limit].remove(at(us));
        }
        let queued = |us| Waiting {
            queued: at(us),
            ..waiting(1)
        };
        let backlog = |us| queued(us).backlog(InFlight::free_since(all));
        assert_eq!(
            [backlog(5), backlog(29), backlog(30), backlog(40)],
            [Nanos(25_000), Nanos(1_000), Nanos(0), Nanos(0)]
        );
    }

    #[test]
    fn a_slot_is_free_since_the_limit_was_left_and_not_since_the_last_completion() {
        let at = |us: u64| Instant::ZERO.after(Nanos(us));
        let mut limit = InFlight::new(2, at(0));
        limit.add();
        limit.remove(at(1));
        assert_eq!(limit.free_since, at(0));
        limit.add();
        limit.add();
        limit.remove(at(2));
        limit.remove(at(3));
        assert_eq!((limit.free_since, limit.count), (at(2), 0));
    }

    proptest::proptest! {
        #[test]
        fn it_behaves_as_queues_do(
            steps in proptest::collection::vec((0usize..3, proptest::bool::ANY), 0..200),
            expected_count in 0usize..12,
        ) {
            let mut backlog = Backlog::new(8, expected_count);
            let mut queues = [BacklogQueue::default(); 3];
            let mut model: [std::collections::VecDeque<Waiting>; 3] = Default::default();
            for (k, (queue, is_push)) in steps.into_iter().enumerate() {
                if is_push && !backlog.is_full() {
                    backlog.push(&mut queues[queue], waiting(k as u64));
                    model[queue].push_back(waiting(k as u64));
                } else {
                    proptest::prop_assert_eq!(backlog.pop(&mut queues[queue]), model[queue].pop_front());
                }
                proptest::prop_assert_eq!(backlog.first(queues[queue]), model[queue].front().copied());
            }
        }
    }
}
