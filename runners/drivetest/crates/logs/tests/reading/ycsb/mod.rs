//! Runs of YCSB: real outputs (tests/data/ycsb) and cases made by hand.

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
