//! The outputs of YCSB, which is written in Java: rows, status lines and command lines.

pub mod build_run;
pub mod checks;
pub mod command;
pub mod fragment;
pub mod json;
pub mod line_kind;
pub mod measurement;
pub mod measurement_type;
pub mod metric;
pub mod operations;
pub mod output;
pub mod row;
pub mod settings;
pub mod status;
