//! Identity of devices, and the gate that decides whether they may be written to.
//!
//! All data comes from sysfs and procfs. A **drive** is the physical medium. All its paths share its drive key:
//! partitions and namespaces, a second path of a multipath host, and loop devices over it or over the same file. So a
//! check of one path covers the whole drive: a mount, stack, swap or open file anywhere on it refuses a load.

mod error;
mod gate;
mod identity;
/// Probes that change nothing: the type of a path, who uses it, and the data that is recognised on it.
mod probe {
    pub(crate) mod path;
    pub mod signature;
}
/// The current state of a device: mounts, open files, I/O activity, request queue, health and trims.
mod state {
    pub(crate) mod health;
    pub(crate) mod io_counters;
    pub(crate) mod mounts;
    pub(crate) mod open_files;
    pub(crate) mod queue;
}
pub mod size;
mod system;
/// Block devices and how they are stacked: partitions, volumes, loop devices.
mod topology {
    pub(crate) mod block;
    pub(crate) mod inventory;
    pub(crate) mod resolve;
}

#[cfg(test)]
mod fake_host;

pub use error::DeviceError;
pub use gate::guard::{DeviceGuard, Guard};
pub use gate::opening::{Buffer, HandedOffDevice, open_for_handoff};
pub use gate::warnings::{Warning, warnings};
pub use gate::{Refusal, opening};
pub use identity::drive::{DriveKind, is_same_drive};
pub use identity::hardware::{Hardware, Pcie};
pub use identity::host::Host;
pub use identity::locate::{Drives, ListedDrive, list, list_with_use, locate};
pub use identity::usage::DriveUse;
pub use identity::{Identity, MountPoint, identify, identify_all, identify_in_use};
pub use probe::signature;
pub use state::health::Health;
pub use state::io_counters::TrimCounters;
pub use state::queue::Queue;
pub use system::hex;
