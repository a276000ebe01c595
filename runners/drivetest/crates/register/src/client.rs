//! Requests to the API of a register, with the errors that a caller has to distinguish.

use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use thiserror::Error;
use ureq::http::{self, HeaderMap, Method, Request, StatusCode};
use ureq::{Agent, AsSendBody, Body};

use crate::backoff::Backoff;
use crate::transport::{self, SettingsError};

/// Maximum size of a response.
const RESPONSE_BYTES_MAX: u64 = 64 << 20;
/// Characters of a response that is no problem document, in messages.
const SHOWN_CHARS: usize = 300;

/// Which register to use, and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address of the register.
    pub address: String,
    /// The API token.
    pub token: String,
    /// The only roots to trust.
    pub ca_file: Option<PathBuf>,
    /// How long to repeat a request that brings nothing forward.
    pub patience: Duration,
}

/// Why a request failed.
#[derive(Debug, Error)]
pub enum Error {
    /// The register cannot be reached, or is not ready. The same request may succeed later.
    #[error("{reason}")]
    Unavailable {
        /// What happened.
        reason: String,
        /// How long the register requires clients to wait.
        retry_after: Option<Duration>,
    },
    /// The register refuses the request. The same request would be refused again.
    #[error("{0}")]
    Refused(Refusal),
    /// A local file cannot be read.
    #[error("{path}: cannot be read: {error}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The refusal of a request.
#[derive(Debug, Error)]
#[error("{detail} (status {status})")]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The code of the reason; empty without one.
    pub code: String,
    /// The sentence for people.
    pub detail: String,
    /// Names of the fields that are missing or invalid, and why.
    pub fields: Vec<(String, String)>,
}

impl Refusal {
    /// Returns whether the token is refused, and not the request itself.
    pub fn is_of_token(&self) -> bool {
        matches!(self.status, 401 | 403)
    }
}

/// A response of the API that is no error.
#[derive(Debug)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The document; null for an empty body.
    pub document: Value,
    pub(crate) headers: HeaderMap,
}

impl Response {
    /// Returns a header as text; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// A client of a register.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    address: String,
    token: String,
    patience: Duration,
}

impl Client {
    /// Returns a client. It connects with the first request.
    ///
    /// # Errors
    /// If the address or the file of roots cannot be used.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let address = transport::check_address(&settings.address)?;
        Ok(Self {
            agent: transport::agent(&address, settings.ca_file.as_deref())?,
            address,
            token: settings.token.clone(),
            patience: settings.patience,
        })
    }

    /// Returns the address of the register without a slash at its end.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Reads a document of the API.
    ///
    /// # Errors
    /// If the register is not available for too long, or refuses the request.
    pub fn get(&self, path: &str) -> Result<Response, Error> {
        self.repeat(|| self.send(self.request(Method::GET, path), ()))
    }

    /// Sends a document to an endpoint for which a repeated request is the same as one.
    ///
    /// # Errors
    /// If the register is not available for too long, or refuses the request.
    pub fn post(&self, path: &str, document: &Value) -> Result<Response, Error> {
        let body = document.to_string();
        let request = || self.request(Method::POST, path).header("Content-Type", "application/json");
        self.repeat(|| self.send(request(), body.as_str()))
    }

    /// Returns the attempts of a request.
    pub(crate) fn backoff(&self) -> Backoff {
        Backoff::new(self.patience)
    }

    /// Repeats an attempt while the register is not available.
    pub(crate) fn repeat<T>(&self, mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        let mut backoff = self.backoff();
        loop {
            match attempt() {
                Err(error) => pause(&mut backoff, error)?,
                done => return done,
            }
        }
    }

    /// Returns a request with the token. `path` may be a whole address of the register.
    pub(crate) fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let address = if path.starts_with('/') { format!("{}{path}", self.address) } else { path.to_owned() };
        let token = format!("Bearer {}", self.token);
        Request::builder().method(method).uri(address).header("Authorization", token)
    }

    /// Sends a request once.
    pub(crate) fn send(&self, request: http::request::Builder, body: impl AsSendBody) -> Result<Response, Error> {
        let request = request.body(body).map_err(|error| Error::Refused(Refusal {
            status: 0,
            code: "invalid-request".to_owned(),
            detail: error.to_string(),
            fields: Vec::new(),
        }))?;
        let response = self.agent.run(request).map_err(|error| self.unavailable(&error))?;
        self.response_of(response)
    }

    fn unavailable(&self, error: &ureq::Error) -> Error {
        Error::Unavailable {
            reason: format!("{}: {error}", self.address),
            retry_after: None,
        }
    }

    fn response_of(&self, response: http::Response<Body>) -> Result<Response, Error> {
        let (parts, mut body) = response.into_parts();
        let bytes = body.with_config().limit(RESPONSE_BYTES_MAX).read_to_vec();
        let bytes = bytes.map_err(|error| self.unavailable(&error))?;
        let document = serde_json::from_slice(&bytes);
        if parts.status.is_success() {
            return Ok(Response {
                status: parts.status.as_u16(),
                document: document.unwrap_or_default(),
                headers: parts.headers,
            });
        }
        let refusal = refusal(parts.status, &parts.headers, document.unwrap_or_default(), &bytes);
        if is_temporary(parts.status) {
            return Err(Error::Unavailable {
                reason: format!("{}: {refusal}", self.address),
                retry_after: retry_after(&parts.headers),
            });
        }
        Err(Error::Refused(refusal))
    }
}

/// Waits before the next attempt. Returns the error if it is final, or if the client gives up.
pub(crate) fn pause(backoff: &mut Backoff, error: Error) -> Result<(), Error> {
    let Error::Unavailable { retry_after, .. } = &error else {
        return Err(error);
    };
    match backoff.wait(*retry_after) {
        Some(wait) => thread::sleep(wait),
        None => return Err(error),
    }
    Ok(())
}

/// Returns whether a later request may succeed: the register or a proxy is overloaded, full, or has an error.
fn is_temporary(status: StatusCode) -> bool {
    status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
        || matches!(status.as_u16(), 408 | 425 | 429)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("Retry-After")?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

fn refusal(status: StatusCode, headers: &HeaderMap, document: Value, bytes: &[u8]) -> Refusal {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let errors = document["errors"].as_array().into_iter().flatten();
    let fields = errors.map(|error| (text(&error["field"]), text(&error["detail"]))).collect();
    let detail = match (document["detail"].as_str(), headers.get("Location")) {
        (Some(detail), _) => detail.to_owned(),
        (None, Some(location)) if status.is_redirection() => {
            let location = location.to_str().unwrap_or_default();
            format!("the address redirects to {location}; use that one")
        }
        _ => {
            let is_page = bytes.trim_ascii_start().starts_with(b"<");
            let shown = if is_page { "" } else { str::from_utf8(bytes).unwrap_or_default().trim() };
            let shown: String = shown.chars().take(SHOWN_CHARS).collect();
            if shown.is_empty() { status.to_string() } else { shown }
        }
    };
    Refusal {
        status: status.as_u16(),
        code: text(&document["code"]),
        detail,
        fields,
    }
}
