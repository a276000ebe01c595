//! Devices of requests: block devices under /dev that are the expected drive at this moment.

use std::os::unix::fs::FileTypeExt;
use std::path::{Component, PathBuf};

use drivetest_device::{DeviceError, Drives, Identity};
use drivetest_load::config::{Config, Model};

use crate::error::{HostError, Kind};
use crate::retryable;

/// Checks that a path is a block device under /dev. A lab host accepts no plain file as a drive.
pub(crate) fn block_device(path: &str) -> Result<PathBuf, HostError> {
    let named = PathBuf::from(path);
    let is_plain = named
        .components()
        .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if !is_plain || !named.starts_with("/dev") {
        return Err(unknown(path, "expected a path under /dev"));
    }
    let found = named
        .metadata()
        .map_err(|error| unknown(path, &error.to_string()))?;
    match found.file_type().is_block_device() {
        true => Ok(named),
        false => Err(unknown(
            path,
            "expected a block device; a plain file cannot be a device on a lab host",
        )),
    }
}

/// Identifies a device.
pub(crate) fn identify(path: &str) -> Result<Identity, HostError> {
    device_result(drivetest_device::identify(&block_device(path)?))
}

/// Returns the current paths of a drive or of a partition with that size. Sends no command to a drive, because another run
/// may measure it.
pub(crate) fn find(drive_key: &str, size_bytes: u64) -> Result<Vec<PathBuf>, HostError> {
    retryable(drivetest_device::locate(drive_key, size_bytes))
}

/// Returns the drives of this host with their use, or without it if the kernel does not report it. Sends no command to a
/// drive, as in [`find`].
pub(crate) fn list() -> Result<Drives, HostError> {
    retryable(drivetest_device::list_with_use().or_else(|_| drivetest_device::list()))
}

/// Checks that a configuration names only the drive of the run, and no plain files.
pub(crate) fn check_config(
    model: Model,
    bytes: &[u8],
    drive_key: &str,
    key_of: &dyn Fn(&str) -> Result<String, HostError>,
) -> Result<(), HostError> {
    let refused = |error: &dyn std::fmt::Display| HostError::refused(format!("config: {error}"));
    let text = drivetest_load::config::text(bytes).map_err(|error| refused(&error))?;
    let (config, _) = Config::read_of(model, &text, 1).map_err(|error| refused(&error))?;
    if config.file_size_mib != 0 {
        return Err(refused(
            &"file-size-mbytes: a plain file cannot be a device on a lab host",
        ));
    }
    config
        .device_names
        .iter()
        .try_for_each(|name| check_drive(name, drive_key, key_of))
}

/// Checks that a path is now the drive of the run.
pub(crate) fn check_drive(
    path: &str,
    drive_key: &str,
    key_of: &dyn Fn(&str) -> Result<String, HostError>,
) -> Result<(), HostError> {
    let found = key_of(path)?;
    HostError::refuse_unless(drivetest_device::is_same_drive(drive_key, &found), || {
        format!("{path}: expected drive {drive_key}, found {found}; nothing was started")
    })
}

/// Returns the key of the drive that a path is now, even if it is in use.
pub(crate) fn key_of(path: &str) -> Result<String, HostError> {
    device_result(drivetest_device::identify_in_use(&block_device(path)?)).map(|identity| identity.drive_key)
}

fn device_result(result: Result<Identity, DeviceError>) -> Result<Identity, HostError> {
    result.map_err(|error| HostError::new(Kind::DeviceUnknown, error.to_string()))
}

fn unknown(path: &str, why: &str) -> HostError {
    HostError::new(Kind::DeviceUnknown, format!("{path}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> Result<String, HostError> {
        Ok(format!("nvme:M:{path}"))
    }

    fn checked(names: &str, more: &str) -> Result<(), HostError> {
        let text = format!("device-names: {names}\ntest-duration-sec: 60\nread-reqs-per-sec: 100\n{more}");
        check_config(Model::Storage, text.as_bytes(), "nvme:M:/dev/a", &key)
    }

    #[test]
    fn a_configuration_names_only_the_drive_of_the_run() {
        assert!(checked("/dev/a", "").is_ok());
        for names in ["/dev/b", "/dev/a,/dev/b", "/dev/b;/dev/a"] {
            assert_eq!(checked(names, "").unwrap_err().kind, Kind::Refused, "{names}");
        }
        assert!(checked("/dev/a", "device-names: /dev/b\n").is_err());
    }

    #[test]
    fn a_configuration_cannot_use_plain_files() {
        assert!(checked("/dev/a", "file-size-mbytes: 64\n").is_err());
    }

    #[test]
    fn only_block_devices_under_dev_are_accepted() {
        for bad in [
            "/etc/passwd",
            "/dev/null",
            "/dev/../etc/passwd",
            "dev/sda",
            "/dev/nothing-there",
            "",
            "/dev",
        ] {
            assert_eq!(block_device(bad).unwrap_err().kind, Kind::DeviceUnknown, "{bad}");
        }
    }
}
