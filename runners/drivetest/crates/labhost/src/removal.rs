//! Removing the directory of a run for a register: only what is a run's, and only with the drive that it ran on shut.

use drivetest_detached::Removal;

use crate::error::HostError;
use crate::run_store::Place;
use crate::serve::known;
use crate::settings::Settings;
use crate::start::check_generation;

/// What is to be removed: a run's directory, the drive that it was on, and the last generation that it had there.
pub(crate) struct Asked<'a> {
    pub run: &'a str,
    pub drive_key: &'a str,
    pub generation: u64,
}

/// Removes a directory of a run, which by its name can be nothing else, once no start of it is let in on its drive any more.
///
/// The operator's list is not asked for leave: nothing is written to the drive, and one that was taken off the list leaves
/// directories behind. But the drive has to be one that this host knows, by the list or by the lock that its first start made:
/// what was started under another drive's lock would be open to a late start, and made-up drives would fill the locks.
pub(crate) fn remove(
    settings: &Settings,
    place: &Place<'_>,
    asked: &Asked<'_>,
) -> Result<Removal, HostError> {
    // What is removed is written into the drive's lock: a number without bound would close the drive for ever.
    check_generation(asked.generation)?;
    let (run_dir, drive_lock) = (place.run_dir(asked.run)?, place.drive_lock(asked.drive_key)?);
    let is_known = settings.check_listed(asked.drive_key).is_ok() || drive_lock.exists();
    if !is_known {
        if known(drivetest_detached::status(&run_dir))?.pid.is_some() {
            return Err(HostError::refused(format!(
                "{}: a program was started there, and {} is no drive that this host has listed or let a start in on; \
                 name the drive that it ran on",
                asked.run, asked.drive_key
            )));
        }
        if !run_dir.exists() {
            return Ok(Removal::nothing_left());
        }
    }
    known(drivetest_detached::remove(
        &run_dir,
        &drive_lock,
        asked.generation,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A host with a run of a drive, and its operator's list.
    struct There {
        _folder: tempfile::TempDir,
        settings: Settings,
    }

    impl There {
        fn listing(drives: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let settings = Settings {
                drives: drives.iter().map(|&key| key.to_owned()).collect(),
                state_dir: folder.path().join("state"),
            };
            Place::at(&settings.state_dir)
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

        /// As after a start: the program's record, of a boot that is over.
        fn with_ended_program(self) -> Self {
            let pid = r#"{"pid": 1, "start_ticks": 1, "generation": 7, "boot_id": "an earlier one"}"#;
            fs::write(self.path("d-a/pid"), pid).unwrap();
            self
        }

        fn with_lock_of(self, drive_key: &str) -> Self {
            let place = Place::at(&self.settings.state_dir).unwrap();
            fs::write(place.drive_lock(drive_key).unwrap(), "").unwrap();
            self
        }

        fn remove(&self, run: &str, drive_key: &str) -> Result<Removal, HostError> {
            let place = Place::at(&self.settings.state_dir).unwrap();
            let asked = Asked {
                run,
                drive_key,
                generation: 7,
            };
            remove(&self.settings, &place, &asked)
        }

        fn locks_count(&self) -> usize {
            fs::read_dir(self.path("locks")).unwrap().count()
        }
    }

    #[test]
    fn old_runs_of_a_drive_that_was_taken_off_the_list_are_removed() {
        let there = There::listing(&[]).with_ended_program().with_lock_of("nvme:M:S1");
        assert!(there.remove("d-a", "nvme:M:S1").unwrap().removed);
        assert!(!there.path("d-a").exists());
        assert_eq!(there.locks_count(), 1);
    }

    #[test]
    fn a_run_of_a_listed_drive_is_removed() {
        let there = There::listing(&["nvme:M:S1"]).with_ended_program();
        assert!(there.remove("d-a", "nvme:M:S1").unwrap().removed);
    }

    #[test]
    fn a_run_is_not_removed_under_the_name_of_a_drive_that_never_was_here() {
        let there = There::listing(&["nvme:M:S1"]).with_ended_program();
        let refused = there.remove("d-a", "nvme:MADE:UP").unwrap_err();
        assert!(
            refused.sentence.contains("name the drive that it ran on"),
            "{refused}"
        );
        assert!(there.path("d-a/pid").exists());
        assert_eq!(there.locks_count(), 0);
    }

    /// Its start was refused, because the drive is not listed: the directory is all that there is of it.
    #[test]
    fn a_run_that_was_never_started_is_removed_though_its_drive_is_not_known() {
        let there = There::listing(&[]);
        assert!(there.remove("d-a", "nvme:M:S2").unwrap().removed);
        assert!(!there.path("d-a").exists());
    }

    #[test]
    fn made_up_drives_fill_no_locks() {
        let there = There::listing(&[]);
        for at in 0..8 {
            assert!(there.remove("d-none", &format!("nvme:M:{at}")).unwrap().removed);
        }
        assert_eq!(there.locks_count(), 0);
    }

    #[test]
    fn nothing_but_a_run_is_removed_whatever_is_listed() {
        let there = There::listing(&["nvme:M:S1"]);
        fs::create_dir_all(there.path("locks")).unwrap();
        for name in ["locks", "..", ".", "d-a/..", "d-A", "", "/etc"] {
            assert!(there.remove(name, "nvme:M:S1").is_err(), "{name}");
        }
        assert!(there.path("locks").exists() && there.path("d-a").exists());
    }
}
