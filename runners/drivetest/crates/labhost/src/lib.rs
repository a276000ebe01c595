//! What a register may ask of a lab host's root, and nothing else.
//!
//! `drivetest host` is the one command of the one sudo rule. It takes no argument and no environment: requests come
//! through standard input, a line of JSON each, and each is answered by a line of JSON. It writes into one directory,
//! loads only drives that the operator has listed, builds every command line itself, and knows no plain files as drives.
//! Whoever holds the register's key can therefore load listed drives, stop what was started this way and read what it
//! wrote; they cannot run a command, name a path to write to, or become root.

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
