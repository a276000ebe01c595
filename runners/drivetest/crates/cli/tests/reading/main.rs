//! What reads logs, through the real program: `read`, `check` and `latency`.
//!
//! One program for all: each more would be linked anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod archives;
mod documents;
mod export;
mod latency;
mod rules_fire;
mod series;
mod side_file;
#[path = "../support/mod.rs"]
mod support;
mod sweep_archive;
mod told;
mod verdicts;
mod ycsb;
