//! Validation of the names in requests. A name with a slash, with a leading dot, or too long never becomes part of a path.

use crate::error::HostError;

const RUN_BYTES_MAX: usize = 64;
const FILE_BYTES_MAX: usize = 48;

/// Checks the name of a run: `d-`, then lower-case letters and digits. A dot and the name of a part can follow.
pub(crate) fn run(name: &str) -> Result<&str, HostError> {
    let is_run = name.strip_prefix("d-").is_some_and(|rest| {
        let parts: Vec<_> = rest.split('.').collect();
        parts.len() <= 2 && parts.iter().all(|part| is_word(part))
    });
    checked(
        name,
        is_run && name.len() <= RUN_BYTES_MAX,
        "the name of a run, such as d-7kd2m9qp",
    )
}

/// Checks the name of a file in a run directory.
pub(crate) fn file(name: &str) -> Result<&str, HostError> {
    let is_file = name.split('.').all(is_word) && name.len() <= FILE_BYTES_MAX;
    checked(name, is_file, "the name of a file of a run, such as side.jsonl")
}

fn is_word(part: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    !part.is_empty() && !part.starts_with('-') && part.bytes().all(allowed)
}

fn checked<'a>(name: &'a str, is_valid: bool, expected: &str) -> Result<&'a str, HostError> {
    match is_valid {
        true => Ok(name),
        false => Err(HostError::usage(format!("{name:?}: expected {expected}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_and_their_parts_are_valid() {
        for good in ["d-7kd2m9qp", "d-7kd2m9qp.load-2"] {
            assert!(run(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn no_name_of_a_run_is_a_path() {
        for bad in [
            "", "d-", "locks", "d-a/b", "d-..", "d-a..b", "../d-a", "d-A", "d-a\0", "d-a b", "d-a.b.c",
            "d--a", "/d-a",
        ] {
            assert!(run(bad).is_err(), "{bad:?}");
        }
        assert!(run(&format!("d-{}", "a".repeat(62))).is_ok());
        assert!(run(&format!("d-{}", "a".repeat(63))).is_err());
    }

    #[test]
    fn no_name_of_a_file_is_a_path() {
        for bad in [
            "",
            ".",
            "..",
            "a/b",
            "/etc/shadow",
            ".hidden",
            "a.",
            "a\n",
            "-a",
            "\u{e9}",
        ] {
            assert!(file(bad).is_err(), "{bad:?}");
        }
        for good in ["log", "side.jsonl", "prep.state"] {
            assert!(file(good).is_ok(), "{good}");
        }
    }
}
