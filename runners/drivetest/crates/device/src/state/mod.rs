//! The current state of a device: mounts, open files, I/O activity, request queue, health and trims.

pub(crate) mod health;
pub(crate) mod io_counters;
pub(crate) mod mounts;
pub(crate) mod open_files;
pub(crate) mod queue;
