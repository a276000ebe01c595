//! The service on a lab host that carries out the requests of a register with root rights.
//!
//! `drivetest host` is the only command that the sudo rule allows. It accepts no argument and no environment. Requests come
//! on standard input as JSON lines, and each gets one JSON line as its response. The service writes into one directory,
//! loads only drives that the operator has listed, builds every command line itself, and accepts no plain file as a drive.
//! Someone with the register's key can therefore load listed drives, stop these loads and read their output. They cannot
//! run a command, choose a path to write to, or become root.

#![forbid(unsafe_code)]

mod command_line;
mod device;
mod error;
mod health;
mod removal;
mod request;
mod run_store;
mod serve;
mod settings;
mod start;
mod systemd_scope;
mod validated_name;

pub use error::HostError;
pub use serve::serve;
pub use settings::{SETTINGS_FILE, Settings};
