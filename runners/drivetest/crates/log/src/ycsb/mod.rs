//! YCSB's outputs: rows, status lines and command lines to runs, and whether a run is valid.
//!
//! A file passes through layers: lines -> what each is (`sign`) -> a piece for each run that the file holds
//! (`output`) -> pieces of all files of a run joined (`join`) -> the run (`assemble`) -> what is found of it
//! (`checks`), which decides whether it is valid. Runs of go-ycsb have readers of their own (`go`).

mod assemble;
pub mod beside;
mod checks;
mod command;
mod go;
pub mod hdr;
mod hgrm;
mod join;
mod json;
mod kind;
mod latencies;
mod measurement;
mod metric;
mod more;
mod number;
mod operations;
mod output;
mod piece;
mod printed;
mod properties;
mod raw;
pub mod reader;
mod room;
mod row;
pub mod rules;
pub mod run;
mod secrets;
mod settings;
mod shell;
mod sign;
pub mod status;
pub mod stretch;
