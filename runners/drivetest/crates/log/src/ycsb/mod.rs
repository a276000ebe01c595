//! YCSB's outputs: rows, status lines and command lines to runs, and whether a run is valid.
//!
//! A file passes through layers: lines -> what each is (`sign`) -> a piece for each run that the file holds
//! (`output`) -> pieces of all files of a run joined (`join`) -> the run (`assemble`) -> what is found of it
//! (`checks`), which decides whether it is valid.

mod assemble;
mod checks;
mod command;
mod join;
mod json;
mod kind;
mod measurement;
mod metric;
mod number;
mod operations;
mod output;
mod piece;
mod properties;
pub mod reader;
mod room;
mod row;
pub mod rules;
pub mod run;
mod settings;
mod shell;
mod sign;
pub mod status;
