//! The backlog: due requests that wait for a free slot of their device, in one FIFO queue for each device.

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

/// The nodes of all queues of a worker, with a fixed capacity.
#[derive(Debug)]
pub(super) struct Backlog {
    /// Request number and index of the next node.
    nodes: Vec<(u64, u32)>,
    free: u32,
    capacity: usize,
    count: usize,
}

impl Backlog {
    /// Reserves the capacity without touching the memory, so that memory is used only when requests wait.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(capacity),
            free: NONE,
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
    pub(super) fn push(&mut self, queue: &mut BacklogQueue, k: u64) {
        let node = self.take_node(k);
        match queue.last {
            NONE => queue.first = node,
            last => self.nodes[last as usize].1 = node,
        }
        queue.last = node;
        self.count += 1;
    }

    fn take_node(&mut self, k: u64) -> u32 {
        if self.free == NONE {
            assert!(self.nodes.len() < self.capacity, "the backlog is full");
            self.nodes.push((k, NONE));
            return self.nodes.len() as u32 - 1;
        }
        let node = self.free;
        self.free = self.nodes[node as usize].1;
        self.nodes[node as usize] = (k, NONE);
        node
    }

    /// Returns the number of the first request, or None if the queue is empty.
    pub(super) fn first(&self, queue: BacklogQueue) -> Option<u64> {
        self.nodes.get(queue.first as usize).map(|(k, _)| *k)
    }

    /// Removes the first request of a queue.
    pub(super) fn pop(&mut self, queue: &mut BacklogQueue) -> Option<u64> {
        let node = queue.first;
        let (k, next) = *self.nodes.get(node as usize)?;
        queue.first = next;
        if next == NONE {
            queue.last = NONE;
        }
        self.nodes[node as usize].1 = self.free;
        self.free = node;
        self.count -= 1;
        Some(k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_queue_is_in_order() {
        let mut backlog = Backlog::new(6);
        let mut queues = [BacklogQueue::default(); 2];
        for k in 0..6 {
            backlog.push(&mut queues[k as usize % 2], k);
        }
        assert_eq!((backlog.is_full(), backlog.first(queues[1])), (true, Some(1)));
        let mut taken = |queue: usize| backlog.pop(&mut queues[queue]);
        assert_eq!(
            [taken(0), taken(1), taken(0), taken(0), taken(0)],
            [Some(0), Some(1), Some(2), Some(4), None]
        );
        assert_eq!(backlog.count(), 2);
    }

    #[test]
    fn nodes_are_reused_without_new_memory() {
        let mut backlog = Backlog::new(3);
        let mut queue = BacklogQueue::default();
        for k in 0..1_000 {
            backlog.push(&mut queue, k);
            backlog.push(&mut queue, k);
            assert_eq!(
                (backlog.pop(&mut queue), backlog.pop(&mut queue)),
                (Some(k), Some(k))
            );
        }
        assert_eq!(
            (backlog.nodes.len(), backlog.count(), queue.is_empty()),
            (2, 0, true)
        );
    }

    proptest::proptest! {
        #[test]
        fn it_behaves_as_queues_do(steps in proptest::collection::vec((0usize..3, proptest::bool::ANY), 0..200)) {
            let mut backlog = Backlog::new(8);
            let mut queues = [BacklogQueue::default(); 3];
            let mut model: [std::collections::VecDeque<u64>; 3] = Default::default();
            for (k, (queue, is_push)) in steps.into_iter().enumerate() {
                if is_push && !backlog.is_full() {
                    backlog.push(&mut queues[queue], k as u64);
                    model[queue].push_back(k as u64);
                } else {
                    proptest::prop_assert_eq!(backlog.pop(&mut queues[queue]), model[queue].pop_front());
                }
                proptest::prop_assert_eq!(backlog.first(queues[queue]), model[queue].front().copied());
            }
        }
    }
}
