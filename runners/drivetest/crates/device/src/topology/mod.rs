//! Block devices and how they are stacked: partitions, volumes, loop devices.

pub(crate) mod block;
pub(crate) mod inventory;
pub(crate) mod resolve;
