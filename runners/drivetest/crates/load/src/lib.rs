//! Loads a device as ACT does, on even arrivals, and writes the log.

pub mod clock;
pub mod config;
pub mod schedule;
pub mod timestamp;
