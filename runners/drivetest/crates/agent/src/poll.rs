//! The long poll: the list of exchanges that wait for this host.

use std::collections::HashSet;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use drivetest_register::{Backoff, Client, Error, Response};
use serde_json::Value;

use crate::Messages;
use crate::run::Event;

const WAIT: Duration = Duration::from_secs(50);
const LIVE_PATH: &str = "/api/v1/live/agents/exchanges/?wait=50";
const PATH: &str = "/api/v1/agents/exchanges/";
/// Period of requests to a register without a process for waiting clients.
const PERIOD: Duration = Duration::from_secs(2);
/// How long such a register is polled before the agent tries to wait again.
const WITHOUT_LIVE: Duration = Duration::from_secs(600);
/// After so many failed requests in a row, the process for waiting clients is away.
const LIVE_FAILURES: u32 = 2;
/// How long the register is polled while that process is away, or refuses a secret that the register accepts.
const LIVE_AWAY: Duration = Duration::from_secs(60);
/// How long a worker waits for an answer, if the register does not state it.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
const ANSWER_WITHIN_S_MAX: u64 = 3600;
/// A wait that ends earlier than this was none.
const WAIT_MIN: Duration = Duration::from_secs(1);
/// Pause after a list that has no new exchange.
const PAUSE: Duration = Duration::from_millis(100);
const ID_CHARS_MAX: usize = 40;
const SHA256_CHARS: usize = 64;

/// A batch of requests that waits for this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// Its id at the register.
    pub id: String,
    /// The input of `drivetest host`.
    pub requests: Vec<u8>,
    /// When the agent got it.
    pub received_at: Instant,
    /// How long a worker of the register waits for the answer.
    pub answer_within: Duration,
}

impl Exchange {
    /// Returns whether no worker waits for the answer any more.
    pub fn is_late(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.received_at) > self.answer_within
    }
}

/// What the register requires of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    /// SHA-256 of the program that the register expects here; empty if it expects none.
    pub program_sha256: String,
    /// The exchanges, oldest first.
    pub exchanges: Vec<Exchange>,
}

/// The process that lets clients wait, as the last requests have found it.
#[derive(Debug, Default)]
struct Live {
    /// Failed requests since the last response.
    failures: u32,
    away_until: Option<Instant>,
}

impl Live {
    fn is_used(&self, now: Instant) -> bool {
        self.away_until.is_none_or(|until| now >= until)
    }

    fn avoid(&mut self, now: Instant, time: Duration) {
        self.away_until = Some(now + time);
    }

    /// Counts a failure. A process that was away is avoided again after the first one.
    fn fail(&mut self, now: Instant) {
        self.failures += 1;
        if self.failures >= LIVE_FAILURES {
            self.avoid(now, LIVE_AWAY);
        }
    }
}

/// Where the exchanges are listed.
pub(crate) struct Poller {
    /// The register.
    pub register: Client,
    /// The process that lets clients wait.
    pub live: Client,
    /// How to report.
    pub messages: Messages,
}

impl Poller {
    /// Sends each list of exchanges to the agent, until the register has revoked this host or the agent ends.
    pub fn run(&self, events: &Sender<Event>) {
        let (mut etag, mut listed) = (String::new(), HashSet::new());
        let mut live = Live::default();
        let mut backoff = Backoff::new(Duration::MAX);
        loop {
            let begun = Instant::now();
            let is_live = live.is_used(begun);
            let outcome = match self.request(is_live, &etag) {
                Ok(response) if response.status == 304 => {
                    let is_short = is_live && begun.elapsed() < WAIT_MIN;
                    let pause = if is_short { WAIT_MIN } else { Duration::ZERO };
                    Ok((Event::Waited, pause))
                }
                Ok(response) => match listing(&response.document) {
                    Ok(listing) => {
                        etag = response.header("ETag").to_owned();
                        let ids: HashSet<_> = listing.exchanges.iter().map(|each| each.id.clone()).collect();
                        let is_new = !ids.is_subset(&listed);
                        listed = ids;
                        let pause = match is_new {
                            true => Duration::ZERO,
                            // Without a tag, the next request does not wait.
                            false if etag.is_empty() => PERIOD,
                            false => PAUSE,
                        };
                        Ok((Event::Listing(listing), pause))
                    }
                    Err(problem) => {
                        let reason = format!("{}: {problem}; is this a register?", self.address(is_live));
                        let retry_after = None;
                        Err(Error::Unavailable { reason, retry_after })
                    }
                },
                Err(Error::Refused(refusal)) if refusal.is_of_register && refusal.status == 401 => {
                    if self.address(is_live) == self.register.address() {
                        drop(events.send(Event::Revoked(refusal.to_string())));
                        return;
                    }
                    // The register itself confirms it, or another server answers there.
                    live.avoid(begun, LIVE_AWAY);
                    let address = self.live.address();
                    (self.messages.line)(&format!("{address}: {refusal}; polling the register itself"));
                    continue;
                }
                Err(Error::Refused(refusal)) if is_live && matches!(refusal.status, 307 | 404) => {
                    live.avoid(begun, WITHOUT_LIVE);
                    continue;
                }
                Err(error) => Err(error),
            };
            let (event, pause) = match outcome {
                Ok(done) => done,
                Err(error) => {
                    let now = Instant::now();
                    if is_live {
                        live.fail(now);
                    }
                    match is_live && !live.is_used(now) {
                        true => self.wait(&error, PERIOD),
                        false => self.pause(&mut backoff, &error),
                    }
                    continue;
                }
            };
            backoff.reset();
            if is_live {
                live = Live::default();
            }
            if events.send(event).is_err() {
                return;
            }
            thread::sleep(if is_live { pause } else { PERIOD });
        }
    }

