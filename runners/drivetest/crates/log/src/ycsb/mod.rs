//! YCSB's outputs: rows, status lines and command lines to runs, and whether a run is valid.

mod command;
mod json;
mod measurement;
mod metric;
mod number;
mod properties;
pub mod reader;
mod row;
pub mod run;
mod settings;
mod shell;
mod status;
