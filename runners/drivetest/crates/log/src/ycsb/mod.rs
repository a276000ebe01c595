//! YCSB's outputs: rows, status lines and command lines to runs, and whether a run is valid.

pub mod reader;
pub mod run;
