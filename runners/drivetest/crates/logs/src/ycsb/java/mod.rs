//! The outputs of YCSB, which is written in Java: rows, status lines and command lines.

mod build_run;
mod checks;
pub mod fragment;
mod line_kind;
mod measurement;
mod measurement_type;
pub mod metric;
mod operations;
pub mod output;
mod row;
pub mod status;
