//! One io_uring: set up as well as the kernel can, filled, entered, emptied.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use io_uring::{Builder, IoUring, cqueue, opcode, squeue, types};
use rustix::io::Errno;

use super::arena::Arena;
use crate::clock::Nanos;
use crate::device::Extent;

/// Requests in line that the kernel has not taken, at most.
pub(super) const ENTRIES: u32 = 64;

/// The kernel's largest completion ring; beyond it completions wait in the kernel and none is lost.
const MOST_COMPLETIONS: usize = 65_536;

/// Of requests that the kernel cannot start without waiting, it starts so many in threads of its own; left to itself
/// it would take four for each processor, and the rest would wait in a queue that no drive has.
const KERNEL_THREADS: u32 = 256;

/// IORING_ENTER_GETEVENTS. Source: include/uapi/linux/io_uring.h.
const GET_EVENTS: u32 = 1;

/// What one request does, where, and with which memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub(super) is_write: bool,
    pub(super) device: usize,
    pub(super) extent: Extent,
    pub(super) memory_offset: usize,
}

/// The ring, and what it was told in advance.
pub(super) struct Ring {
    uring: IoUring,
    has_fixed_memory: bool,
}

impl Ring {
    /// A ring for that many requests at a time; it accepts none before [`enable`](Self::enable).
    ///
    /// # Errors
    /// When the kernel has no io_uring, or none that can wait until a time (before 5.11), or refuses it.
    pub(super) fn new(requests_count: usize, arena: &Arena, files: &[&File]) -> io::Result<Self> {
        let completions = (2 * requests_count).clamp(2 * ENTRIES as usize, MOST_COMPLETIONS) as u32;
        let uring = build(completions.next_power_of_two())?;
        if !uring.params().is_feature_ext_arg() || !uring.params().is_feature_nodrop() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let descriptors: Vec<RawFd> = files.iter().map(|file| file.as_raw_fd()).collect();
        let whole = libc::iovec {
            iov_base: arena.address(0).cast(),
            iov_len: arena.size(),
        };
        let submitter = uring.submitter();
        // SAFETY: the arena outlives the ring: the worker that owns both frees it last, and not while requests are out.
        let has_fixed_memory = unsafe { submitter.register_buffers(&[whole]) }.is_ok();
        submitter.register_files(&descriptors)?;
        // Kernels before 5.15 cannot be told; they do as they do.
        let _ = submitter.register_iowq_max_workers(&mut [KERNEL_THREADS, 0]);
        Ok(Self {
            uring,
            has_fixed_memory,
        })
    }

    /// Makes the calling thread the one that may submit.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn enable(&self) -> io::Result<()> {
        self.uring.submitter().register_enable_rings()
    }

    /// How many more can be pushed before the next [`enter`](Self::enter).
    pub(super) fn room(&mut self) -> usize {
        let queue = self.uring.submission();
        queue.capacity() - queue.len()
    }

    /// Puts a request in line; there must be room.
    ///
    /// # Safety
    /// The transfer's memory lies inside the arena that the ring was made with, and nobody else uses it until the
    /// request has come back (of reads whose bytes nobody looks at, several may share it).
    pub(super) unsafe fn push(&mut self, arena: &Arena, number: u32, transfer: Transfer) {
        let address = arena.address(transfer.memory_offset);
        let entry = self.entry(address, transfer).user_data(u64::from(number));
        // SAFETY: the files stay open as long as the run; the memory is the caller's word.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        assert!(pushed.is_ok(), "pushed without asking for room");
    }

    fn entry(&self, address: *mut u8, transfer: Transfer) -> squeue::Entry {
        let file = types::Fixed(transfer.device as u32);
        let (offset, length) = (transfer.extent.offset, transfer.extent.length as u32);
        match (transfer.is_write, self.has_fixed_memory) {
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

    /// Hands over what was pushed, and looks at nothing that came back; what the kernel does not take now goes with the
    /// next [`enter`](Self::enter), which tells why.
    pub(super) fn submit(&mut self) {
        let pushed = self.uring.submission().len() as u32;
        // SAFETY: every entry in line was pushed under the terms of `push`; no argument goes with the call.
        let _ = unsafe { self.uring.submitter().enter::<()>(pushed, 0, 0, None) };
    }

    /// Hands over what was pushed, and waits for a completion or until the time is over; does not wait at all for None.
    ///
    /// # Errors
    /// When the kernel takes no more requests from this ring at all.
    pub(super) fn enter(&mut self, wait: Option<Nanos>) -> io::Result<()> {
        let pushed = self.uring.submission().len() as u32;
        let submitter = self.uring.submitter();
        let entered = match wait {
            // SAFETY: every entry in line was pushed under the terms of `push`; no argument goes with the call.
            None => unsafe { submitter.enter::<()>(pushed, 0, GET_EVENTS, None) },
            Some(length) => {
                let time = types::Timespec::new()
                    .sec(length.0 / 1_000_000_000)
                    .nsec((length.0 % 1_000_000_000) as u32);
                submitter.submit_with_args(1, &types::SubmitArgs::new().timespec(&time))
            }
        };
        match entered {
            Err(error) if !is_passing(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether something came back, also where the kernel puts it into the ring only when it is entered.
    pub(super) fn has_news(&mut self) -> bool {
        self.uring.submission().taskrun() || !self.uring.completion().is_empty()
    }

    /// What came back since the last look: number and result.
    pub(super) fn completions(&mut self) -> impl Iterator<Item = (u32, Result<usize, Errno>)> + '_ {
        self.uring.completion().map(|entry: cqueue::Entry| {
            let result = match entry.result() {
                bytes @ 0.. => Ok(bytes as usize),
                errno => Err(Errno::from_raw_os_error(-errno)),
            };
            (entry.user_data() as u32, result)
        })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // The kernel takes a ring apart some time after it was closed; without this the devices would stay held so long,
        // and the next run on them be refused. Where requests are out the kernel keeps them anyway.
        let _ = self.uring.submitter().unregister_files();
    }
}

/// Whether trying again is all that is called for: time over, a signal, memory short, too much not yet reaped.
fn is_passing(error: &io::Error) -> bool {
    let passing = [Errno::TIME, Errno::INTR, Errno::AGAIN, Errno::BUSY, Errno::NOMEM];
    let number = error.raw_os_error().unwrap_or_default();
    passing.iter().any(|errno| errno.raw_os_error() == number)
}

/// From the newest way to the oldest: since 6.1 completions run when this thread asks and wake nobody for nothing,
/// since 5.19 they do not interrupt it.
fn build(completions: u32) -> io::Result<IoUring> {
    let plain = |builder: &mut Builder| {
        builder.setup_r_disabled().setup_clamp().setup_cqsize(completions);
    };
    let newest = |builder: &mut Builder| {
        builder
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all();
    };
    let cooperating = |builder: &mut Builder| {
        builder
            .setup_coop_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all();
    };
    let ways: [&dyn Fn(&mut Builder); 3] = [&newest, &cooperating, &|_| {}];
    let mut failed = io::ErrorKind::Unsupported.into();
    for way in ways {
        let mut builder = IoUring::builder();
        plain(&mut builder);
        way(&mut builder);
        match builder.build(ENTRIES) {
            Ok(uring) => return Ok(uring),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
