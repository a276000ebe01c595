//! Where the kernel describes itself, and how its small files are read.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::DeviceError;
use crate::open::path_probe::{HostProbe, PathProbe};

/// The places a host is known by. Tests invent whole hosts.
pub(crate) struct System {
    /// `/sys`.
    pub sys: PathBuf,
    /// `/proc`.
    pub proc: PathBuf,
    /// `/etc/machine-id`; a container may have none.
    pub machine_id: PathBuf,
    /// The file system.
    pub probe: Box<dyn PathProbe>,
    /// How long a program may have the device open before it counts as a user: udev looks at every device for a moment
    /// after each close, and a run that follows another must not stumble over that.
    pub udev_grace: Duration,
    /// How long a device is watched for I/O at once.
    pub sample_length: Duration,
}

impl System {
    /// The running host.
    pub fn host() -> Self {
        Self {
            sys: "/sys".into(),
            proc: "/proc".into(),
            machine_id: "/etc/machine-id".into(),
            probe: Box::new(HostProbe),
            udev_grace: Duration::from_millis(300),
            sample_length: Duration::from_secs(1),
        }
    }

    /// Returns the host's name.
    pub fn hostname(&self) -> Result<String, DeviceError> {
        let path = self.proc.join("sys/kernel/hostname");
        text(&path)?.ok_or_else(|| DeviceError::unexpected(&path, "the host's name", ""))
    }

    /// Returns what names this machine in the keys of devices without a name of their own: the host's name, and a mark of its
    /// id where it has one, for machines that were cloned may share the name. The id itself is told to nobody.
    ///
    /// Source: machine-id(5), which asks for a keyed hash.
    pub fn machine_label(&self) -> Result<String, DeviceError> {
        let name = self.hostname()?;
        let id = self.machine_id()?.filter(|id| is_machine_id(id));
        Ok(id.map_or(name.clone(), |id| {
            format!("{name}{MACHINE_HASH_SEPARATOR}{}", machine_hash(&id))
        }))
    }

    /// Without it a key would be one of another machine: an id that is there and cannot be read is an error.
    fn machine_id(&self) -> Result<Option<String>, DeviceError> {
        text(&self.machine_id).map_err(|error| match error {
            DeviceError::Unreadable { path, source } => DeviceError::MachineUnknown { path, source },
            other => other,
        })
    }
}

/// Stands between a host's name and the mark of its machine: no name of a host holds it.
pub(crate) const MACHINE_HASH_SEPARATOR: char = '~';
/// Hexadecimal digits of a mark.
pub(crate) const MACHINE_HASH_DIGITS: usize = 12;

/// In an image that was not started yet it is empty, or `uninitialized`. Source: machine-id(5).
fn is_machine_id(text: &str) -> bool {
    text.len() == 32 && is_lower_hex(text)
}

/// Tells whether a text is of hexadecimal digits as they are written here.
pub(crate) fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn machine_hash(machine_id: &str) -> String {
    let hash = Sha256::digest(format!("drivecert device {machine_id}"));
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.chars().take(MACHINE_HASH_DIGITS).collect()
}

/// Reads a small file without the blanks around its text; None when it does not exist or holds nothing.
///
/// Attributes of hardware may hold any bytes, and some drivers answer "not supported" by an error when read.
pub(crate) fn text(path: &Path) -> Result<Option<String>, DeviceError> {
    let bytes = bytes(path)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Reads a small file; None when the device has no such attribute.
pub(crate) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, DeviceError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absence(error.kind()) || ABSENT.map(Some).contains(&error.raw_os_error()) => {
            Ok(None)
        }
        Err(source) => Err(DeviceError::unreadable(path, source)),
    }
}

/// ENXIO: `vpd_pg80` of a drive that does not offer the page. ENODEV: any attribute of a device that goes meanwhile.
const ABSENT: [i32; 2] = [6, 19];

fn is_absence(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput | ErrorKind::Unsupported
    )
}

/// Reads a file with one whole number; None as for `text`.
pub(crate) fn number(path: &Path) -> Result<Option<u64>, DeviceError> {
    let Some(text) = text(path)? else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| DeviceError::unexpected(path, "a whole number", &text))
}

/// Lists the names in a directory, sorted; empty when it does not exist.
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

/// Undoes the octal escapes in which procfs writes blanks and backslashes of paths.
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
    fn blanks_and_backslashes_in_paths_come_back() {
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
    fn a_word_where_a_number_belongs_is_named() {
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
