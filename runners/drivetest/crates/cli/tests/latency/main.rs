//! `latency` against upstream's own tables of the same real logs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../support/mod.rs"]
mod support;

mod agreement;
mod case;
mod differences;
