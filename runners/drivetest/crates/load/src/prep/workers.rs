//! Workers that write, and the one that watches them.

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

/// How often the watcher looks: soon enough for a signal, seldom enough to cost nothing.
const LOOK: Duration = Duration::from_millis(50);

/// A write that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WriteError {
    pub name: String,
    pub offset: u64,
    pub length: usize,
    /// The system's error number; EIO where a device ends before its size.
    pub errno: i32,
}

impl WriteError {
    /// Upstream's words for it, and ours.
    pub fn lines(&self) -> [String; 2] {
        let Self {
            name,
            offset,
            length,
            errno,
        } = self;
        [
            format!("ERROR: writing {name}: {errno} '{}'", strerror(*errno)),
            format!("drivetest: stopped by the first error, at offset {offset}, {length} bytes"),
        ]
    }
}

/// Says when to end, and keeps the first fault.
#[derive(Debug, Default)]
pub(super) struct StopFlag {
    is_raised: AtomicBool,
    fault: OnceLock<WriteError>,
}

impl StopFlag {
    /// Whether workers shall end.
    pub fn is_raised(&self) -> bool {
        self.is_raised.load(SeqCst)
    }

    /// Ends all work.
    pub fn raise(&self) {
        self.is_raised.store(true, SeqCst);
    }

    /// The first fault.
    pub fn fault(&self) -> Option<&WriteError> {
        self.fault.get()
    }

    /// Writes all of the bytes; after a failure all work ends, and false is returned.
    pub fn write(&self, name: &str, file: &File, bytes: &[u8], offset: u64) -> bool {
        let Err(error) = file.write_all_at(bytes, offset) else {
            return true;
        };
        // A second fault changes nothing.
        let _ = self.fault.set(WriteError {
            name: name.to_owned(),
            offset,
            length: bytes.len(),
            errno: error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()),
        });
        self.raise();
        false
    }
}

/// Runs each worker on a thread of its own until all have ended, and `look` meanwhile.
///
/// # Errors
/// When the system gives no thread, or `look` fails; the workers have ended then as well.
pub(super) fn work<E: From<io::Error>>(
    workers: Vec<impl FnOnce() + Send>,
    stop: &StopFlag,
    mut look: impl FnMut() -> Result<(), E>,
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
        while all_ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = look() {
                stop.raise();
                return Err(error);
            }
        }
        Ok(())
    })
}
