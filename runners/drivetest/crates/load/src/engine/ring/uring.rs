//! One io_uring: set-up with the newest flags of the kernel, submission and completion.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use io_uring::{Builder, IoUring, cqueue, opcode, squeue, types};
use rustix::io::Errno;

use super::arena::{ALIGNMENT_BYTES, Arena};
use crate::clock::{Instant, Nanos};
use crate::device::Extent;
use crate::engine::LONGEST_SLEEP;
use crate::engine::counters::WorkerCounters;

/// Size of the submission queue.
pub(super) const ENTRIES: u32 = 64;

/// The kernel's largest completion queue. Further completions wait in the kernel; none is lost.
const MOST_COMPLETIONS: usize = 65_536;

/// Maximum number of kernel threads for requests that cannot start without waiting. The default is four for each
/// processor; then the rest would wait in a queue that no drive has.
const KERNEL_THREADS: u32 = 256;

/// Maximum number of timeouts that are not over: two for each stream, of which a load has at most four, and those whose
/// requests were submitted before.
const TIMEOUTS: usize = 16;

/// Length of the timeout that shows whether timeouts are exact.
const TRIAL_LENGTH: Nanos = Nanos::from_ms(5);

/// Added to the number of a timeout in a completion. Slots have smaller numbers.
const TIMEOUT: u64 = 1 << 32;

/// IORING_ENTER_GETEVENTS. Source: include/uapi/linux/io_uring.h.
const GET_EVENTS: u32 = 1;

/// Direction, target and memory of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub(super) is_write: bool,
    pub(super) device: usize,
    pub(super) extent: Extent,
    pub(super) memory_offset: usize,
}

/// The completion of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Completion {
    /// The slot.
    pub(super) number: u32,
    pub(super) result: Result<usize, Errno>,
}

/// How long a system call waits for a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Not at all, but the kernel publishes completions.
    No,
    /// Until a timeout that is set. The call sets no timer of its own, which saves processor time.
    UntilTimeout,
    /// At most this long.
    AtMost(Nanos),
}

/// The ring.
pub(super) struct Ring {
    uring: IoUring,
    /// How the kernel runs completions, as in the start record.
    pub(super) mode: &'static str,
    /// Why its memory is not registered with the kernel.
    pub(super) unregistered_reason: Option<io::Error>,
    /// Whether timeouts are exact. Otherwise none is set.
    pub(super) has_timeouts: bool,
    counters: Arc<WorkerCounters>,
    timeouts: [Instant; TIMEOUTS],
    /// The same times, where the kernel reads them.
    timeout_times: Box<[types::Timespec; TIMEOUTS]>,
    /// A bit for each timeout that is set.
    set_timeouts: u32,
}

impl Ring {
    /// Creates a ring for `requests_count` outstanding requests. It accepts none before [`enable`](Self::enable).
    ///
    /// # Errors
    /// If the kernel has no io_uring, cannot wait with a timeout (before 5.11), or refuses the set-up.
    pub(super) fn new(
        requests_count: usize,
        arena: &Arena,
        files: &[&File],
        counters: Arc<WorkerCounters>,
    ) -> io::Result<Self> {
        let completions =
            (2 * requests_count + TIMEOUTS).clamp(2 * ENTRIES as usize, MOST_COMPLETIONS) as u32;
        let (mode, uring) = build(completions.next_power_of_two())?;
        if !uring.params().is_feature_ext_arg() || !uring.params().is_feature_nodrop() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let descriptors: Vec<RawFd> = files.iter().map(|file| file.as_raw_fd()).collect();
        let whole = libc::iovec {
            iov_base: arena.address(0).cast(),
            iov_len: arena.size(),
        };
        let submitter = uring.submitter();
        // SAFETY: the arena outlives the ring: the worker that owns both frees it last, and only without outstanding
        // requests.
        let registered = unsafe { submitter.register_buffers(&[whole]) };
        submitter.register_files(&descriptors)?;
        // Kernels before 5.15 do not support this limit and use their default.
        let _ = submitter.register_iowq_max_workers(&mut [KERNEL_THREADS, 0]);
        Ok(Self {
            uring,
            mode,
            unregistered_reason: registered.err(),
            has_timeouts: true,
            counters,
            timeouts: [Instant::ZERO; TIMEOUTS],
            timeout_times: Box::new([types::Timespec::new(); TIMEOUTS]),
            set_timeouts: 0,
        })
    }

