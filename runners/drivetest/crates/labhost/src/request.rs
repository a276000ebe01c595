//! What can be asked, and how it comes: a line of JSON for each request, then the bytes of its file, if it sends one.

use std::io::{self, BufRead, Read};

use serde::Deserialize;

use crate::error::HostError;

/// The longest line of JSON. A start with all its words needs a few hundred bytes.
const LONGEST_LINE: u64 = 64 * 1024;

/// One thing that the register asks.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Request {
    /// How this host is, and what runs it.
    Health {},
    /// Which whole drives this host has.
    Drives {},
    /// What a device is and whether it may be written to.
    Identify { path: String },
    /// Under which path a drive is found now.
    Find { drive_key: String, size_bytes: u64 },
    /// Make the run directory, and keep a file in it. `bytes` follow the line.
    Put {
        run: String,
        file: Option<String>,
        bytes: u64,
    },
    /// Start a program of drivetest in the run directory.
    Start(Start),
    /// How the run stands.
    Status { run: String },
    /// End the run.
    Stop { run: String },
    /// Remove the directory of a run that has ended; `generation` is its last.
    Remove {
        run: String,
        drive_key: String,
        generation: u64,
    },
    /// A piece of a file of the run.
    Read {
        run: String,
        file: String,
        offset: u64,
        limit: u64,
    },
}

/// A start. `words` is what the register believes will be run: it is compared, never handed on.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    pub run: String,
    pub drive_key: String,
    pub generation: u64,
    pub words: Vec<String>,
    /// SHA-256 of the program that the register knows; another one starts nothing.
    pub program_sha256: String,
}

/// Reads the next request; None at the end.
pub(crate) fn next(input: &mut impl BufRead) -> io::Result<Option<Result<Request, HostError>>> {
    let mut line = Vec::new();
    input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a request ends within its line",
        ));
    }
    let parsed = serde_json::from_slice(&line);
    Ok(Some(parsed.map_err(|error| {
        HostError::usage(format!(
            "expected a request that drivetest {} knows: {error}",
            env!("CARGO_PKG_VERSION")
        ))
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Result<Request, HostError> {
        next(&mut text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_request_is_a_line() {
        let asked = only("{\"verb\": \"status\", \"run\": \"d-a\"}\n").unwrap();
        assert_eq!(asked, Request::Status { run: "d-a".into() });
        assert!(next(&mut "".as_bytes()).unwrap().is_none());
    }

    #[test]
    fn what_is_unknown_is_an_error_of_that_request() {
        for bad in [
            "{}\n",
            "{\"verb\": \"exec\"}\n",
            "{\"verb\": \"status\", \"run\": \"d-a\", \"as\": \"root\"}\n",
            "x\n",
        ] {
            assert!(only(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_cut_or_endless_line_ends_the_conversation() {
        assert!(next(&mut "{\"verb\":".as_bytes()).is_err());
        assert!(next(&mut "x".repeat(LONGEST_LINE as usize + 1).as_bytes()).is_err());
    }
}
