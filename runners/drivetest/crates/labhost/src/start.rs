//! Starting a program of drivetest for a register.

use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use drivetest_detached::{Answer, Order};
use serde_json::Value;

use crate::command_line::{self, Program};
use crate::device;
use crate::error::{HostError, Kind};
use crate::health;
use crate::request::Start;
use crate::run_store::Place;
use crate::settings::Settings;
use crate::systemd_scope::{self, SYSTEMD_RUN};

const THIS: &str = "/proc/self/exe";
/// Generations count starts, and the register keeps them in 31 bits: it never comes this far, but one that was taken over
/// could give a drive a number that no register can exceed.
const GENERATION_MAX: u64 = i32::MAX as u64 - 1_000_000;

/// Starts what is asked for, or tells the process that an earlier request started. The answer is `drivecert.detached/1`.
pub(crate) fn start(settings: &Settings, place: &Place<'_>, asked: &Start) -> Result<Value, HostError> {
    let run_dir = place.run_dir(&asked.run)?;
    settings.check_listed(&asked.drive_key)?;
    check_generation(asked.generation)?;
    check_program(&asked.program_sha256)?;
    let program = command_line::understood(&asked.words, &asked.drive_key)?;
    check_devices(&program, &run_dir, &asked.drive_key)?;
    let words = program.words(&asked.drive_key);
    let drive_lock = place.drive_lock(&asked.drive_key)?;
    let wish = Wish {
        run_dir: &run_dir,
        drive_lock: &drive_lock,
        generation: asked.generation,
        words: &words,
    };
    if health::has_systemd() {
        let this = fs::read_link(THIS).map_err(|error| HostError::file(Path::new(THIS), "read", &error))?;
        systemd_scope::start(Path::new(SYSTEMD_RUN), &this, &wish, &asked.run)
    } else {
        wish.here()
    }
}

pub(crate) fn check_generation(asked: u64) -> Result<(), HostError> {
    if asked <= GENERATION_MAX {
        return Ok(());
    }
    Err(HostError::refused(format!(
        "generation {asked}: expected at most {GENERATION_MAX}; no drive is started so often"
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

/// Every device that the program would open must lead to the bound drive now. It looks again at what it has opened.
fn check_devices(program: &Program, run_dir: &Path, drive_key: &str) -> Result<(), HostError> {
    match program {
        Program::Prep { device: path, .. } => device::check_bound(path, drive_key, &device::key_of),
        Program::Load { model } => {
            let path = run_dir.join("config");
            let bytes = fs::read(&path).map_err(|error| HostError::file(&path, "read", &error))?;
            device::check_config(*model, &bytes, drive_key, &device::key_of)
        }
    }
}

/// What is started, and for which drive and generation.
pub(crate) struct Wish<'a> {
    pub run_dir: &'a Path,
    pub drive_lock: &'a PathBuf,
    pub generation: u64,
    /// Without the program's name.
    pub words: &'a [String],
}

impl Wish<'_> {
    /// Starts it as a process of its own session.
    fn here(&self) -> Result<Value, HostError> {
        let words: Vec<_> = iter::once("drivetest")
            .chain(self.words.iter().map(String::as_str))
            .map(OsString::from)
            .collect();
        let order = Order {
            run_dir: self.run_dir,
            drive_lock: self.drive_lock,
            generation: self.generation,
            program: Path::new(THIS),
            words: &words,
        };
        let answer = drivetest_detached::start(&order)
            .map_err(|error| HostError::new(Kind::Unanswered, error.to_string()))?;
        match answer {
            Answer::Told(status) => serde_json::to_value(status).map_err(|error| unanswered(&error)),
            Answer::Refused(refused) => Err(HostError::refused(refused.to_string())),
        }
    }
}

pub(crate) fn unanswered(sentence: &dyn std::fmt::Display) -> HostError {
    HostError::new(Kind::Unanswered, format!("start: {sentence}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lock of a drive keeps the newest generation for ever, and the register's column ends at 2^31 - 1.
    #[test]
    fn no_start_can_take_the_last_generations() {
        assert!(check_generation(GENERATION_MAX).is_ok());
        for asked in [GENERATION_MAX + 1, i32::MAX as u64, u64::MAX] {
            assert_eq!(
                check_generation(asked).unwrap_err().kind,
                Kind::Refused,
                "{asked}"
            );
        }
    }
}
