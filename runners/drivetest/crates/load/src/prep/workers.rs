//! Threads that write, and the loop that supervises them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

use crate::device::strerror;

/// Period of the supervision: short enough for signals, long enough to cost nothing.
const CHECK_PERIOD: Duration = Duration::from_millis(50);

/// A write that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WriteError {
    pub name: String,
    pub offset: u64,
    pub length: usize,
    /// The error number; EIO if the device ended before its stated size.
    pub errno: i32,
}

impl WriteError {
    /// Returns upstream's description.
    pub fn sentence(&self) -> String {
        format!("writing {}: {} '{}'", self.name, self.errno, strerror(self.errno))
    }
}

/// The stop flag of all workers, with the first write error.
#[derive(Debug, Default)]
pub(super) struct StopFlag {
    is_raised: AtomicBool,
    write_error: OnceLock<WriteError>,
}

impl StopFlag {
    /// Returns whether workers must end.
    pub fn is_raised(&self) -> bool {
        self.is_raised.load(SeqCst)
    }

    /// Stops all workers.
    pub fn raise(&self) {
        self.is_raised.store(true, SeqCst);
    }

    /// Returns the first write error.
    pub fn write_error(&self) -> Option<&WriteError> {
        self.write_error.get()
    }

    /// Writes all bytes. A failure stops all workers and returns false.
    pub fn write(&self, name: &str, file: &File, bytes: &[u8], offset: u64) -> bool {
        let Err(error) = file.write_all_at(bytes, offset) else {
            return true;
        };
        // A second error changes nothing.
        let _ = self.write_error.set(WriteError {
            name: name.to_owned(),
            offset,
            length: bytes.len(),
            errno: error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()),
        });
        self.raise();
        false
    }
}

/// Runs each worker on a thread of its own and calls `check` until all have ended.
///
/// # Errors
/// If the system provides no thread, or `check` fails. All workers have ended then.
pub(super) fn work<E: From<io::Error>>(
    workers: Vec<impl FnOnce() + Send>,
    stop: &StopFlag,
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<(), E> {
    let (ended, all_ended) = channel::<()>();
    thread::scope(|scope| {
        for worker in workers {
            let ended = ended.clone();
            let run = move || {
                worker();
                drop(ended);
            };
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, run) {
                stop.raise();
                return Err(error.into());
            }
        }
        drop(ended);
        while all_ended.recv_timeout(CHECK_PERIOD) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = check() {
                stop.raise();
                return Err(error);
            }
        }
        Ok(())
    })
}
