//! The delivery of a submission: files, reading, facts, verdict.

use std::thread;
use std::time::{Duration, Instant};

use drivetest_register::{Client, Error, Upload};
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
pub fn deliver(client: &Client, submission: &Submission, limit: Duration) -> Result<Delivered, Failure> {
    let draft = send_files(client, submission)?;
    let path = format!("/api/v1/drafts/{draft}/");
    let ended = submit(client, &path, submission, limit);
    let is_refused = matches!(
        &ended,
        Err(Failure::Unreadable(_) | Failure::Unread(_) | Failure::Request(Error::Refused(_)))
    );
    if is_refused {
        // Its files would count for the quota of the organisation for days.
        drop(client.delete(&path));
    }
    ended
}

fn send_files(client: &Client, submission: &Submission) -> Result<String, Error> {
    let slice_s = submission.slice_s.to_string();
    let mut draft = String::new();
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
        draft = uploaded.draft;
    }
    Ok(draft)
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
