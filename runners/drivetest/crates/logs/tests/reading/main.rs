//! Whole logs through the reader: real ones, damaged, sent in every way, made by hand and drawn at random.
//!
//! One test program for all modules, because linking each takes time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod checks;
mod clean;
mod clean_logs;
mod damage;
mod edited;
mod families;
mod fuzz;
mod handwritten;
mod noise_limit;
mod per_device;
mod properties;
mod transformed;
/// Runs of YCSB: real outputs (tests/data/ycsb) and cases made by hand.
mod ycsb {
    mod attachments;
    mod clean;
    mod go;
    mod handwritten;
    mod hdr;
    mod raw;
    mod real;
    mod rules;
    mod sound;
    mod support;
    mod transformed;
}
