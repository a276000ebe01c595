//! Entries of an archive, and their names.

use std::io::Read;

/// Maximum bytes of a name; longer names are truncated. Linux allows 4096 in a path.
pub const NAME_BYTES_MAX: usize = 4096;

/// Maximum characters of a name that are shown.
const NAME_SHOWN_MAX: usize = 200;

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// A readable file.
    File,
    /// A directory, which has no content.
    Directory,
    /// A link, symbolic or hard.
    Link,
    /// A device or a named pipe.
    Device,
    /// An encrypted file.
    Encrypted,
    /// A file stored with an unsupported method.
    Unknown,
}

impl EntryType {
    /// Returns the name of a type that is skipped. None for files and directories.
    pub fn skipped(self) -> Option<&'static str> {
        match self {
            Self::File | Self::Directory => None,
            Self::Link => Some("a link"),
            Self::Device => Some("a device"),
            Self::Encrypted => Some("an encrypted file"),
            Self::Unknown => Some("a file stored with an unsupported method"),
        }
    }
}

/// An entry of an archive, with its bytes if it is a file.
pub struct Entry<'a> {
    /// The name as stored.
    pub name: Vec<u8>,
    /// Its type.
    pub entry_type: EntryType,
    /// Its size according to the archive.
    pub size_bytes: u64,
    /// Its bytes.
    pub bytes: Box<dyn Read + 'a>,
}

/// Returns a name as a label. It is never used as a path.
pub fn label(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name).replace(char::is_control, "\u{fffd}");
    let text: String = text.chars().take(NAME_SHOWN_MAX).collect();
    text.strip_prefix("./").map_or(text.clone(), str::to_owned)
}

/// Returns why a name is suspicious. None for a normal name.
pub fn oddity(name: &[u8]) -> Option<&'static str> {
    let mut parts = name.split(|byte| matches!(byte, b'/' | b'\\'));
    if name.starts_with(b"/") || name.get(1) == Some(&b':') {
        Some("is an absolute path")
    } else if parts.any(|part| part == b"..") {
        Some("leads out of the archive")
    } else if name.iter().any(u8::is_ascii_control) {
        Some("contains control characters")
    } else if name.len() >= NAME_SHOWN_MAX {
        Some("is longer than 200 characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_and_long_names_truncated() {
        assert_eq!(label(b"./logs/a.log"), "logs/a.log");
        assert_eq!(label(b"a\0b\x1b[0m"), "a\u{fffd}b\u{fffd}[0m");
        assert_eq!(label(&[b'x'; 5000]).len(), NAME_SHOWN_MAX);
    }

    #[test]
    fn suspicious_names_have_a_reason() {
        for (name, is_suspicious) in [
            (&b"logs/a.log"[..], false),
            (b"a..b/c.log", false),
            (b"/etc/passwd", true),
            (b"C:\\a.log", true),
            (b"../a.log", true),
            (b"a/../../b.log", true),
            (b"a\\..\\b.log", true),
            (b"a\0.log", true),
            (&[b'x'; 199], false),
            (&[b'x'; 200], true),
        ] {
            assert_eq!(oddity(name).is_some(), is_suspicious, "{}", label(name));
        }
    }
}
