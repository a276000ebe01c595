//! Runs of YCSB: real outputs (tests/data/ycsb) and cases made by hand.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod clean;
mod companions;
mod go;
mod hdr;
mod made;
mod raw;
mod real;
mod rules;
mod sent;
mod sound;
mod support;
