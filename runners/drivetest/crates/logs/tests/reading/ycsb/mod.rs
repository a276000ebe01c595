//! Runs of YCSB: real outputs (tests/data/ycsb) and cases made by hand.

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
