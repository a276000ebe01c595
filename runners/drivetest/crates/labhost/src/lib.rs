//! The service on a lab host that carries out the requests of a register with root rights.
//!
//! `drivetest host` is the only command that the sudo rule allows. It accepts no argument and no environment. Requests come
//! on standard input as JSON lines, and each gets one JSON line as its response. The service writes into one directory,
//! loads only drives that the operator has listed, builds every command line itself, and accepts no plain file as a drive.
//! It runs other programs only as `drivetest watch` does: by the names, arguments and users that the operator has listed.
//! Someone with the register's key can therefore load listed drives, run listed programs, stop both and read their output.
//! They cannot run another command, choose a path to write to, or become root.

#![forbid(unsafe_code)]

mod command_line;
mod device;
mod error;
mod health;
mod removal;
mod run_store;
mod settings;
mod start;

pub use error::HostError;
pub use health::{has_systemd, program_sha256};
pub use settings::{SETTINGS_FILE, Settings, read_trusted};

use std::io::{self, BufRead, Read, Write};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Kind;
use crate::health::Health;
use crate::run_store::RunStore;

/// Maximum bytes that one request reads, because the response is built in memory.
const READ_BYTES_MAX: u64 = 4 << 20;

/// The response to a request: a document, and for `read` the bytes that follow its line.
type Response = (Value, Vec<u8>);

/// Responds on `output` to every request on `input`, with a line `{"ok": ..., "bytes": N, "worked_ms": M}` and N bytes, or with
/// `{"error": {"kind", "sentence"}, "bytes": 0, "worked_ms": M}`. M is the time that the request took on this host. With it, the
/// register can distinguish a busy host from a slow connection.
///
/// # Errors
/// If the connection breaks: a line without end, a truncated file, or a closed output.
pub fn serve(settings: &Settings, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    while let Some(request) = next_request(&mut input)? {
        let sent_bytes = match &request {
            Ok(Request::Put { bytes, .. }) => *bytes,
            _ => 0,
        };
        let mut content = input.by_ref().take(sent_bytes);
        let begun = Instant::now();
        let result = request.and_then(|request| execute(settings, request, &mut content));
        // Waiting for a file is time of the connection, not of this host.
        let worked = if sent_bytes == 0 {
            begun.elapsed()
        } else {
            Duration::ZERO
        };
        // The rest of a refused file is skipped, so that the next line is the next request.
        io::copy(&mut content, &mut io::sink())?;
        write(&mut output, result, worked)?;
    }
    Ok(())
}

fn write(output: &mut impl Write, result: Result<Response, HostError>, worked: Duration) -> io::Result<()> {
    let worked_ms = u64::try_from(worked.as_millis()).unwrap_or(u64::MAX);
    let (line, bytes) = match result {
        Ok((document, bytes)) => {
            let line = json!({"ok": document, "bytes": bytes.len(), "worked_ms": worked_ms});
            (line, bytes)
        }
        Err(HostError { kind, sentence }) => {
            let error = json!({"kind": kind, "sentence": sentence});
            let line = json!({"error": error, "bytes": 0, "worked_ms": worked_ms});
            (line, Vec::new())
        }
    };
    writeln!(output, "{line}")?;
    output.write_all(&bytes)?;
    output.flush()
}

fn execute(settings: &Settings, request: Request, content: &mut impl Read) -> Result<Response, HostError> {
    let store = RunStore::open(&settings.state_dir)?;
    match request {
        Request::Health {} => document(&Health::read(settings, &store)?),
        Request::Drives {} => document(&device::list()?),
        Request::Identify { path } => document(&device::identify(&path)?),
        Request::Find {
            drive_key,
            size_bytes,
        } => document(&device::find(&drive_key, size_bytes)?),
        Request::Put { run, file, bytes } => {
            store.put(&run, file.as_deref(), bytes, content)?;
            document(&Value::Null)
        }
        Request::Start(request) => document(&start::start(settings, &store, &request)?),
        Request::Status { run } => document(&retryable(drivetest_detached::status(&store.run_dir(&run)?))?),
        Request::Stop { run } => document(&retryable(drivetest_detached::stop(&store.run_dir(&run)?))?),
        Request::Remove(request) => document(&removal::remove(settings, &store, &request)?),
        Request::Read {
            run,
            file,
            offset,
            limit,
        } => {
            let bytes = store.read(&run, &file, offset, limit.min(READ_BYTES_MAX))?;
            Ok((Value::Null, bytes))
        }
    }
}

fn document(record: &impl Serialize) -> Result<Response, HostError> {
    Ok((retryable(serde_json::to_value(record))?, Vec::new()))
}

