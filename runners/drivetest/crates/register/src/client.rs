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
use crate::certificate;
use crate::transport::{self, SettingsError};

/// Maximum size of a response.
const RESPONSE_BYTES_MAX: u64 = 64 << 20;
/// A response to a waiting request must come within its wait and this time.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// Characters of a response that is no problem document, in messages.
const SHOWN_CHARS: usize = 300;

/// Which register to use, and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address of the register.
    pub address: String,
    /// The API token; empty for requests that need none.
    pub token: String,
    /// The only roots to trust.
    pub ca_file: Option<PathBuf>,
    /// How long to repeat a request that brings nothing forward.
    pub patience: Duration,
    /// Gets each failed attempt, and how long the client waits before the next one.
    pub on_retry: fn(&Error, Duration),
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
    /// The response has the form of a register's refusal. A proxy may have sent another one.
    pub is_of_register: bool,
}

impl Refusal {
    /// Returns the refusal of a server that does not behave as a register.
    pub(crate) fn of_other_server(status: u16, detail: String) -> Self {
        Self {
            status,
            code: "no-register".to_owned(),
            detail: format!("{detail}; is this a register?"),
            fields: Vec::new(),
            is_of_register: false,
        }
    }

    /// Returns whether the upload or draft of a request has vanished, or its bytes have: files are sent again.
    pub fn is_gone(&self) -> bool {
        matches!(self.status, 404 | 410)
    }

