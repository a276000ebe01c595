//! TERM, INT and HUP as something to look at, not something that strikes.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

const WATCHED: [(Signal, &str); 3] = [
    (Signal::SIGTERM, "TERM"),
    (Signal::SIGINT, "INT"),
    (Signal::SIGHUP, "HUP"),
];

/// The signals that ask for an end.
#[derive(Debug)]
pub struct Signals {
    descriptor: SignalFd,
    first: Cell<Option<&'static str>>,
}

impl Signals {
    /// Holds the signals back from this thread and every thread started afterwards: call it before any is.
    ///
    /// # Errors
    /// When the system gives no signal descriptor.
    pub fn watch() -> io::Result<Self> {
        let mut set = SigSet::empty();
        let ignored = ignored_mask(&std::fs::read_to_string("/proc/self/status")?);
        for (signal, _) in WATCHED {
            // A blocked signal is delivered here even when it is ignored, as HUP is under nohup: leave those out.
            if ignored >> (signal as u32 - 1) & 1 == 0 {
                set.add(signal);
            }
        }
        set.thread_block()?;
        let descriptor = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self {
            descriptor,
            first: Cell::new(None),
        })
    }

    /// The first signal that came, without waiting; None while none did.
    pub fn first(&self) -> Option<&'static str> {
        if self.first.get().is_none() {
            let read = self.descriptor.read_signal().ok().flatten();
            let came = read.and_then(|found| {
                WATCHED
                    .iter()
                    .find(|(signal, _)| *signal as u32 == found.ssi_signo)
            });
            self.first.set(came.map(|(_, name)| *name));
        }
        self.first.get()
    }

    /// Readable when a signal came.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The ignored signals of a process. Source: proc_pid_status(5), SigIgn: bit n-1 is signal n.
fn ignored_mask(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_process_status() {
        // HUP is 1, PIPE is 13.
        assert_eq!(
            ignored_mask("SigBlk:\t0\nSigIgn:\t0000000000001001\n"),
            1 | 1 << 12
        );
        assert_eq!(ignored_mask(""), 0);
    }
}
