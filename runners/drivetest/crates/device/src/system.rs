//! Access to sysfs, procfs and the machine id of a host.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::DeviceError;
use crate::probe::path::{HostProbe, PathProbe};

/// The directories of a host. Tests use fake hosts.
pub(crate) struct System {
    /// `/sys`.
    pub sys: PathBuf,
    /// `/proc`.
    pub proc: PathBuf,
    /// `/etc/machine-id`; a container may have none.
    pub machine_id: PathBuf,
    /// Access to device nodes and files.
    pub probe: Box<dyn PathProbe>,
    /// Time between two samples of open files. udev opens every device for a moment after each close, and must not
    /// count as a user.
    pub udev_grace: Duration,
    /// Length of a sample of I/O activity.
    pub sample_length: Duration,
}

impl System {
    /// Returns this host.
    pub fn host() -> Self {
        Self {
            sys: "/sys".into(),
            proc: "/proc".into(),
            machine_id: "/etc/machine-id".into(),
            probe: Box::new(HostProbe),
            udev_grace: Duration::from_millis(300),
            sample_length: sample_length(),
        }
    }

    /// Returns the host's name.
    pub fn hostname(&self) -> Result<String, DeviceError> {
        let path = self.proc.join("sys/kernel/hostname");
        text(&path)?.ok_or_else(|| DeviceError::unexpected(&path, "the host's name", ""))
    }

    /// Returns the machine part of the keys of devices without an own identity: the host name, and a hash of the
    /// machine id if there is one, because cloned machines may share the name. The id itself stays secret.
    ///
    /// Source: machine-id(5), which requires a keyed hash.
    pub fn machine_label(&self) -> Result<String, DeviceError> {
        let name = self.hostname()?;
        let id = self.machine_id()?.filter(|id| is_machine_id(id));
        Ok(id.map_or(name.clone(), |id| {
            format!("{name}{MACHINE_HASH_SEPARATOR}{}", machine_hash(&id))
        }))
    }

    /// Reads the machine id. An unreadable id is an error, because the key would be that of another machine.
    fn machine_id(&self) -> Result<Option<String>, DeviceError> {
        text(&self.machine_id).map_err(|error| match error {
            DeviceError::Unreadable { path, source } => DeviceError::MachineUnknown { path, source },
            other => other,
        })
    }
}

/// Length of a sample of I/O activity on this host.
const SAMPLE_LENGTH: Duration = Duration::from_secs(1);

/// Returns the length of a sample. Tests start the program on many devices that nothing else uses, and shorten it.
#[cfg(debug_assertions)]
fn sample_length() -> Duration {
    let shortened = std::env::var("DRIVETEST_GATE_SAMPLE_MS").ok();
    let milliseconds = shortened.and_then(|text| text.parse().ok());
    milliseconds.map_or(SAMPLE_LENGTH, Duration::from_millis)
}

/// Returns the length of a sample. No variable changes it in a release.
#[cfg(not(debug_assertions))]
fn sample_length() -> Duration {
    SAMPLE_LENGTH
}

/// Separates host name and machine hash. No host name contains it.
pub(crate) const MACHINE_HASH_SEPARATOR: char = '~';
/// Hexadecimal digits of the machine hash.
pub(crate) const MACHINE_HASH_DIGITS: usize = 12;

/// Returns whether a text is a machine id. In an image before its first boot it is empty, or `uninitialized`. Source:
/// machine-id(5).
fn is_machine_id(text: &str) -> bool {
    text.len() == 32 && is_lower_hex(text)
}

/// Returns whether a text consists of lower-case hexadecimal digits.
pub(crate) fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn machine_hash(machine_id: &str) -> String {
    let hash = Sha256::digest(format!("drivecert device {machine_id}"));
    hex(&hash).chars().take(MACHINE_HASH_DIGITS).collect()
}

/// Returns bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a small file and trims its text; None if it does not exist or is blank.
///
/// Hardware attributes may contain any bytes, and some drivers return an error for "not supported".
pub(crate) fn text(path: &Path) -> Result<Option<String>, DeviceError> {
    let bytes = bytes(path)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Reads a small file; None if the device has no such attribute.
pub(crate) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, DeviceError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absence(error.kind()) || ABSENT.map(Some).contains(&error.raw_os_error()) => {
            Ok(None)
        }
        Err(source) => Err(DeviceError::unreadable(path, source)),
    }
}

/// ENXIO: `vpd_pg80` of a drive without that page. ENODEV: an attribute of a device that disappears.
const ABSENT: [i32; 2] = [6, 19];

fn is_absence(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput | ErrorKind::Unsupported
    )
}

/// Reads a file with a whole number; None as for `text`.
pub(crate) fn number(path: &Path) -> Result<Option<u64>, DeviceError> {
    let Some(text) = text(path)? else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| DeviceError::unexpected(path, "a whole number", &text))
}

/// Lists the names in a directory, sorted; empty if it does not exist.
pub(crate) fn names(directory: &Path) -> Result<Vec<String>, DeviceError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if is_absence(error.kind()) => return Ok(Vec::new()),
        entries => entries.map_err(|source| DeviceError::unreadable(directory, source))?,
    };
    let name = |entry: std::io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = entries
        .map(name)
        .collect::<std::io::Result<_>>()
        .map_err(|source| DeviceError::unreadable(directory, source))?;
    names.sort();
    Ok(names)
}

/// Decodes the octal escapes of blanks and backslashes in procfs.
pub(crate) fn unescaped(path: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        let (byte, left) = match octal {
            Some(byte) if first == b'\\' => (byte, after.get(3..).unwrap_or_default()),
            _ => (first, after),
        };
        bytes.push(byte);
        rest = left;
    }
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(
        bytes,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_backslashes_in_paths_are_decoded() {
        assert_eq!(unescaped(r"/mnt/a\040b\134c"), Path::new(r"/mnt/a b\c"));
        assert_eq!(unescaped(r"/mnt/plain"), Path::new("/mnt/plain"));
        assert_eq!(unescaped(r"/mnt/odd\04"), Path::new(r"/mnt/odd\04"));
    }

    #[test]
    fn an_attribute_that_is_missing_or_blank_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("serial");
        assert_eq!(text(&path).unwrap(), None);
        std::fs::write(&path, "  \n").unwrap();
        assert_eq!(text(&path).unwrap(), None);
        std::fs::write(&path, " S4X \n").unwrap();
        assert_eq!(text(&path).unwrap().as_deref(), Some("S4X"));
    }

    #[test]
    fn a_text_instead_of_a_number_is_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("size");
        std::fs::write(&path, "many").unwrap();
        assert!(
            number(&path)
                .unwrap_err()
                .to_string()
                .contains("a whole number, got \"many\"")
        );
    }
}
