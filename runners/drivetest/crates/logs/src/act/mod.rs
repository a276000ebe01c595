//! ACT's logs: header, blocks of cumulative counts, slices, and how a run ended.

pub mod blocks;
pub mod checks;
pub mod detect;
pub mod grammar;
pub mod header;
pub mod reader;
pub mod run;
pub mod run_reader;
mod run_summary;
pub mod semantics;
pub mod side_file;
pub mod slices;
pub mod stop;
