//! Whole logs through the reader: real ones, damaged, sent in every way, made by hand and drawn at random.
//!
//! One program for all: each more would be linked anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apart;
mod checks;
mod clean;
mod clean_logs;
mod damage;
mod edited;
mod families;
mod floods;
mod fuzz;
mod hand_made;
mod properties;
mod transformed;
mod ycsb;
