//! Counters and latency histograms of a run: recorded by the workers, collected and evaluated by one thread.

pub mod act_buckets;
pub mod collector;
pub mod histogram;
pub mod io_errors;
pub mod operation_stats;
pub mod rate_check;
pub mod recorder;
