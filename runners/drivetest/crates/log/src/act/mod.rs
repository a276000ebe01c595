//! ACT's logs: header, blocks of cumulative counts, slices, and how a run ended.

pub mod block;
pub mod blocks;
pub mod buckets;
pub mod checks;
pub mod clean;
pub mod dumps;
pub mod family;
pub mod family_a;
pub mod header;
pub mod histogram;
pub mod intervals;
pub mod line;
pub mod listeners;
pub mod meaning;
pub mod missing;
pub mod pacing;
pub mod reader;
pub mod run;
pub mod run_reader;
mod run_told;
pub mod settings;
pub mod side_file;
pub mod slices;
pub mod stop;
pub mod watch;
pub mod words;
