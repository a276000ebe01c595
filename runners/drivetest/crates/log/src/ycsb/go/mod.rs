//! go-ycsb's outputs: properties, interval blocks, the final block, single operations; to runs beside those of YCSB.
//!
//! Source: github.com/pingcap/go-ycsb, cmd/go-ycsb, pkg/client, pkg/measurement, up to v1.0.1 and after it.

pub mod assemble;
mod block;
mod checks;
pub mod command;
mod duration;
pub mod interval;
mod operations;
pub mod output;
pub mod piece;
mod row;
mod sign;
