//! The commands that read logs, through the real program: `read`, `check` and `latency`.
//!
//! One test program for all, because each program costs another link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod archives;
mod documents;
mod export;
mod json;
/// `latency` compared with the tables of the original scripts for the same real logs.
mod latency {
    mod agreement;
    mod case;
    mod differences;
}
mod messages;
mod rules_fire;
mod series;
mod side_file;
#[path = "../support/mod.rs"]
mod support;
mod sweep_archive;
mod verdicts;
mod ycsb;
