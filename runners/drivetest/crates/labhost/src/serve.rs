//! The conversation: one answer for each request, in their order, until there are no more.

use std::io::{self, BufRead, Read, Write};
use std::time::{Duration, Instant};

use drivetest_detached::DetachError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::device;
use crate::error::{HostError, Kind};
use crate::health::Health;
use crate::removal::{self, Asked};
use crate::request::{self, Request};
use crate::run_store::Place;
use crate::settings::Settings;
use crate::start;

/// The longest piece that one request reads; the answer is held in memory.
const LONGEST_PIECE: u64 = 4 << 20;

/// What a request led to: a document, and for `read` the bytes that follow its line.
struct Told {
    document: Value,
    bytes: Vec<u8>,
}

/// Answers every request of `input` on `output`: a line `{"ok": ..., "bytes": N, "worked_ms": M}` with N bytes after it, or
/// `{"error": {"kind", "sentence"}, "bytes": 0, "worked_ms": M}`. M is how long the answer took here: the register tells a
/// host that was at work (a drive is watched for a second, a run settles) from a link that was cut.
///
/// # Errors
/// When the conversation breaks off: a line without end, a file cut short, nobody who listens.
pub fn serve(settings: &Settings, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    while let Some(asked) = request::next(&mut input)? {
        let sent_bytes = match &asked {
            Ok(Request::Put { bytes, .. }) => *bytes,
            _ => 0,
        };
        let mut content = input.by_ref().take(sent_bytes);
        let begun = Instant::now();
        let answer = asked.and_then(|request| carry_out(settings, request, &mut content));
        // A file that comes meanwhile is waited for: that is the link's time.
        let worked = if sent_bytes == 0 {
            begun.elapsed()
        } else {
            Duration::ZERO
        };
        // What a refused request has sent is passed over, so that the next line is the next request.
        io::copy(&mut content, &mut io::sink())?;
        write(&mut output, answer, worked)?;
    }
    Ok(())
}

fn write(output: &mut impl Write, answer: Result<Told, HostError>, worked: Duration) -> io::Result<()> {
    let worked_ms = u64::try_from(worked.as_millis()).unwrap_or(u64::MAX);
    let (line, bytes) = match answer {
        Ok(told) => (
            json!({"ok": told.document, "bytes": told.bytes.len(), "worked_ms": worked_ms}),
            told.bytes,
        ),
        Err(error) => {
            let told = json!({"kind": error.kind, "sentence": error.sentence});
            (
                json!({"error": told, "bytes": 0, "worked_ms": worked_ms}),
                Vec::new(),
            )
        }
    };
    writeln!(output, "{line}")?;
    output.write_all(&bytes)?;
    output.flush()
}

fn carry_out(settings: &Settings, request: Request, content: &mut impl Read) -> Result<Told, HostError> {
    let place = Place::at(&settings.state_dir)?;
    match request {
        Request::Health {} => document(&Health::look(settings, &place)?),
        Request::Drives {} => document(&device::list()?),
        Request::Identify { path } => document(&device::identify(&path)?),
        Request::Find {
            drive_key,
            size_bytes,
        } => document(&device::find(&drive_key, size_bytes)?),
        Request::Put { run, file, bytes } => {
            place.put(&run, file.as_deref(), bytes, content)?;
            document(&Value::Null)
        }
        Request::Start(asked) => document(&start::start(settings, &place, &asked)?),
        Request::Status { run } => document(&known(drivetest_detached::status(&place.run_dir(&run)?))?),
        Request::Stop { run } => document(&known(drivetest_detached::stop(&place.run_dir(&run)?))?),
        Request::Remove {
            run,
            drive_key,
            generation,
        } => {
            let (run, drive_key) = (&*run, &*drive_key);
            let asked = Asked {
                run,
                drive_key,
                generation,
            };
            document(&removal::remove(settings, &place, &asked)?)
        }
        Request::Read {
            run,
            file,
            offset,
            limit,
        } => {
            let bytes = place.read(&run, &file, offset, limit.min(LONGEST_PIECE))?;
            Ok(Told {
                document: Value::Null,
                bytes,
            })
        }
    }
}

fn document(answer: &impl Serialize) -> Result<Told, HostError> {
    let document = serde_json::to_value(answer);
    let document = document.map_err(|error| HostError::new(Kind::Unanswered, error.to_string()))?;
    Ok(Told {
        document,
        bytes: Vec::new(),
    })
}

