//! Tests of the real program at a terminal: texts, colours and live progress.
//!
//! One test program for all, because each program costs another link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../support/drive.rs"]
mod drive;
mod identify;
mod progress;
mod refusals;
mod run;
mod summary;
#[path = "../support/terminal.rs"]
mod terminal;
