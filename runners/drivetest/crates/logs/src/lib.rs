//! Reader and judge of logs: bytes to histograms, slices, findings and a verdict. No I/O, no clock.
//!
//! A log passes through these layers, and is never completely in memory:
//! bytes -> lines ([`text`]) -> header, whose keys give the family -> blocks of cumulative counts -> slices, the
//! differences of two dumps ([`act`]) -> [`finding`]s and a verdict ([`judge`]).
//!
//! ```
//! use drivetest_logs::reader::{LogReader, Options};
//!
//! let mut reader = LogReader::new(Options::default());
//! reader.push(b"no log of ACT\n");
//! let reading = reader.finish();
//! assert_eq!(reading.error.unwrap().id, "not-an-act-log");
//! ```

#![forbid(unsafe_code)]

pub mod act;
pub mod finding;
pub mod judge;
pub mod read_error;
pub mod reader;
pub mod rule;
pub mod series;
pub mod text;
pub mod ycsb;
