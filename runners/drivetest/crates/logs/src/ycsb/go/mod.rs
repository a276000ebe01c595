//! Reader of go-ycsb's outputs: properties, interval blocks, the final block and single operations.
//!
//! Source: github.com/pingcap/go-ycsb, cmd/go-ycsb, pkg/client, pkg/measurement, up to v1.0.1 and after it.

mod build_run;
mod checks;
pub mod fragment;
mod line_kind;
pub mod operations;
pub mod output;
mod row;
