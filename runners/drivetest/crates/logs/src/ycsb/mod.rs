//! Reader of the outputs of YCSB and go-ycsb: lines to runs, and the validity of a run.
//!
//! A file passes through these layers: lines -> their kinds (`line_kind`) -> a fragment for each run in the file
//! (`output`) -> joined fragments of all files of a run (`join`) -> the run (`build_run`) -> its findings (`checks`),
//! which determine whether it is valid. YCSB (`java`) and go-ycsb (`go`) are dialects: each has its own lines, and its own
//! part of a fragment.

mod checks;
mod command;
mod common;
mod extra_operations;
mod fragment;
mod go;
pub mod hdr;
mod java;
mod join;
pub mod reader;
pub mod rules;
pub mod run;
mod secrets;
mod settings;
pub mod sidecar;

pub use java::status;
