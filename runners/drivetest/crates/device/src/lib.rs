//! What a device is, and whether it may be written to.
//!
//! Everything is read from sysfs and procfs. A **drive** is the physical medium, named by its drive key, which every path to it
//! shares: its partitions and namespaces, a second path of a multipath host, a loop device over it or over the same
//! file. A question about one path is therefore answered for the drive: what is mounted, held, swapped on or open
//! anywhere on it speaks against a load.

mod error;
mod gate;
mod identity;
mod open;
mod state;
mod system;
mod topology;

#[cfg(test)]
mod fake_host;

pub use error::DeviceError;
pub use gate::warnings::{Warning, warnings};
pub use gate::{Refusal, refusals};
pub use identity::drive::{DriveKind, is_same_drive};
pub use identity::hardware::Pcie;
pub use identity::host::Host;
pub use identity::locate::{Drives, ListedDrive, list, locate};
pub use identity::{Identity, MountPoint, identify, identify_all, identify_in_use};
pub use open::signature;
pub use state::health::Health;
pub use state::trim_counters::TrimCounters;