/// What the run directories cannot tell now may be asked again.
pub(crate) fn known<Status>(answer: Result<Status, DetachError>) -> Result<Status, HostError> {
    answer.map_err(|error| HostError::new(Kind::Unanswered, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(input: &[u8]) -> (Vec<String>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            drives: vec!["nvme:M:S1".into()],
            state_dir: folder.path().join("state"),
        };
        let mut output = Vec::new();
        serve(&settings, input, &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        (text.lines().map(str::to_owned).collect(), folder)
    }

    #[test]
    fn several_requests_are_answered_in_their_order() {
        let asked = b"{\"verb\":\"put\",\"run\":\"d-a\",\"file\":\"config\",\"bytes\":3}\nabc\
            {\"verb\":\"read\",\"run\":\"d-a\",\"file\":\"config\",\"offset\":1,\"limit\":9}\n\
            {\"verb\":\"status\",\"run\":\"d-a\"}\n";
        let (lines, _folder) = conversation(asked);
        for (line, bytes) in lines.iter().zip([0, 2]) {
            let told: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&told["bytes"], &told["ok"]), (&json!(bytes), &Value::Null));
            assert!(told["worked_ms"].is_u64(), "{line}");
        }
        assert!(
            lines[2].starts_with("bc{") && lines[2].contains("\"absent\""),
            "{lines:?}"
        );
    }

    #[test]
    fn the_drives_of_the_host_are_told() {
        let (lines, _folder) = conversation(b"{\"verb\":\"drives\"}\n");
        let told: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(told["ok"]["schema"], "drivecert.drives/1");
        assert!(told["ok"]["drives"].is_array(), "{told}");
    }

    #[test]
    fn what_a_refused_request_has_sent_is_passed_over() {
        let asked = b"{\"verb\":\"put\",\"run\":\"d-a\",\"file\":\"pid\",\"bytes\":4}\nxxx\n{\"verb\":\"status\",\"run\":\"d-a\"}\n";
        let (lines, _folder) = conversation(asked);
        assert!(lines[0].contains("\"kind\":\"refused\""), "{lines:?}");
        assert!(lines[1].contains("\"absent\""), "{lines:?}");
    }

    #[test]
    fn a_generation_that_nobody_could_follow_is_refused_before_the_drive_keeps_it() {
        let asked = json!({"verb": "start", "run": "d-a", "drive_key": "nvme:M:S1", "generation": u64::MAX,
            "words": ["storage", "config"], "program_sha256": "x"});
        let (lines, folder) = conversation(format!("{asked}\n").as_bytes());
        assert!(
            lines.concat().contains("expected at most 2146483647"),
            "{lines:?}"
        );
        assert!(!folder.path().join("state/locks").exists());
    }

    #[test]
    fn a_run_is_removed_and_nothing_else_is() {
        let (_, folder) =
            conversation(b"{\"verb\":\"put\",\"run\":\"d-a\",\"file\":\"config\",\"bytes\":1}\nx");
        let settings = Settings {
            drives: Vec::new(),
            state_dir: folder.path().join("state"),
        };
        let asked = |run: &str| {
            let asked = json!({"verb": "remove", "run": run, "drive_key": "nvme:M:S1", "generation": 7});
            let mut output = Vec::new();
            serve(&settings, format!("{asked}\n").as_bytes(), &mut output).unwrap();
            String::from_utf8(output).unwrap()
        };
        assert!(asked("locks").contains("\"kind\":\"usage\""));
        assert!(asked("d-a").contains("\"removed\":true"));
        assert!(!settings.state_dir.join("d-a").exists() && settings.state_dir.join("locks").exists());
    }

    #[test]
    fn a_drive_that_is_not_listed_is_never_loaded() {
        let start = |key: &str| {
            let asked = json!({"verb": "start", "run": "d-a", "drive_key": key, "generation": 1,
                "words": ["storage", "config"], "program_sha256": "x"});
            conversation(format!("{asked}\n").as_bytes()).0.concat()
        };
        assert!(start("nvme:M:S2").contains("not among the 1 drives"));
        assert!(start("nvme:M:S1").contains("expected the program with SHA-256 x"));
    }
}