/// Converts an error of a run directory. The register may repeat the request.
pub(crate) fn retryable<Record, E: ToString>(result: Result<Record, E>) -> Result<Record, HostError> {
    result.map_err(|error| HostError::new(Kind::Unanswered, error.to_string()))
}

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
fn next_request(input: &mut impl BufRead) -> io::Result<Option<Result<Request, HostError>>> {
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

    fn responses(input: &[u8]) -> (Vec<String>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            drives: vec!["nvme:M:S1".into()],
            state_dir: folder.path().join("state"),
            updates: Vec::new(),
        };
        let mut output = Vec::new();
        serve(&settings, input, &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        (text.lines().map(str::to_owned).collect(), folder)
    }

    #[test]
    fn several_requests_are_answered_in_their_order() {
        let input = b"{\"verb\":\"put\",\"run\":\"d-a\",\"file\":\"config\",\"bytes\":3}\nabc\
            {\"verb\":\"read\",\"run\":\"d-a\",\"file\":\"config\",\"offset\":1,\"limit\":9}\n\
            {\"verb\":\"status\",\"run\":\"d-a\"}\n";
        let (lines, _folder) = responses(input);
        for (line, bytes) in lines.iter().zip([0, 2]) {
            let response: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&response["bytes"], &response["ok"]),
                (&json!(bytes), &Value::Null)
            );
            assert!(response["worked_ms"].is_u64(), "{line}");
        }
        assert!(
            lines[2].starts_with("bc{") && lines[2].contains("\"absent\""),
            "{lines:?}"
        );
    }

    #[test]
    fn the_drives_of_the_host_are_listed() {
        let (lines, _folder) = responses(b"{\"verb\":\"drives\"}\n");
        let response: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(response["ok"]["schema"], "drivecert.drives/1");
        assert!(response["ok"]["drives"].is_array(), "{response}");
    }

    #[test]
    fn the_file_of_a_refused_request_is_skipped() {
        let input = b"{\"verb\":\"put\",\"run\":\"d-a\",\"file\":\"pid\",\"bytes\":4}\nxxx\n{\"verb\":\"status\",\"run\":\"d-a\"}\n";
        let (lines, _folder) = responses(input);
        assert!(lines[0].contains("\"kind\":\"refused\""), "{lines:?}");
        assert!(lines[1].contains("\"absent\""), "{lines:?}");
    }

    #[test]
    fn a_generation_that_is_too_high_is_refused_before_it_is_stored() {
        let request = json!({"verb": "start", "run": "d-a", "drive_key": "nvme:M:S1", "generation": u64::MAX,
            "words": ["storage", "config"], "program_sha256": "x"});
        let (lines, folder) = responses(format!("{request}\n").as_bytes());
        assert!(
            lines.concat().contains("expected at most 2146483647"),
            "{lines:?}"
        );
        assert!(!folder.path().join("state/locks").exists());
    }

    #[test]
    fn a_request_can_remove_only_a_run() {
        let (_, folder) = responses(b"{\"verb\":\"put\",\"run\":\"d-a\",\"file\":\"config\",\"bytes\":1}\nx");
        let settings = Settings {
            drives: Vec::new(),
            state_dir: folder.path().join("state"),
            updates: Vec::new(),
        };
        let remove = |run: &str| {
            let request = json!({"verb": "remove", "run": run, "drive_key": "nvme:M:S1", "generation": 7});
            let mut output = Vec::new();
            serve(&settings, format!("{request}\n").as_bytes(), &mut output).unwrap();
            String::from_utf8(output).unwrap()
        };
        assert!(remove("locks").contains("\"kind\":\"usage\""));
        assert!(remove("d-a").contains("\"removed\":true"));
        assert!(!settings.state_dir.join("d-a").exists() && settings.state_dir.join("locks").exists());
    }

    #[test]
    fn an_unlisted_drive_is_never_loaded() {
        let start = |key: &str| {
            let request = json!({"verb": "start", "run": "d-a", "drive_key": key, "generation": 1,
                "words": ["storage", "config"], "program_sha256": "x"});
            responses(format!("{request}\n").as_bytes()).0.concat()
        };
        assert!(start("nvme:M:S2").contains("not among the 1 drives"));
        assert!(start("nvme:M:S1").contains("expected the program with SHA-256 x"));
    }

    fn only(text: &str) -> Result<Request, HostError> {
        next_request(&mut text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_request_is_a_line() {
        let request = only("{\"verb\": \"status\", \"run\": \"d-a\"}\n").unwrap();
        assert_eq!(request, Request::Status { run: "d-a".into() });
        assert!(next_request(&mut "".as_bytes()).unwrap().is_none());
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
        assert!(next_request(&mut "{\"verb\":".as_bytes()).is_err());
        assert!(next_request(&mut "x".repeat(LINE_BYTES_MAX as usize + 1).as_bytes()).is_err());
    }
}
