//! The names that a request may hold. What they do not allow (a slash, a leading dot, anything long) never reaches a path.

use crate::error::HostError;

const LONGEST_RUN: usize = 64;
const LONGEST_FILE: usize = 48;

/// Checks the name of a run: `d-`, then small letters and digits; a part of it may follow after a dot.
pub(crate) fn run(name: &str) -> Result<&str, HostError> {
    let is_run = name.strip_prefix("d-").is_some_and(|rest| {
        let parts: Vec<_> = rest.split('.').collect();
        parts.len() <= 2 && parts.iter().all(|part| is_word(part))
    });
    checked(
        name,
        is_run && name.len() <= LONGEST_RUN,
        "the name of a run, such as d-7kd2m9qp",
    )
}

/// Checks the name of a file in a run directory.
pub(crate) fn file(name: &str) -> Result<&str, HostError> {
    let is_file = name.split('.').all(is_word) && name.len() <= LONGEST_FILE;
    checked(name, is_file, "the name of a file of a run, such as side.jsonl")
}

fn is_word(part: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    !part.is_empty() && !part.starts_with('-') && part.bytes().all(allowed)
}

fn checked<'a>(name: &'a str, is_good: bool, expected: &str) -> Result<&'a str, HostError> {
    match is_good {
        true => Ok(name),
        false => Err(HostError::usage(format!("{name:?}: expected {expected}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_their_parts_have_names() {
        for good in ["d-7kd2m9qp", "d-7kd2m9qp.load-2"] {
            assert!(run(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn no_name_of_a_run_leads_elsewhere() {
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
    fn no_name_of_a_file_leads_elsewhere() {
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
