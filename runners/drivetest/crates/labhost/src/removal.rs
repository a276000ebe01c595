//! Removal of a run's directory for a register: only directories of runs, and only if the run can no longer start.

use drivetest_detached::Removal;

use crate::error::HostError;
use crate::run_store::RunStore;
use crate::settings::Settings;
use crate::start::check_generation;
use crate::{Removal as Request, retryable};

/// Removes the directory of a run after making sure that a delayed start of the run would be refused.
///
/// The drive need not be on the operator's list: a removal does not write to it, and a drive that was taken off the list
/// still has directories. But this host must know the drive, from the list or from the lock file of an earlier start.
/// Otherwise, with the key of another drive, the run could still start, and unknown keys would create lock files.
pub(crate) fn remove(
    settings: &Settings,
    store: &RunStore<'_>,
    request: &Request,
) -> Result<Removal, HostError> {
    // The removal writes the generation into the lock of the drive. An unlimited number could block the drive for ever.
    check_generation(request.generation)?;
    let (run_dir, drive_lock) = (
        store.run_dir(&request.run)?,
        store.drive_lock(&request.drive_key)?,
    );
    let is_known = settings.check_listed(&request.drive_key).is_ok() || drive_lock.exists();
    if !is_known {
        if retryable(drivetest_detached::status(&run_dir))?.pid.is_some() {
            return Err(HostError::refused(format!(
                "{}: a program of this run was started, but this host neither lists nor ever loaded drive {}; \
                 state the drive that the run used",
                request.run, request.drive_key
            )));
        }
        if !run_dir.exists() {
            return Ok(Removal::nothing_left());
        }
    }
    retryable(drivetest_detached::remove(
        &run_dir,
        &drive_lock,
        request.generation,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A host with a run, and the list of its operator.
    struct TestHost {
        _folder: tempfile::TempDir,
        settings: Settings,
    }

    impl TestHost {
        fn listing(drives: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let settings = Settings {
                updates: Vec::new(),
                drives: drives.iter().map(|&key| key.to_owned()).collect(),
                state_dir: folder.path().join("state"),
            };
            RunStore::open(&settings.state_dir)
                .unwrap()
                .put("d-a", None, 0, &mut std::io::empty())
                .unwrap();
            Self {
                _folder: folder,
                settings,
            }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.settings.state_dir.join(name)
        }

        /// Adds the record of a program of an earlier boot, as after a start.
        fn with_ended_program(self) -> Self {
            let pid = r#"{"pid": 1, "start_ticks": 1, "generation": 7, "boot_id": "an earlier one"}"#;
            fs::write(self.path("d-a/pid"), pid).unwrap();
            self
        }

        fn with_lock_of(self, drive_key: &str) -> Self {
            let store = RunStore::open(&self.settings.state_dir).unwrap();
            fs::write(store.drive_lock(drive_key).unwrap(), "").unwrap();
            self
        }

        fn remove(&self, run: &str, drive_key: &str) -> Result<Removal, HostError> {
            let store = RunStore::open(&self.settings.state_dir).unwrap();
            let request = Request {
                run: run.to_owned(),
                drive_key: drive_key.to_owned(),
                generation: 7,
            };
            remove(&self.settings, &store, &request)
        }

        fn locks_count(&self) -> usize {
            fs::read_dir(self.path("locks")).unwrap().count()
        }
    }

    #[test]
    fn runs_of_a_drive_that_is_no_longer_listed_are_removed() {
        let host = TestHost::listing(&[])
            .with_ended_program()
            .with_lock_of("nvme:M:S1");
        assert!(host.remove("d-a", "nvme:M:S1").unwrap().removed);
        assert!(!host.path("d-a").exists());
        assert_eq!(host.locks_count(), 1);
    }

    #[test]
    fn a_run_of_a_listed_drive_is_removed() {
        let host = TestHost::listing(&["nvme:M:S1"]).with_ended_program();
        assert!(host.remove("d-a", "nvme:M:S1").unwrap().removed);
    }

    #[test]
    fn a_run_is_not_removed_with_the_key_of_an_unknown_drive() {
        let host = TestHost::listing(&["nvme:M:S1"]).with_ended_program();
        let refused = host.remove("d-a", "nvme:MADE:UP").unwrap_err();
        assert!(
            refused.sentence.contains("state the drive that the run used"),
            "{refused}"
        );
        assert!(host.path("d-a/pid").exists());
        assert_eq!(host.locks_count(), 0);
    }

    /// Its start was refused because the drive is not listed. Only the directory exists.
    #[test]
    fn a_run_that_was_never_started_is_removed_even_if_its_drive_is_unknown() {
        let host = TestHost::listing(&[]);
        assert!(host.remove("d-a", "nvme:M:S2").unwrap().removed);
        assert!(!host.path("d-a").exists());
    }

    #[test]
    fn unknown_drives_create_no_lock_files() {
        let host = TestHost::listing(&[]);
        for at in 0..8 {
            assert!(host.remove("d-none", &format!("nvme:M:{at}")).unwrap().removed);
        }
        assert_eq!(host.locks_count(), 0);
    }

    #[test]
    fn only_directories_of_runs_are_removed() {
        let host = TestHost::listing(&["nvme:M:S1"]);
        fs::create_dir_all(host.path("locks")).unwrap();
        for name in ["locks", "..", ".", "d-a/..", "d-A", "", "/etc"] {
            assert!(host.remove(name, "nvme:M:S1").is_err(), "{name}");
        }
        assert!(host.path("locks").exists() && host.path("d-a").exists());
    }
}
