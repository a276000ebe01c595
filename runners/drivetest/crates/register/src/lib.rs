//! HTTP client of a register, for lab hosts behind any network: TLS without files of the host, name lookup without the C
//! library, CONNECT proxies, retries with backoff, and uploads that continue after a broken connection.
//!
//! `transport` makes connections, `client` sends requests and repeats them, `upload` sends files (tus 1.0), `backoff`
//! decides how long to wait, `resolver` looks names up, and `certificate` says why a certificate is not accepted.

#![forbid(unsafe_code)]

mod backoff;
mod certificate;
mod client;
mod resolver;
mod transport;
mod upload;

pub use backoff::Backoff;
pub use client::{Client, Error, Refusal, Response, Settings};
pub use transport::{SettingsError, check_address};
pub use upload::{BEGINNINGS_MAX, Upload, Uploaded};
