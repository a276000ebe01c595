//! The delivery of a submission: files, reading, facts, verdict.

use std::thread;
use std::time::{Duration, Instant};

use drivetest_register::{BEGINNINGS_MAX, Client, Error, Upload};
use serde_json::{Map, Value};

use super::progress::UploadProgress;
use super::spool::Submission;

/// Period of requests while the register reads a log.
const POLL_PERIOD: Duration = Duration::from_secs(2);
const FIRST_POLL: Duration = Duration::from_millis(200);

/// A submission that the register has stored.
#[derive(Debug)]
pub struct Delivered {
    /// The submission, as the API returns it.
    pub submission: Value,
    /// Notes of the register about a log that it had before.
    pub notes: Vec<String>,
}

/// Why a submission is not at the register.
#[derive(Debug)]
pub enum Failure {
    /// The request failed.
    Request(Error),
    /// The register cannot read the log: the reader's sentence.
    Unreadable(String),
    /// The register has not read the log in time.
    Unread(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

/// Sends the files of a submission, waits until the register has read the log, and submits it.
///
/// A draft may vanish meanwhile: it expires, the register loses its bytes, or another client deletes it. Then all files
/// are sent again.
pub fn deliver(client: &Client, submission: &Submission, limit: Duration) -> Result<Delivered, Failure> {
    let mut beginnings = 1;
    loop {
        let mut draft = String::new();
        let ended = deliver_once(client, submission, limit, &mut draft);
        let is_gone = matches!(&ended, Err(Failure::Request(Error::Refused(refusal))) if refusal.is_gone());
        // Without a draft, the register refused the first file: another attempt would be refused as well.
        if !is_gone || draft.is_empty() || beginnings == BEGINNINGS_MAX {
            return ended;
        }
        beginnings += 1;
    }
}

/// Delivers a submission as one draft, whose id `draft` becomes. If the register refuses a part of it, the draft is
/// deleted.
fn deliver_once(
    client: &Client,
    submission: &Submission,
    limit: Duration,
    draft: &mut String,
) -> Result<Delivered, Failure> {
    let ended = send_files(client, submission, draft)
        .map_err(Failure::from)
        .and_then(|()| submit(client, &path_of(draft), submission, limit));
    let is_refused = matches!(
        &ended,
        Err(Failure::Unreadable(_) | Failure::Unread(_) | Failure::Request(Error::Refused(_)))
    );
    if is_refused && !draft.is_empty() {
        // Its files would count for the quota of the organisation for days.
        drop(client.delete(&path_of(draft)));
    }
    ended
}

fn path_of(draft: &str) -> String {
    format!("/api/v1/drafts/{draft}/")
}

fn send_files(client: &Client, submission: &Submission, draft: &mut String) -> Result<(), Error> {
    let slice_s = submission.slice_s.to_string();
    for (number, file) in submission.files.iter().enumerate() {
        let mut metadata = vec![("filename", file.name.as_str())];
        if number == 0 {
            metadata.extend([("role", "log"), ("slice_length_s", slice_s.as_str())]);
        } else {
            metadata.extend([("role", "companion"), ("draft", draft.as_str())]);
        }
        let upload = Upload {
            path: &file.path,
            metadata: &metadata,
        };
        let mut progress = UploadProgress::start(&file.name);
        let uploaded = client.upload(upload, &mut |sent, size| progress.show(sent, size))?;
        *draft = uploaded.draft;
    }
    Ok(())
}

fn submit(
    client: &Client,
    path: &str,
    submission: &Submission,
    limit: Duration,
) -> Result<Delivered, Failure> {
    let is_read = |draft: &Value| !matches!(draft["state"].as_str(), Some("arriving" | "reading"));
    let (draft, is_ready) = poll(client, path, limit, is_read)?;
    if !is_ready {
        let seconds = limit.as_secs();
        let address = client.address();
        let sentence = format!("{address}: the register has not read the log within {seconds} s");
        return Err(Failure::Unread(sentence));
    }
    if draft["state"] == "failed" {
        return Err(Failure::Unreadable(reading_error(&draft["reading"])));
    }
    let mut facts: Map<String, Value> = draft["facts"].as_object().cloned().unwrap_or_default();
    facts.extend(submission.facts.clone());
    let receipt = client
        .post(&format!("{path}submit/"), &Value::Object(facts))?
        .document;
    let notes = receipt["notes"].as_array().into_iter().flatten();
    Ok(Delivered {
        notes: notes
            .filter_map(|note| note["detail"].as_str().map(str::to_owned))
            .collect(),
        submission: receipt["submission"].clone(),
    })
}

/// Waits until the register has read a submission. Returns it, and whether it was read within the limit.
pub fn await_verdict(client: &Client, submission: &Value, limit: Duration) -> Result<(Value, bool), Error> {
    if !is_pending(submission) {
        return Ok((submission.clone(), true));
    }
    let id = submission["id"].as_str().unwrap_or_default();
    poll(
        client,
        &format!("/api/v1/submissions/{id}/"),
        limit,
        |submission| !is_pending(submission),
    )
}

fn is_pending(submission: &Value) -> bool {
    matches!(submission["state"].as_str(), Some("received" | "reading"))
}

/// Returns why the reading of a log failed.
pub fn reading_error(reading: &Value) -> String {
    let sentence = reading["error"]["sentence"].as_str();
    sentence
        .unwrap_or("the register could not read the log")
        .to_owned()
}

fn poll(
    client: &Client,
    path: &str,
    limit: Duration,
    is_done: impl Fn(&Value) -> bool,
) -> Result<(Value, bool), Error> {
    let (begin, mut period) = (Instant::now(), FIRST_POLL);
    loop {
        let document = client.get(path)?.document;
        let done = is_done(&document);
        if done || begin.elapsed() >= limit {
            return Ok((document, done));
        }
        thread::sleep(period);
        period = (period * 2).min(POLL_PERIOD);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::path::Path;
    use std::sync::mpsc;

    use drivetest_register::Settings;

    use super::super::spool::SentFile;
    use super::*;

    const LOG: &[u8] = b"a log";

    /// Serves requests with the replies of a function, and reports each request before its reply.
    fn serve(
        respond: impl Fn(&str, usize) -> (u16, &'static str) + Send + 'static,
    ) -> (Client, mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let settings = Settings {
            address: format!("http://{}", listener.local_addr().unwrap()),
            token: "dc_test".to_owned(),
            ca_file: None,
            patience: Duration::from_secs(20),
            on_retry: |error, _| eprintln!("repeated: {error}"),
        };
        let (report, reports) = mpsc::channel();
        thread::spawn(move || {
            let mut earlier: Vec<String> = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read_request(&stream);
                let times = earlier.iter().filter(|each| **each == request).count();
                let (status, body) = respond(&request, times);
                let head = format!("HTTP/1.1 {status} Test\r\nContent-Length: {}", body.len());
                let of_upload = format!("Upload-Offset: {}\r\nDrivecert-Draft: p-1", LOG.len());
                let headers = format!("Location: /uploads/k/\r\n{of_upload}\r\nConnection: close");
                earlier.push(request.clone());
                let _ = report.send(request);
                write!(stream, "{head}\r\n{headers}\r\n\r\n{body}").unwrap();
            }
        });
        (Client::new(&settings).unwrap(), reports)
    }

    /// Returns the method and the path of a request, after its body: `GET /api/v1/drafts/p-1/`. The role of an announced
    /// file follows: `POST /uploads/ log`.
    fn read_request(stream: &TcpStream) -> String {
        let mut reader = BufReader::new(stream);
        let (mut first, mut length, mut role) = (String::new(), 0, None);
        reader.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap();
            }
            // The rest of a body in pieces may come after the reply, and would reset the connection.
            assert!(
                !name.eq_ignore_ascii_case("transfer-encoding"),
                "expected a stated length, got {line}"
            );
            if name.eq_ignore_ascii_case("upload-metadata") {
                let is_log = value.contains("role bG9n"); // log in Base64
                role = Some(if is_log { "log" } else { "companion" });
            }
        }
        reader.take(length).read_to_end(&mut Vec::new()).unwrap();
        let words: Vec<&str> = first.split(' ').take(2).chain(role).collect();
        words.join(" ")
    }

    /// Returns a submission of files with these names.
    fn submission(folder: &Path, names: &[&str]) -> Submission {
        let files = names.iter().map(|name| {
            let path = folder.join(name);
            std::fs::write(&path, LOG).unwrap();
            SentFile {
                path,
                name: (*name).to_owned(),
            }
        });
        Submission {
            files: files.collect(),
            facts: Map::new(),
            slice_s: 3600,
        }
    }

    /// Delivers a log to a register that answers the first requests for the draft or its submission with a status.
    fn deliver_after(gone: &'static str, status: u16, times: usize) -> (Result<Delivered, Failure>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let (client, requests) = serve(move |request, earlier| match request {
            _ if request == gone && earlier < times => (status, "{}"),
            ANNOUNCED_LOG => (201, ""),
            "PATCH /uploads/k/" => (204, ""),
            "GET /api/v1/drafts/p-1/" => (200, r#"{"state": "read", "facts": {}}"#),
            "POST /api/v1/drafts/p-1/submit/" => (201, r#"{"submission": {"id": "s-1"}, "notes": []}"#),
            _ => (204, ""),
        });
        let ended = deliver(
            &client,
            &submission(folder.path(), &["load.log"]),
            Duration::from_secs(60),
        );
        let uploads = requests.try_iter().filter(|each| each == ANNOUNCED_LOG).count();
        (ended, uploads)
    }

    const DRAFT: &str = "GET /api/v1/drafts/p-1/";
    const SUBMIT: &str = "POST /api/v1/drafts/p-1/submit/";
    const DELETE: &str = "DELETE /api/v1/drafts/p-1/";
    const ANNOUNCED_LOG: &str = "POST /uploads/ log";
    const ANNOUNCED_COMPANION: &str = "POST /uploads/ companion";

    #[test]
    fn a_draft_that_vanished_is_sent_again() {
        for (request, status) in [(DRAFT, 404), (SUBMIT, 404), (SUBMIT, 410)] {
            for times in 0..3 {
                let (ended, uploads) = deliver_after(request, status, times);
                assert_eq!(ended.unwrap().submission["id"], "s-1", "{request} {status}");
                assert_eq!(uploads, times + 1, "{request} {status}");
            }
        }
    }

    #[test]
    fn a_draft_that_vanishes_each_time_is_refused_after_three_attempts() {
        let (ended, uploads) = deliver_after(DRAFT, 404, usize::MAX);
        assert!(matches!(ended, Err(Failure::Request(Error::Refused(refusal))) if refusal.status == 404));
        assert_eq!(uploads, 3);
    }

    #[test]
    fn another_refusal_is_final() {
        let (ended, uploads) = deliver_after(SUBMIT, 409, usize::MAX);
        assert!(matches!(ended, Err(Failure::Request(Error::Refused(refusal))) if refusal.status == 409));
        assert_eq!(uploads, 1);
    }

    /// Delivers a log and a companion to a register that refuses one of them. Returns the status and all requests.
    fn deliver_refused(refused: &'static str, status: u16) -> (u16, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let (client, requests) = serve(move |request, _| match request {
            _ if request == refused => (status, "{}"),
            ANNOUNCED_LOG | ANNOUNCED_COMPANION => (201, ""),
            _ => (204, ""),
        });
        let submission = submission(folder.path(), &["load.log", "load.log.side.jsonl"]);
        match deliver(&client, &submission, Duration::from_secs(60)) {
            Err(Failure::Request(Error::Refused(refusal))) => (refusal.status, requests.try_iter().collect()),
            ended => panic!("expected a refusal, got {ended:?}"),
        }
    }

    #[test]
    fn each_draft_whose_companion_is_gone_is_deleted_before_the_next_one_begins() {
        let (status, requests) = deliver_refused(ANNOUNCED_COMPANION, 410);
        let sent = [ANNOUNCED_LOG, "PATCH /uploads/k/"];
        let refused = [ANNOUNCED_COMPANION; BEGINNINGS_MAX as usize];
        let of_draft = [&sent[..], &refused[..], &[DELETE]].concat();
        assert_eq!(status, 410);
        assert_eq!(requests, of_draft.repeat(BEGINNINGS_MAX as usize));
    }

    #[test]
    fn a_draft_whose_companion_is_refused_is_deleted_and_not_begun_again() {
        let (status, requests) = deliver_refused(ANNOUNCED_COMPANION, 413);
        let expected = [ANNOUNCED_LOG, "PATCH /uploads/k/", ANNOUNCED_COMPANION, DELETE];
        assert_eq!((status, requests), (413, expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn no_draft_is_deleted_if_the_log_is_refused_because_none_began() {
        let (status, requests) = deliver_refused(ANNOUNCED_LOG, 413);
        assert_eq!((status, requests), (413, vec![ANNOUNCED_LOG.to_owned()]));
    }
}