    /// Makes the calling thread the only submitter.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn enable(&self) -> io::Result<()> {
        self.uring.submitter().register_enable_rings()
    }

    /// Returns how many requests can be pushed before the next [`wait`](Self::wait), whatever timeouts are set.
    pub(super) fn room(&mut self) -> usize {
        let queue = self.uring.submission();
        queue.capacity().saturating_sub(queue.len() + TIMEOUTS)
    }

    /// Returns whether requests or timeouts wait for the next system call.
    pub(super) fn has_queued(&mut self) -> bool {
        !self.uring.submission().is_empty()
    }

    /// Lets the kernel end a wait at a time, from the next system call on, unless that is set already. Returns false if
    /// timeouts are not exact, or too many are set.
    pub(super) fn set_timeout(&mut self, at: Instant) -> bool {
        let is_set = |number: usize| self.set_timeouts & (1 << number) != 0;
        if (0..TIMEOUTS).any(|number| is_set(number) && self.timeouts[number] == at) {
            return true;
        }
        let number = self.set_timeouts.trailing_ones() as usize;
        if number >= TIMEOUTS || !self.has_timeouts {
            return false;
        }
        self.timeout_times[number] = timespec(at.since(Instant::ZERO));
        let time = &raw const self.timeout_times[number];
        let timeout = opcode::Timeout::new(time).flags(types::TimeoutFlags::ABS);
        let entry = timeout.build().user_data(TIMEOUT | number as u64);
        // SAFETY: the kernel reads the time when it takes the entry. It is on the heap, as long as the ring exists, and
        // does not change before the timeout completes.
        let is_queued = unsafe { self.uring.submission().push(&entry) }.is_ok();
        if is_queued {
            self.set_timeouts |= 1 << number;
            self.timeouts[number] = at;
        }
        is_queued
    }

    /// Queues a request. There must be room.
    ///
    /// # Safety
    /// The transfer's memory is inside the arena of this ring. It is not used otherwise until the request has completed;
    /// only reads whose content is not used may share it.
    pub(super) unsafe fn push(&mut self, arena: &Arena, number: u32, transfer: Transfer) {
        let address = arena.address(transfer.memory_offset);
        let entry = self.entry(address, transfer).user_data(u64::from(number));
        // SAFETY: the files stay open for the whole run; the caller is responsible for the memory.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the submission queue is full");
    }

    fn entry(&self, address: *mut u8, transfer: Transfer) -> squeue::Entry {
        let file = types::Fixed(transfer.device as u32);
        let (offset, length) = (transfer.extent.offset, transfer.extent.length as u32);
        match (transfer.is_write, self.unregistered_reason.is_none()) {
            (false, true) => opcode::ReadFixed::new(file, address, length, 0)
                .offset(offset)
                .build(),
            (false, false) => opcode::Read::new(file, address, length).offset(offset).build(),
            (true, true) => opcode::WriteFixed::new(file, address, length, 0)
                .offset(offset)
                .build(),
            (true, false) => opcode::Write::new(file, address, length).offset(offset).build(),
        }
    }

    /// Submits the queued requests and waits for a completion, a timeout that is set, or the end of `wait`. The next
    /// call submits what the kernel does not accept now.
    ///
    /// # Errors
    /// If the kernel accepts no more requests from this ring.
    pub(super) fn wait(&mut self, wait: Wait) -> io::Result<()> {
        self.counters.count_enter();
        let pushed = self.uring.submission().len() as u32;
        let submitter = self.uring.submitter();
        let entered = match wait {
            // SAFETY: every queued entry was pushed under the terms of `push`; the call has no argument.
            Wait::No => unsafe { submitter.enter::<()>(pushed, 0, GET_EVENTS, None) },
            // SAFETY: as above.
            Wait::UntilTimeout => unsafe { submitter.enter::<()>(pushed, 1, GET_EVENTS, None) },
            Wait::AtMost(length) => {
                submitter.submit_with_args(1, &types::SubmitArgs::new().timespec(&timespec(length)))
            }
        };
        match entered {
            Err(error) if !is_temporary(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns whether there are completions, including those that the kernel publishes only in a system call.
    pub(super) fn has_completions(&mut self) -> bool {
        self.uring.submission().taskrun() || !self.uring.completion().is_empty()
    }

    /// Iterates over the new completions of requests.
    pub(super) fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        let set_timeouts = &mut self.set_timeouts;
        self.uring.completion().filter_map(move |entry: cqueue::Entry| {
            let number = entry.user_data() as u32;
            if entry.user_data() >= TIMEOUT {
                // A timeout that failed is not set, either.
                *set_timeouts &= !(1 << number);
                return None;
            }
            let result = match entry.result() {
                bytes @ 0.. => Ok(bytes as usize),
                errno => Err(Errno::from_raw_os_error(-errno)),
            };
            Some(Completion { number, result })
        })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // The kernel destroys a ring some time after it is closed. Until then the devices would remain open, and the
        // next run on them would be refused.
        let _ = self.uring.submitter().unregister_files();
    }
}

/// Returns whether timeouts of rings end at their time. In a time namespace, kernels shift them by its offset.
///
/// # Errors
/// If the kernel provides no ring.
pub(crate) fn has_exact_timeouts(file: &File) -> io::Result<bool> {
    let arena = Arena::new(ALIGNMENT_BYTES).ok_or(io::ErrorKind::OutOfMemory)?;
    let mut ring = Ring::new(1, &arena, &[file], Arc::default())?;
    ring.enable()?;
    let at = Instant::now().after(TRIAL_LENGTH);
    let is_queued = ring.set_timeout(at);
    let mut now = Instant::now();
    while is_queued && ring.set_timeouts != 0 && now < at.after(LONGEST_SLEEP) {
        ring.wait(Wait::AtMost(LONGEST_SLEEP))?;
        now = Instant::now();
        ring.completions().for_each(drop);
    }
    Ok(is_queued && ring.set_timeouts == 0 && now >= at)
}

/// Returns a length, or a time on CLOCK_MONOTONIC, in the form that the kernel reads.
fn timespec(length: Nanos) -> types::Timespec {
    types::Timespec::new()
        .sec(length.0 / 1_000_000_000)
        .nsec((length.0 % 1_000_000_000) as u32)
}

/// Returns whether an error is temporary: timeout, signal, lack of memory, or too many pending completions.
fn is_temporary(error: &io::Error) -> bool {
    let temporary = [Errno::TIME, Errno::INTR, Errno::AGAIN, Errno::BUSY, Errno::NOMEM];
    let number = error.raw_os_error().unwrap_or_default();
    temporary.iter().any(|errno| errno.raw_os_error() == number)
}

/// Sets up a ring, with the newest mode first. Since 6.1 completions run when this thread requests them, without
/// needless wake-ups. Since 5.19 they do not interrupt it.
fn build(completions: u32) -> io::Result<(&'static str, IoUring)> {
    let newest: fn(&mut Builder) = |builder| {
        builder.setup_single_issuer().setup_defer_taskrun();
    };
    let cooperating: fn(&mut Builder) = |builder| {
        builder.setup_coop_taskrun();
    };
    let mut failed = io::ErrorKind::Unsupported.into();
    for (mode, method) in [
        ("defer-taskrun", Some(newest)),
        ("coop-taskrun", Some(cooperating)),
        ("plain", None),
    ] {
        let mut builder = IoUring::builder();
        builder.setup_r_disabled().setup_clamp().setup_cqsize(completions);
        if let Some(method) = method {
            method(&mut builder);
            builder.setup_taskrun_flag().setup_submit_all();
        }
        match builder.build(ENTRIES) {
            Ok(uring) => return Ok((mode, uring)),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a test with a ring. Skips it if there is no io_uring.
    fn with_ring(test: impl FnOnce(&mut Ring)) {
        let (arena, file) = (Arena::new(4_096).unwrap(), tempfile::tempfile().unwrap());
        if let Ok(mut ring) = Ring::new(1, &arena, &[&file], Arc::default()) {
            ring.enable().unwrap();
            test(&mut ring);
        }
    }

    /// Waits until at most `count` timeouts are set, and returns the time. Fails if that takes long.
    fn wait_until_set(ring: &mut Ring, count: u32) -> Instant {
        let last = Instant::now().after(Nanos::from_s(20));
        while ring.set_timeouts.count_ones() > count {
            assert!(Instant::now() < last, "{:b}", ring.set_timeouts);
            ring.wait(Wait::AtMost(LONGEST_SLEEP)).unwrap();
            assert_eq!(ring.completions().next(), None);
        }
        Instant::now()
    }

    #[test]
    fn timeouts_end_waits_in_order_and_not_early() {
        if !has_exact_timeouts(&tempfile::tempfile().unwrap()).unwrap_or_default() {
            return;
        }
        with_ring(|ring| {
            let now = Instant::now();
            let [first, second] = [100, 200].map(|ms| now.after(Nanos::from_ms(ms)));
            assert!(ring.set_timeout(second) && ring.set_timeout(first));
            assert!(wait_until_set(ring, 1) >= first);
            // The first time is in the second place.
            assert_eq!(ring.set_timeouts & 0b10, 0);
            assert!(wait_until_set(ring, 0) >= second);
        });
    }

    #[test]
    fn a_time_is_set_once() {
        with_ring(|ring| {
            let far = Instant::now().after(Nanos::from_s(3_600));
            assert!(ring.set_timeout(far) && ring.set_timeout(far));
            assert_eq!((ring.set_timeouts, ring.has_queued()), (1, true));
            ring.has_timeouts = false;
            assert!(!ring.set_timeout(far.after(Nanos(1))));
        });
    }

    #[test]
    fn timeouts_are_limited_and_reused() {
        with_ring(|ring| {
            for _ in 0..1_000 {
                let past = Instant::now();
                let times = (0..=TIMEOUTS as u64).map(|ns| past.before(Nanos(ns)));
                let set_count = times.filter(|time| ring.set_timeout(*time)).count();
                assert_eq!(
                    (set_count, ring.room()),
                    (TIMEOUTS, ENTRIES as usize - 2 * TIMEOUTS)
                );
                wait_until_set(ring, 0);
            }
        });
    }
}
