//! Requests of the register: one JSON line each, followed by the bytes of a file if the request sends one.

use std::io::{self, BufRead, Read};

use serde::Deserialize;

use crate::error::HostError;

/// Maximum size of a JSON line. A start needs a few hundred bytes.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// A request of the register.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Request {
    /// Return the health of this host.
    Health {},
    /// List the drives of this host.
    Drives {},
    /// Return the identity of a device, and whether it is safe to write to.
    Identify { path: String },
    /// Return the current paths of a drive.
    Find { drive_key: String, size_bytes: u64 },
    /// Create the directory of a run, and store a file in it. Its `bytes` follow the line.
    Put {
        run: String,
        file: Option<String>,
        bytes: u64,
    },
    /// Start a drivetest command in the directory of a run.
    Start(Start),
    /// Return the status of a run.
    Status { run: String },
    /// Stop a run.
    Stop { run: String },
    /// Remove the directory of a finished run. `generation` is its last one.
    Remove(Removal),
    /// Return a part of a file of a run.
    Read {
        run: String,
        file: String,
        offset: u64,
        limit: u64,
    },
}

/// A start. `words` is the command line that the register expects. It is only compared, never executed.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    pub run: String,
    pub drive_key: String,
    pub generation: u64,
    pub words: Vec<String>,
    /// SHA-256 of the program that the register expects. Another program refuses the start.
    pub program_sha256: String,
}

/// A run to remove, its drive, and its last generation on that drive.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Removal {
    pub run: String,
    pub drive_key: String,
    pub generation: u64,
}

/// Reads the next request. Returns None at the end of the input.
pub(crate) fn next(input: &mut impl BufRead) -> io::Result<Option<Result<Request, HostError>>> {
    let mut line = Vec::new();
    input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the input ended in the middle of a request",
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
        let request = only("{\"verb\": \"status\", \"run\": \"d-a\"}\n").unwrap();
        assert_eq!(request, Request::Status { run: "d-a".into() });
        assert!(next(&mut "".as_bytes()).unwrap().is_none());
    }

    #[test]
    fn an_unknown_request_is_an_error_of_that_request() {
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
    fn a_truncated_or_endless_line_ends_the_service() {
        assert!(next(&mut "{\"verb\":".as_bytes()).is_err());
        assert!(next(&mut "x".repeat(LINE_BYTES_MAX as usize + 1).as_bytes()).is_err());
    }
}
