//! Start of a drivetest command for a register.

use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::Path;

use drivetest_detached::{StartOutcome, StartRequest};
use serde_json::Value;

use crate::command_line::{self, Command};
use crate::device;
use crate::error::{HostError, Kind};
use crate::health;
use crate::request::Start;
use crate::run_store::RunStore;
use crate::serve::retryable;
use crate::settings::Settings;
use crate::systemd_scope::{self, SYSTEMD_RUN};

const THIS: &str = "/proc/self/exe";
/// Maximum generation. Generations count starts, and the register stores them in 31 bits. It never gets this far, but a
/// compromised register could set a number on a drive that no later start can exceed.
const GENERATION_MAX: u64 = i32::MAX as u64 - 1_000_000;

/// Starts the requested command, or returns the status of the process that an earlier request started. The result is a
/// `drivecert.detached/1` record.
pub(crate) fn start(settings: &Settings, store: &RunStore<'_>, request: &Start) -> Result<Value, HostError> {
    let run_dir = store.run_dir(&request.run)?;
    settings.check_listed(&request.drive_key)?;
    check_generation(request.generation)?;
    check_program(&request.program_sha256)?;
    let command = command_line::parse(&request.words, &request.drive_key)?;
    check_devices(&command, &run_dir, &request.drive_key)?;
    let drive_lock = store.drive_lock(&request.drive_key)?;
    let words = iter::once("drivetest".to_owned()).chain(command.words(&request.drive_key));
    let words: Vec<_> = words.map(OsString::from).collect();
    let plan = StartRequest {
        run_dir: &run_dir,
        drive_lock: &drive_lock,
        generation: request.generation,
        program: Path::new(THIS),
        words: &words,
    };
    if health::has_systemd() {
        let this = fs::read_link(THIS).map_err(|error| HostError::file(Path::new(THIS), "read", &error))?;
        return systemd_scope::start(Path::new(SYSTEMD_RUN), &this, &plan, &request.run);
    }
    match retryable(drivetest_detached::start(&plan))? {
        StartOutcome::Started(status) => serde_json::to_value(status).map_err(|error| start_failed(&error)),
        StartOutcome::Refused(refused) => Err(HostError::refused(refused.to_string())),
    }
}

pub(crate) fn check_generation(generation: u64) -> Result<(), HostError> {
    if generation <= GENERATION_MAX {
        return Ok(());
    }
    Err(HostError::refused(format!(
        "generation {generation}: expected at most {GENERATION_MAX}"
    )))
}

fn check_program(expected: &str) -> Result<(), HostError> {
    let found = health::program_sha256()?;
    if found == expected {
        return Ok(());
    }
    Err(HostError::refused(format!(
        "drivetest: expected the program with SHA-256 {expected}, found {found}; enrol the host again"
    )))
}

/// Checks that every device of the command is now the drive of the run. The command checks again what it has opened.
fn check_devices(command: &Command, run_dir: &Path, drive_key: &str) -> Result<(), HostError> {
    match command {
        Command::Prep { device: path, .. } => device::check_drive(path, drive_key, &device::key_of),
        Command::Load { model } => {
            let path = run_dir.join("config");
            let bytes = fs::read(&path).map_err(|error| HostError::file(&path, "read", &error))?;
            device::check_config(*model, &bytes, drive_key, &device::key_of)
        }
    }
}

pub(crate) fn start_failed(sentence: &dyn std::fmt::Display) -> HostError {
    HostError::new(Kind::Unanswered, format!("start: {sentence}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lock of a drive stores the newest generation for ever, and the column of the register ends at 2^31 - 1.
    #[test]
    fn the_highest_generations_are_refused() {
        assert!(check_generation(GENERATION_MAX).is_ok());
        for generation in [GENERATION_MAX + 1, i32::MAX as u64, u64::MAX] {
            assert_eq!(
                check_generation(generation).unwrap_err().kind,
                Kind::Refused,
                "{generation}"
            );
        }
    }
}