    /// Returns whether the request itself is refused: another token, or another way to the register, changes nothing.
    pub fn is_of_request(&self) -> bool {
        self.is_of_register && !matches!(self.status, 401 | 403)
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
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

/// A client of a register.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    address: String,
    token: String,
    patience: Duration,
    on_retry: fn(&Error, Duration),
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
            on_retry: settings.on_retry,
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

    /// Reads a document once, if it differs from the one with `etag`. The register may wait for a change. The status is
    /// 304 if there was none.
    ///
    /// # Errors
    /// If the register is not available, or refuses the request.
    pub fn wait_for_change(&self, path: &str, etag: &str, wait: Duration) -> Result<Response, Error> {
        let mut request = self.request(Method::GET, path);
        if !etag.is_empty() {
            request = request.header("If-None-Match", etag);
        }
        self.send_within(request, (), Some(wait + ANSWER_LIMIT))
    }

    /// Reads a file of at most `limit` bytes.
    ///
    /// # Errors
    /// If the register is not available for too long, or refuses the request, or the file is larger.
    pub fn get_bytes(&self, path: &str, limit: u64) -> Result<Vec<u8>, Error> {
        self.repeat(|| {
            let request = self.request(Method::GET, path);
            let response = self.run(request, (), None)?;
            if response.status().is_success() {
                return self.bytes_of(response.into_body(), limit);
            }
            let response = self.response_of(response)?;
            let detail = format!("{}: expected a file", self.address);
            Err(Error::Refused(Refusal::of_other_server(response.status, detail)))
        })
    }

    /// Sends bytes once, and gives up after `limit`.
    ///
    /// # Errors
    /// If the register is not available, or refuses the bytes.
    pub fn put(&self, path: &str, bytes: &[u8], limit: Duration) -> Result<Response, Error> {
        let request = self
            .request(Method::PUT, path)
            .header("Content-Type", "application/octet-stream");
        self.send_within(request, bytes, Some(limit))
    }

    /// Sends a document to an endpoint for which a repeated request is the same as one.
    ///
    /// # Errors
    /// If the register is not available for too long, or refuses the request.
    pub fn post(&self, path: &str, document: &Value) -> Result<Response, Error> {
        let body = document.to_string();
        let request = || {
            self.request(Method::POST, path)
                .header("Content-Type", "application/json")
        };
        self.repeat(|| self.send(request(), body.as_str()))
    }

    /// Deletes something. What does not exist counts as deleted.
    ///
    /// # Errors
    /// If the register is not available for too long, or refuses the request.
    pub fn delete(&self, path: &str) -> Result<(), Error> {
        match self.repeat(|| self.send(self.request(Method::DELETE, path), ())) {
            Err(Error::Refused(refusal)) if refusal.status == 404 => Ok(()),
            ended => ended.map(drop),
        }
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
                Err(error) => self.pause(&mut backoff, error)?,
                done => return done,
            }
        }
    }

    /// Waits before the next attempt. Returns the error if it is final, or if the client gives up.
    pub(crate) fn pause(&self, backoff: &mut Backoff, error: Error) -> Result<(), Error> {
        let Error::Unavailable { retry_after, .. } = &error else {
            return Err(error);
        };
        match backoff.wait(*retry_after) {
            Some(wait) => {
                (self.on_retry)(&error, wait);
                thread::sleep(wait);
                Ok(())
            }
            None => Err(error),
        }
    }

    /// Returns a request with the token, if there is one. `path` may be a whole address of the register.
    pub(crate) fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let address = if path.starts_with('/') {
            format!("{}{path}", self.address)
        } else {
            path.to_owned()
        };
        let request = Request::builder().method(method).uri(address);
        if self.token.is_empty() {
            return request;
        }
        request.header("Authorization", format!("Bearer {}", self.token))
    }

    /// Sends a request once.
    pub(crate) fn send(
        &self,
        request: http::request::Builder,
        body: impl AsSendBody,
    ) -> Result<Response, Error> {
        self.send_within(request, body, None)
    }

    fn send_within(
        &self,
        request: http::request::Builder,
        body: impl AsSendBody,
        limit: Option<Duration>,
    ) -> Result<Response, Error> {
        self.response_of(self.run(request, body, limit)?)
    }

    fn run(
        &self,
        request: http::request::Builder,
        body: impl AsSendBody,
        limit: Option<Duration>,
    ) -> Result<http::Response<Body>, Error> {
        let request = request.body(body).map_err(|error| {
            Error::Refused(Refusal {
                status: 0,
                code: "invalid-request".to_owned(),
                detail: error.to_string(),
                fields: Vec::new(),
                is_of_register: false,
            })
        })?;
        let request = self.agent.configure_request(request);
        let request = request.timeout_global(limit).build();
        self.agent.run(request).map_err(|error| self.unavailable(&error))
    }

    fn bytes_of(&self, mut body: Body, limit: u64) -> Result<Vec<u8>, Error> {
        let bytes = body.with_config().limit(limit).read_to_vec();
        bytes.map_err(|error| self.unavailable(&error))
    }

    fn unavailable(&self, error: &ureq::Error) -> Error {
        let problem = certificate::problem(error).unwrap_or_else(|| error.to_string());
        Error::Unavailable {
            reason: format!("{}: {problem}", self.address),
            retry_after: None,
        }
    }

    fn response_of(&self, response: http::Response<Body>) -> Result<Response, Error> {
        let (parts, body) = response.into_parts();
        let bytes = self.bytes_of(body, RESPONSE_BYTES_MAX)?;
        let document = serde_json::from_slice(&bytes);
        if parts.status.is_success() || parts.status == StatusCode::NOT_MODIFIED {
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
    let content_type = headers.get("Content-Type").and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default();
    let errors = document["errors"].as_array().into_iter().flatten();
    let fields = errors
        .map(|error| (text(&error["field"]), text(&error["detail"])))
        .collect();
    let detail = match (document["detail"].as_str(), headers.get("Location")) {
        (Some(detail), _) => detail.to_owned(),
        (None, Some(location)) if status.is_redirection() => {
            let location = location.to_str().unwrap_or_default();
            format!("the address redirects to {location}; use that one")
        }
        _ => {
            let is_page = bytes.trim_ascii_start().starts_with(b"<");
            let shown = if is_page {
                ""
            } else {
                str::from_utf8(bytes).unwrap_or_default().trim()
            };
            let shown: String = shown.chars().take(SHOWN_CHARS).collect();
            if shown.is_empty() {
                status.to_string()
            } else {
                shown
            }
        }
    };
    Refusal {
        status: status.as_u16(),
        code: text(&document["code"]),
        detail,
        fields,
        is_of_register: headers.contains_key("Tus-Resumable")
            || content_type.starts_with("application/problem+json"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::*;

    /// Serves one response per connection, and returns the first lines of the requests.
    fn serve(responses: Vec<&'static str>) -> (Client, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let serve = |response: &str| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                stream.write_all(response.as_bytes()).unwrap();
                first
            };
            responses.into_iter().map(serve).collect()
        });
        let settings = Settings {
            address,
            token: "dc_test".to_owned(),
            ca_file: None,
            patience: Duration::from_secs(20),
            on_retry: |_, _| (),
        };
        (Client::new(&settings).unwrap(), server)
    }

    const DONE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"ready\":1}";

    #[test]
    fn a_busy_register_is_requested_again_after_the_time_that_it_states() {
        let busy = "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let limited = "HTTP/1.1 429 Slow\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let (client, server) = serve(vec![busy, limited, DONE]);
        assert_eq!(client.get("/api/v1/x/").unwrap().document["ready"], 1);
        assert_eq!(server.join().unwrap(), ["GET /api/v1/x/ HTTP/1.1"; 3]);
    }

    #[test]
    fn a_wait_beyond_the_patience_ends_at_once() {
        let busy = "HTTP/1.1 503 Busy\r\nRetry-After: 21\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let (client, server) = serve(vec![busy]);
        let error = client.get("/").unwrap_err();
        let expected = Some(Duration::from_secs(21));
        assert!(matches!(error, Error::Unavailable { retry_after, .. } if retry_after == expected));
        server.join().unwrap();
    }

    #[test]
    fn a_refusal_is_final_and_names_the_fields() {
        let problem =
            "{\"detail\":\"d\",\"code\":\"c\",\"errors\":[{\"field\":\"model\",\"detail\":\"missing\"}]}";
        let head = format!(
            "HTTP/1.1 400 Bad\r\nContent-Type: application/problem+json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            problem.len()
        );
        let (client, server) = serve(vec![(head + problem).leak()]);
        let Error::Refused(refusal) = client.post("/", &Value::Null).unwrap_err() else {
            panic!("expected a refusal");
        };
        assert_eq!(
            (refusal.status, refusal.code.as_str(), refusal.detail.as_str()),
            (400, "c", "d")
        );
        assert_eq!(refusal.fields, [("model".to_owned(), "missing".to_owned())]);
        assert!(refusal.is_of_request());
        server.join().unwrap();
    }

    #[test]
    fn a_page_of_a_proxy_is_no_refusal_of_the_request() {
        let page = "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let (client, server) = serve(vec![page]);
        let Error::Refused(refusal) = client.get("/").unwrap_err() else {
            panic!("expected a refusal");
        };
        assert!(!refusal.is_of_request());
        server.join().unwrap();
    }

    #[test]
    fn a_redirect_is_not_followed_and_names_the_other_address() {
        let moved = "HTTP/1.1 301 Moved\r\nLocation: https://other.example/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let (client, server) = serve(vec![moved]);
        assert!(
            client
                .get("/")
                .unwrap_err()
                .to_string()
                .contains("https://other.example/")
        );
        assert_eq!(server.join().unwrap().len(), 1);
    }
}
