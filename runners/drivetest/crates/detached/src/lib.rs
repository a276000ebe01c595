//! Background runs: starts a load exactly once, and reports its status after the launcher has exited.
//!
//! Each run has a directory. Three processes use it:
//!
//! * the **launcher** (`drivetest start`) takes the lock of the directory and the lock of the drive, forks, and exits;
//! * the **monitor**, its child in its own session, waits for the program and writes `exit`;
//! * the **program**, the child of the monitor, writes its process id to `pid` and then executes the load.
//!
//! Monitor and program inherit both locks. Therefore the directory's lock is free only if no process of the run lives
//! any more, and the drive's lock only if the program has ended. The program writes `pid` once, under the
//! lock, before the load begins: if the file exists, the run was started. Every decision here uses these two facts, and
//! none uses a process id alone.

mod drive_lock;
mod error;
#[cfg(test)]
mod fork_lock;
mod lock;
mod process;
mod records;
mod remove;
mod run_dir;
mod spawn;
mod spawn_error;
mod start;
mod status;
mod stop;

pub use drive_lock::Refusal;
pub use error::DetachError;
pub use remove::{Removal, remove};
pub use start::{StartOutcome, StartRequest, start};
pub use status::{EndCause, State, Status, status};
pub use stop::stop;