    fn request(&self, is_live: bool, etag: &str) -> Result<Response, Error> {
        match is_live {
            true => self.live.wait_for_change(LIVE_PATH, etag, WAIT),
            false => self.register.wait_for_change(PATH, etag, Duration::ZERO),
        }
    }

    fn address(&self, is_live: bool) -> &str {
        let client = if is_live { &self.live } else { &self.register };
        client.address()
    }

    fn pause(&self, backoff: &mut Backoff, error: &Error) {
        let required = match error {
            Error::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        };
        if let Some(wait) = backoff.wait(required) {
            self.wait(error, wait);
        }
    }

    fn wait(&self, error: &Error, wait: Duration) {
        (self.messages.retry)(error, wait);
        thread::sleep(wait);
    }
}

/// Returns the list in a document.
fn listing(document: &Value) -> Result<Listing, String> {
    let exchanges = document["exchanges"].as_array();
    let exchanges = exchanges.ok_or("expected a list of exchanges, got other content")?;
    let within = document["answer_within_s"].as_u64();
    let within = within.filter(|within| (1..=ANSWER_WITHIN_S_MAX).contains(within));
    let within = within.map_or(ANSWER_WITHIN, Duration::from_secs);
    let program_sha256 = document["program_sha256"].as_str().unwrap_or_default();
    // It becomes a part of an address.
    let is_hash =
        program_sha256.len() == SHA256_CHARS && program_sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(Listing {
        program_sha256: if is_hash {
            program_sha256.to_ascii_lowercase()
        } else {
            String::new()
        },
        exchanges: exchanges
            .iter()
            .map(|each| exchange(each, within))
            .collect::<Result<_, _>>()?,
    })
}

fn exchange(document: &Value, answer_within: Duration) -> Result<Exchange, String> {
    let id = document["id"].as_str().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    // It becomes a part of an address.
    if id.is_empty() || id.len() > ID_CHARS_MAX || !id.bytes().all(is_plain) {
        return Err("expected the id of an exchange, got other text".to_owned());
    }
    let requests = document["requests"].as_str().unwrap_or_default();
    let requests = STANDARD.decode(requests);
    Ok(Exchange {
        id: id.to_owned(),
        requests: requests.map_err(|error| format!("exchange {id}: expected base64: {error}"))?,
        received_at: Instant::now(),
        answer_within,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_has_requests_in_base64() {
        let pinned = "5E".repeat(32);
        let document = json!({"agent": "a-1", "program_sha256": pinned,
            "exchanges": [{"id": "x-1", "requests": "eHl6"}, {"id": "x-2", "requests": ""}]});
        let listing = listing(&document).unwrap();
        assert_eq!(listing.program_sha256, "5e".repeat(32));
        let [first, _] = &listing.exchanges[..] else {
            panic!("expected two exchanges");
        };
        assert_eq!((first.id.as_str(), &first.requests[..]), ("x-1", &b"xyz"[..]));
    }

    #[test]
    fn an_exchange_is_late_once_no_worker_waits_for_its_answer() {
        let stated = [
            (json!(20), 20),
            (Value::Null, 60),
            (json!(0), 60),
            (json!(3600), 3600),
            (json!(3601), 60),
            (json!("20"), 60),
        ];
        for (stated, expected) in stated {
            let document = json!({"answer_within_s": stated, "exchanges": [{"id": "x-1", "requests": ""}]});
            let exchange = &listing(&document).unwrap().exchanges[0];
            let limit = exchange.received_at + Duration::from_secs(expected);
            assert!(!exchange.is_late(limit), "{stated}");
            assert!(exchange.is_late(limit + Duration::from_nanos(1)), "{stated}");
        }
    }

    #[test]
    fn the_live_process_is_avoided_after_two_failures_in_a_row() {
        let (mut live, now) = (Live::default(), Instant::now());
        live.fail(now);
        assert!(live.is_used(now));
        live.fail(now);
        let again = now + LIVE_AWAY;
        assert!(!live.is_used(now) && !live.is_used(again - Duration::from_nanos(1)) && live.is_used(again));
        live.fail(again);
        assert!(!live.is_used(again), "it is still away");
    }

    #[test]
    fn parts_of_addresses_are_plain() {
        for id in ["", "../x", "x/1", "x?1", &"x".repeat(41)] {
            let document = json!({"exchanges": [{"id": id, "requests": ""}]});
            assert!(listing(&document).is_err(), "{id}");
        }
        for pinned in ["", "../", &"5".repeat(63), &"g".repeat(64)] {
            let document = json!({"program_sha256": pinned, "exchanges": []});
            assert_eq!(listing(&document).unwrap().program_sha256, "", "{pinned}");
        }
    }

    #[test]
    fn other_documents_are_errors() {
        for document in [
            Value::Null,
            json!({}),
            json!({"exchanges": [{"id": "x-1", "requests": "?"}]}),
        ] {
            assert!(listing(&document).is_err(), "{document}");
        }
    }
}
