//! Starts a load that outlives whoever started it: once and never twice, and tells how it stands.
//!
//! A run directory stands for one run. Three processes meet there:
//!
//! * the **launcher** (`drivetest start`) takes the lock of the directory and the lock of the drive, forks, and leaves;
//! * the **monitor**, its child in a session of its own, waits for the program and writes `exit`;
//! * the **program**, the monitor's child, writes `pid` about itself and only then becomes the load.
//!
//! Monitor and program inherit both locks, so the directory's is free only when nothing of the run lives any more,
//! whoever was killed, and the drive's only when the program has ended. `pid` is written once, before the load begins,
//! under the lock: where it exists, the directory has had its start. These two facts decide every question here; a bare
//! process number decides none.

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
mod stack_buf;
mod start;
mod status;
mod stop;

pub use drive_lock::Refused;
pub use error::DetachError;
pub use remove::{Removal, remove};
pub use start::{Answer, Order, start};
pub use status::{State, Status, status};
pub use stop::stop;
