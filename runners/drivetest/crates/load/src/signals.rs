//! TERM, INT and HUP as a pollable descriptor.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

const WATCHED: [Signal; 3] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

/// The signals that request an end.
#[derive(Debug)]
pub struct Signals {
    descriptor: SignalFd,
    first: Cell<Option<&'static str>>,
}

impl Signals {
    /// Blocks the signals in this thread and in all threads that are started later. Call it before starting any.
    ///
    /// # Errors
    /// If the system provides no signal descriptor.
    pub fn watch() -> io::Result<Self> {
        let mut set = SigSet::empty();
        let ignored = ignored_mask(&std::fs::read_to_string("/proc/self/status")?);
        for signal in WATCHED {
            // A blocked signal is delivered here even if it is ignored, as HUP is under nohup. So leave ignored
            // signals out.
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

    /// Returns the name of the first signal that arrived, without waiting.
    pub fn first(&self) -> Option<&'static str> {
        if self.first.get().is_none() {
            let read = self.descriptor.read_signal().ok().flatten();
            let signal = read.and_then(|found| Signal::try_from(found.ssi_signo as i32).ok());
            self.first
                .set(signal.map(|signal| signal.as_str().trim_start_matches("SIG")));
        }
        self.first.get()
    }

    /// Returns a descriptor that is readable after a signal.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Returns the ignored signals of a process. Source: proc_pid_status(5), SigIgn: bit n-1 is signal n.
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
