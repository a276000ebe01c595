//! Reads and judges logs: bytes to histograms, slices, findings and a verdict. No I/O, no clock.
//!
//! A log passes through layers, each in a module of its own, and is never held whole:
//! bytes -> [`lines`] -> header ([`header`], whose keys give the [`family`]) -> [`block`]s of cumulative
//! counts ([`histogram`]) -> [`slices`], the differences of two dumps -> [`finding`]s and [`judge`].
//!
//! ```
//! use drivetest_log::reader::{LogReader, Options};
//!
//! let mut reader = LogReader::new(Options::default());
//! reader.push(b"no log of ACT\n");
//! let reading = reader.finish();
//! assert_eq!(reading.error.unwrap().id, "not-an-act-log");
//! ```

pub mod block;
pub mod blocks;
pub mod buckets;
pub mod decimal;
pub mod dumps;
pub mod error;
pub mod family;
pub mod finding;
pub mod header;
pub mod headline;
pub mod histogram;
pub mod judge;
pub mod line;
pub mod lines;
pub mod profile;
pub mod reader;
pub mod reasons;
pub mod run;
pub mod run_reader;
pub mod settings;
pub mod share;
pub mod slices;
pub mod stop;
pub mod verdict;
pub mod words;
