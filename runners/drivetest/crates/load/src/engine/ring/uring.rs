//! One io_uring: set-up with the newest flags of the kernel, submission and completion.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use io_uring::{Builder, IoUring, cqueue, opcode, squeue, types};
use rustix::io::Errno;

use super::arena::Arena;
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

/// Maximum number of alarms that have not fired: two for each stream, of which a load has at most four, and those whose
/// requests were submitted before they fired.
const ALARMS: usize = 16;

/// Time until an alarm that is set to see whether it fires.
const TRIAL_LENGTH: Nanos = Nanos::from_us(100);

/// Added to the number of an alarm in a completion. Slots have smaller numbers.
const ALARM: u64 = 1 << 32;

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

/// A completion of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Completion {
    /// Slot and result of a request.
    Request(u32, Result<usize, Errno>),
    /// An alarm that was set to this time, and no longer is.
    Alarm(Instant),
}

/// The ring.
pub(super) struct Ring {
    uring: IoUring,
    /// How the kernel runs completions, as in the start record.
    pub(super) mode: &'static str,
    /// Why its memory is not registered with the kernel.
    pub(super) unregistered_reason: Option<io::Error>,
    counters: Arc<WorkerCounters>,
    /// Times of the alarms, which the kernel reads.
    alarm_times: Box<[types::Timespec; ALARMS]>,
    alarms: [Instant; ALARMS],
    /// A bit for each alarm that is not set.
    free_alarms: u32,
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
        let completions = (2 * requests_count + ALARMS).clamp(2 * ENTRIES as usize, MOST_COMPLETIONS) as u32;
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
            counters,
            alarm_times: Box::new([types::Timespec::new(); ALARMS]),
            alarms: [Instant::ZERO; ALARMS],
            free_alarms: (1 << ALARMS) - 1,
        })
    }

    /// Makes the calling thread the only submitter.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn enable(&self) -> io::Result<()> {
        self.uring.submitter().register_enable_rings()
    }

    /// Returns how many requests can be pushed before the next [`wait`](Self::wait), whatever alarms are set.
    pub(super) fn room(&mut self) -> usize {
        let queue = self.uring.submission();
        queue.capacity().saturating_sub(queue.len() + ALARMS)
    }

    /// Lets the kernel end a wait at a time, from the next system call on. Returns false if too many alarms are set.
    pub(super) fn set_alarm(&mut self, at: Instant) -> bool {
        let alarm = self.free_alarms.trailing_zeros() as usize;
        if alarm >= ALARMS {
            return false;
        }
        self.alarm_times[alarm] = timespec(at.since(Instant::ZERO));
        let time = &raw const self.alarm_times[alarm];
        let timeout = opcode::Timeout::new(time).flags(types::TimeoutFlags::ABS);
        let entry = timeout.build().user_data(ALARM | alarm as u64);
        // SAFETY: the kernel reads the time when it takes the entry. It is on the heap, as long as the ring exists, and
        // does not change before the alarm completes.
        let is_set = unsafe { self.uring.submission().push(&entry) }.is_ok();
        if is_set {
            self.free_alarms &= !(1 << alarm);
            self.alarms[alarm] = at;
        }
        is_set
    }

    /// Returns whether alarms fire at their time. In a time namespace, kernels shift them by its offset.
    pub(super) fn has_exact_alarms(&mut self) -> bool {
        let at = Instant::now().after(TRIAL_LENGTH);
        let is_over = self.set_alarm(at) && self.wait(Some(LONGEST_SLEEP)).is_ok() && at <= Instant::now();
        is_over
            && self
                .completions()
                .any(|completion| completion == Completion::Alarm(at))
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

    /// Submits the queued requests and waits for a completion, an alarm or the timeout. With None it does not wait, but
    /// the kernel publishes completions. The next call submits what the kernel does not accept now.
    ///
    /// # Errors
    /// If the kernel accepts no more requests from this ring.
    pub(super) fn wait(&mut self, timeout: Option<Nanos>) -> io::Result<()> {
        self.counters.count_enter();
        let pushed = self.uring.submission().len() as u32;
        let submitter = self.uring.submitter();
        let entered = match timeout {
            // SAFETY: every queued entry was pushed under the terms of `push`; the call has no argument.
            None => unsafe { submitter.enter::<()>(pushed, 0, GET_EVENTS, None) },
            Some(length) => {
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

    /// Iterates over the new completions.
    pub(super) fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        let (alarms, free_alarms) = (&self.alarms, &mut self.free_alarms);
        self.uring.completion().map(move |entry: cqueue::Entry| {
            let number = entry.user_data() as u32;
            if entry.user_data() >= ALARM {
                *free_alarms |= 1 << number;
                return Completion::Alarm(alarms[number as usize]);
            }
            let result = match entry.result() {
                bytes @ 0.. => Ok(bytes as usize),
                errno => Err(Errno::from_raw_os_error(-errno)),
            };
            Completion::Request(number, result)
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

    /// Returns the alarms that fired in one wait of up to 50 ms, and when it ended.
    fn fired(ring: &mut Ring) -> (Vec<Instant>, Instant) {
        ring.wait(Some(Nanos::from_ms(50))).unwrap();
        let now = Instant::now();
        let alarm = |completion| match completion {
            Completion::Alarm(at) => at,
            Completion::Request(..) => panic!("{completion:?}"),
        };
        (ring.completions().map(alarm).collect(), now)
    }

    #[test]
    fn alarms_end_waits_in_order_and_not_early() {
        with_ring(|ring| {
            let now = Instant::now();
            let [first, second] = [10, 20].map(|ms| now.after(Nanos::from_ms(ms)));
            assert!(ring.has_exact_alarms() && ring.set_alarm(second) && ring.set_alarm(first));
            let mut all = Vec::new();
            while all.len() < 2 {
                let (alarms, now) = fired(ring);
                assert!(alarms.iter().all(|alarm| *alarm <= now));
                all.extend(alarms);
            }
            assert_eq!(all, [first, second]);
        });
    }

    #[test]
    fn alarms_are_limited_and_reused() {
        with_ring(|ring| {
            for _ in 0..1_000 {
                let past = Instant::now();
                let set_count = (0..=ALARMS).filter(|_| ring.set_alarm(past)).count();
                assert_eq!((set_count, ring.room()), (ALARMS, ENTRIES as usize - 2 * ALARMS));
                let mut fired_count = 0;
                while fired_count < ALARMS {
                    fired_count += fired(ring).0.len();
                }
            }
        });
    }
}
