//! Modules that the readers of YCSB and go-ycsb share.

pub mod latencies;
pub mod number;
pub mod properties;
pub mod raw;
pub mod shell;
pub mod spectrum;
