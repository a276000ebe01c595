//! One exchange: a child `drivetest host` carries out the requests, and the register gets its output.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use drivetest_register::{Backoff, Client, Error};

use crate::Messages;
use crate::poll::Exchange;

/// The running program, even if its file was replaced.
const THIS: &str = "/proc/self/exe";
/// Maximum size of an answer, as the register accepts it.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// How long to repeat an answer. The register has deleted the exchange by then.
const DELIVERY_PATIENCE: Duration = Duration::from_secs(3600);
const STDERR_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a message about a failed child.
const SHOWN_BYTES: usize = 190;

/// Whether the agent ends. Waits end then.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Ends all waits.
    pub fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Returns whether the agent ends.
    pub fn is_set(&self) -> bool {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a time, or until the agent ends.
    pub fn sleep(&self, wait: Duration) {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_timeout_while(is_set, wait, |is_set| !*is_set));
    }
}

/// Carries out an exchange, and returns the answer; `None` if it is too large to send. `root` is the directory above
/// all files in tests.
pub(crate) fn execute(exchange: &Exchange, root: Option<&Path>, messages: Messages) -> Option<Vec<u8>> {
    match run_host(&exchange.requests, root) {
        Ok((answer, _)) if answer.len() > ANSWER_BYTES_MAX => {
            let id = &exchange.id;
            (messages.line)(&format!(
                "exchange {id}: the answer has more than {ANSWER_BYTES_MAX} bytes; it was not sent"
            ));
            None
        }
        Ok((answer, None)) => Some(answer),
        Ok((_, Some(problem))) => Some(problem_answer(&problem, messages)),
        Err(error) => Some(problem_answer(
            &format!("drivetest host cannot run: {error}"),
            messages,
        )),
    }
}

/// Returns the answer of a host that cannot answer: a text that is no response, which the register shows.
fn problem_answer(problem: &str, messages: Messages) -> Vec<u8> {
    (messages.line)(problem);
    let line = problem.replace('\n', " ");
    let mut bytes = line.into_bytes();
    bytes.truncate(SHOWN_BYTES);
    bytes
}

/// Runs a child with the requests as its input. Returns its output, and why it failed.
fn run_host(requests: &[u8], root: Option<&Path>) -> io::Result<(Vec<u8>, Option<String>)> {
    let mut command = Command::new(THIS);
    command.arg("host");
    if let Some(root) = root {
        command.arg("--root").arg(root);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A signal of a terminal is for the agent, which waits for the child.
    let mut child = command.process_group(0).spawn()?;
    let (answer, message) = pipe(&mut child, requests)?;
    if answer.len() > ANSWER_BYTES_MAX {
        child.kill()?;
    }
    let status = child.wait()?;
    let problem = (!status.success()).then(|| {
        let message = message.trim().trim_start_matches("drivetest: ");
        format!("drivetest host ended with {status}: {message}")
    });
    Ok((answer, problem))
}

/// Writes the input of a child while its output and its messages are read.
fn pipe(child: &mut Child, requests: &[u8]) -> io::Result<(Vec<u8>, String)> {
    let missing = || io::Error::other("a stream of the child is missing");
    let mut stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let mut stderr = child.stderr.take().ok_or_else(missing)?;
    thread::scope(|scope| {
        // A child that ends early closes its input; its status says why.
        scope.spawn(move || drop(stdin.write_all(requests)));
        let messages = scope.spawn(move || {
            let mut text = Vec::new();
            drop(stderr.by_ref().take(STDERR_BYTES_MAX).read_to_end(&mut text));
            drop(io::copy(&mut stderr, &mut io::sink()));
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut answer = Vec::new();
        let read = stdout.take(ANSWER_BYTES_MAX as u64 + 1).read_to_end(&mut answer);
        // Its end of the pipe is closed now, so that a child with a larger output ends.
        let messages = messages.join().unwrap_or_default();
        read.map(|_| (answer, messages))
    })
}

/// Sends an answer until the register has it or no longer wants it. Once the agent ends, one more attempt is made.
pub(crate) fn deliver(client: &Client, id: &str, answer: &[u8], stop: &Stop, messages: Messages) {
    let path = format!("/api/v1/agents/exchanges/{id}/");
    let mut backoff = Backoff::new(DELIVERY_PATIENCE);
    loop {
        let is_last = stop.is_set();
        let error = match client.put(&path, answer) {
            Ok(_) => return,
            // The exchange has expired, and the register repeats its requests.
            Err(Error::Refused(refusal)) if refusal.status == 410 => return,
            Err(Error::Refused(refusal)) if refusal.is_of_register => {
                (messages.line)(&format!(
                    "exchange {id}: the register refuses the answer: {refusal}"
                ));
                return;
            }
            Err(error) => error,
        };
        let required = match &error {
            Error::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        };
        match backoff.wait(required) {
            Some(wait) if !is_last => {
                (messages.retry)(&error, wait);
                stop.sleep(wait);
            }
            _ => {
                (messages.line)(&format!("exchange {id}: the answer was not delivered: {error}"));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_wait_ends_when_the_agent_ends() {
        let stop = Stop::default();
        stop.sleep(Duration::from_millis(1));
        assert!(!stop.is_set());
        let begun = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| stop.sleep(Duration::from_secs(600)));
            stop.set();
        });
        assert!(stop.is_set() && begun.elapsed() < Duration::from_secs(300));
    }

    #[test]
    fn the_answer_of_a_failed_child_is_one_short_line() {
        let messages = Messages {
            line: |_| (),
            retry: |_, _| (),
        };
        assert_eq!(problem_answer("a\nb", messages), b"a b");
        assert_eq!(problem_answer(&"x".repeat(1000), messages).len(), SHOWN_BYTES);
    }
}
