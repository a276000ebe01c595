//! A register on this host for tests of the agent: a real HTTP server, whose replies the test decides.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for any step on a busy machine. Only a failing test waits this long.
const LIMIT: Duration = Duration::from_secs(120);

/// A request that arrived.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
    pub at: Instant,
    /// Number of earlier requests with the same method and path.
    pub of_this_kind: usize,
}

impl Request {
    /// Returns a header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What the register does with a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// It responds.
    Respond(u16, Vec<(String, String)>, Vec<u8>),
    /// The connection breaks.
    Close,
    /// It does not respond until the test has ended.
    Hold,
    /// It responds with the reply of `proceed`.
    Pause,
}

impl Reply {
    pub fn empty(status: u16) -> Self {
        Self::Respond(status, Vec::new(), Vec::new())
    }

    pub fn json(status: u16, document: &Value) -> Self {
        Self::bytes(status, document.to_string().into_bytes())
    }

    pub fn bytes(status: u16, body: Vec<u8>) -> Self {
        Self::Respond(status, Vec::new(), body)
    }

    pub fn header(self, name: &str, value: impl Into<String>) -> Self {
        let Self::Respond(status, mut headers, body) = self else {
            return self;
        };
        headers.push((name.to_owned(), value.into()));
        Self::Respond(status, headers, body)
    }
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    proceed: Option<Reply>,
}

type Shared = Arc<(Mutex<State>, Condvar)>;
type Decide = dyn Fn(usize, &Request) -> Reply + Send + Sync;

/// The register.
pub struct Stand {
    address: SocketAddr,
    shared: Shared,
}

impl Stand {
    /// Starts a register. `decide` gets the number of each request, from 0, and the request.
    pub fn start(decide: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Shared::default();
        let (state, decide): (_, Arc<Decide>) = (Arc::clone(&shared), Arc::new(decide));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (state, decide) = (Arc::clone(&state), Arc::clone(&decide));
                thread::spawn(move || serve(stream.unwrap(), &state, &*decide));
            }
        });
        Self { address, shared }
    }

    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.shared.0.lock().unwrap().requests.clone()
    }

    /// Waits until the requests meet a condition.
    pub fn wait_for(&self, is_met: impl Fn(&[Request]) -> bool) {
        let state = self.shared.0.lock().unwrap();
        let waited = self
            .shared
            .1
            .wait_timeout_while(state, LIMIT, |state| !is_met(&state.requests));
        let (state, timeout) = waited.unwrap();
        assert!(!timeout.timed_out(), "{:?}", state.requests);
    }

    /// Gives a reply to the requests that pause.
    pub fn proceed(&self, reply: Reply) {
        self.shared.0.lock().unwrap().proceed = Some(reply);
        self.shared.1.notify_all();
    }
}

fn serve(mut stream: TcpStream, shared: &Shared, decide: &Decide) {
    let Some(mut request) = read(&stream) else {
        return;
    };
    let number = {
        let mut state = shared.0.lock().unwrap();
        let same = |each: &&Request| (&each.method, &each.path) == (&request.method, &request.path);
        request.of_this_kind = state.requests.iter().filter(same).count();
        state.requests.push(request.clone());
        state.requests.len() - 1
    };
    shared.1.notify_all();
    let mut reply = decide(number, &request);
    if matches!(reply, Reply::Pause) {
        let state = shared.0.lock().unwrap();
        let state = shared
            .1
            .wait_while(state, |state| state.proceed.is_none())
            .unwrap();
        reply = state.proceed.clone().unwrap();
    }
    match reply {
        Reply::Respond(status, headers, body) => {
            let mut head = format!("HTTP/1.1 {status} Status\r\nConnection: close\r\n");
            if ![204, 304].contains(&status) {
                head.push_str(&format!("Content-Length: {}\r\n", body.len()));
            }
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            let bytes = [head.as_bytes(), b"\r\n", &body].concat();
            drop(stream.write_all(&bytes));
        }
        // The agent closes it when it ends.
        Reply::Hold => drop(stream.read(&mut [0])),
        Reply::Close | Reply::Pause => (),
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        path,
        headers,
        body,
        at: Instant::now(),
        of_this_kind: 0,
    })
}

/// Reads lines until one contains a text, and returns all of them.
pub fn read_until(stream: &mut impl Read, text: &str) -> String {
    let mut seen = String::new();
    for line in BufReader::new(stream).lines() {
        seen.push_str(&line.unwrap());
        if seen.contains(text) {
            return seen;
        }
    }
    panic!("expected {text:?} in {seen}");
}

/// Encodes bytes in base64.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk
            .iter()
            .fold(0, |number, byte| number << 8 | usize::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[number >> (18 - 6 * place) & 63];
            text.push(if place <= chunk.len() { digit.into() } else { '=' });
        }
    }
    text
}
