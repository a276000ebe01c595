//! What an archive holds under one name.

use std::io::Read;

/// Bytes of a name that are kept; what is longer is cut. Linux allows 4096 in a path.
pub const NAME_BYTES_MAX: usize = 4096;

/// Letters of a name that are shown.
const NAME_SHOWN_MAX: usize = 200;

/// What is under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// A file that can be read.
    File,
    /// A directory: it holds nothing itself.
    Directory,
    /// A link, symbolic or hard.
    Link,
    /// A device or a named pipe.
    Device,
    /// A file that is encrypted.
    Encrypted,
    /// A file stored in a way that is not read here.
    Unknown,
}

impl Nature {
    /// What it is called where it is passed over; None for what is read or holds nothing.
    pub fn passed_over(self) -> Option<&'static str> {
        match self {
            Self::File | Self::Directory => None,
            Self::Link => Some("a link"),
            Self::Device => Some("a device"),
            Self::Encrypted => Some("an encrypted file"),
            Self::Unknown => Some("a file stored in a way that is not read here"),
        }
    }
}

/// What an archive holds under one name, with its bytes where it is a file.
pub struct Entry<'a> {
    /// The name as stored.
    pub name: Vec<u8>,
    /// What it is.
    pub nature: Nature,
    /// Its size as the archive tells it.
    pub size_bytes: u64,
    /// Its bytes.
    pub bytes: Box<dyn Read + 'a>,
}

/// A name as a label: never a path, so that it may hold anything.
pub fn label(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let text: String = text
        .chars()
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .take(NAME_SHOWN_MAX)
        .collect();
    text.strip_prefix("./").map_or(text.clone(), str::to_owned)
}

/// Why a name is not one that an honest archive has, None for one that is.
pub fn oddity(name: &[u8]) -> Option<&'static str> {
    if name.starts_with(b"/") || name.get(1) == Some(&b':') {
        Some("begins at the root")
    } else if name
        .split(|byte| matches!(byte, b'/' | b'\\'))
        .any(|part| part == b"..")
    {
        Some("leads out of the archive")
    } else if name.iter().any(u8::is_ascii_control) {
        Some("holds control characters")
    } else if name.len() >= NAME_SHOWN_MAX {
        Some("is longer than 200 letters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shown_without_what_could_harm() {
        assert_eq!(label(b"./logs/a.log"), "logs/a.log");
        assert_eq!(label(b"a\0b\x1b[0m"), "a\u{fffd}b\u{fffd}[0m");
        assert_eq!(label(&[b'x'; 5000]).len(), NAME_SHOWN_MAX);
    }

    #[test]
    fn odd_names_are_told() {
        for (name, is_odd) in [
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
            assert_eq!(oddity(name).is_some(), is_odd, "{}", label(name));
        }
    }
}
