//! What a device is, and whether it may be written to.
//!
//! Everything is read from sysfs and procfs. A **drive** is the physical thing, named by its drive key, which every path to it
//! shares: its partitions and namespaces, a second path of a multipath host, a loop device over it or over the same
//! file. A question about one path is therefore answered for the drive: what is mounted, held, swapped on or open
//! anywhere on it speaks against a load.

mod activity;
mod block;
mod discards;
mod drive;
mod error;
mod finding;
mod hardware;
mod health;
mod host;
mod identity;
mod inventory;
mod listing;
mod mounts;
mod node;
mod openers;
mod queue;
mod refusal;
pub mod signature;
mod swaps;
mod system;
mod target;
mod warning;

#[cfg(test)]
mod invented;

pub use discards::Discards;
pub use drive::{Kind, is_same_drive};
pub use error::DeviceError;
pub use finding::find;
pub use hardware::Pcie;
pub use health::Health;
pub use host::Host;
pub use identity::{Identity, MountPoint, identify, identify_all, identify_in_use};
pub use listing::{Drives, Listed, list};
pub use refusal::{Refusal, refusals};
pub use warning::{Warning, warnings};
