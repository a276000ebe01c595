//! YCSB's outputs: rows, status lines and command lines to runs, and whether a run is valid.
//!
//! A file passes through layers: lines -> what each is (`sign`) -> a piece for each run that the file holds
//! (`output`) -> pieces of all files of a run joined (`join`) -> the run (`assemble`) -> what is found of it
//! (`checks`), which decides whether it is valid. Runs of go-ycsb have readers of their own (`go`).

mod common;
mod dispatch;
mod extra_operations;
mod go;
pub mod hdr;
mod java;
mod join;
pub mod reader;
pub mod rules;
pub mod run;
mod secrets;
pub mod sidecar;

pub use java::status;
