//! Commands whose standard output is a pipe without a reader.

use std::process::{Command, Output, Stdio};

/// Runs a command after the reader of its standard output has closed the pipe.
#[allow(clippy::unwrap_used, reason = "a command that cannot be run fails the test")]
pub fn with_closed_output(command: &mut Command) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped());
    child.spawn().unwrap().wait_with_output().unwrap()
}
