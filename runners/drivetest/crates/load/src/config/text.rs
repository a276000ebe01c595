//! A configuration file's bytes as text.

use super::ConfigError;

/// The longest configuration, bytes; one with 128 devices needs some tens of thousands.
pub const MOST_BYTES: usize = 1 << 20;

/// Returns the bytes as text; comments may be in another encoding than UTF-8, as upstream does not look at them.
///
/// # Errors
/// [`ConfigError`] names the first line that is not text, or the length.
pub fn text(bytes: &[u8]) -> Result<String, ConfigError> {
    if bytes.len() > MOST_BYTES {
        return Err(ConfigError::TooLong {
            most_bytes: MOST_BYTES,
        });
    }
    let is_text = |line: &[u8]| {
        let said = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        std::str::from_utf8(said).is_ok() && !line.contains(&0)
    };
    match bytes.split(|byte| *byte == b'\n').position(|line| !is_text(line)) {
        Some(index) => Err(ConfigError::NotText { line: index + 1 }),
        None => Ok(String::from_utf8_lossy(bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(bytes: &[u8]) -> String {
        text(bytes)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn what_is_not_text_is_refused_with_its_line() {
        assert!(sentence(b"a: 1\n\xff\xfea\0").starts_with("line 2: expected text in UTF-8"));
        assert!(sentence(b"a: \0").starts_with("line 1: expected text"));
    }

    #[test]
    fn a_comment_may_be_in_latin_1() {
        assert_eq!(
            text(b"a: 1 # Gr\xf6\xdfe\nb: 2").unwrap(),
            "a: 1 # Gr\u{fffd}\u{fffd}e\nb: 2"
        );
    }

    #[test]
    fn a_configuration_has_its_length() {
        assert_eq!(sentence(&vec![b'\n'; MOST_BYTES]), "");
        assert!(sentence(&vec![b'\n'; MOST_BYTES + 1]).starts_with("expected at most 1048576 bytes"));
    }
}
