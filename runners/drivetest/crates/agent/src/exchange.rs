//! One exchange: a child `drivetest host` carries out the requests, and the register gets its output.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use drivetest_register::{Backoff, Client, Error};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::Messages;
use crate::poll::Exchange;

/// The running program, even if its file was replaced.
pub(crate) const THIS: &str = "/proc/self/exe";
/// Maximum size of an answer, as the register accepts it.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// How long a child may run at least. No worker waits for its answer any more, and the register repeats the requests.
const CHILD_LIMIT: Duration = Duration::from_secs(60);
/// How long to repeat an answer, and how long each attempt may take. No worker waits for it any more.
const DELIVERY_PATIENCE: Duration = Duration::from_secs(60);
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

/// How an exchange ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With an answer for the register.
    Answer(Vec<u8>),
    /// With an answer that is too large to send.
    TooLarge,
    /// Its child did not end in time, and was killed. The kernel may keep it until a drive responds.
    Abandoned(Child),
}

/// Carries out an exchange. `root` is the directory above all files in tests.
pub(crate) fn execute(exchange: &Exchange, root: Option<&Path>, messages: Messages) -> Outcome {
    let id = &exchange.id;
    let limit = CHILD_LIMIT.max(exchange.answer_within);
    match run_host(&exchange.requests, root, limit) {
        Ok(Output::Ended(answer, _)) if answer.len() > ANSWER_BYTES_MAX => {
            (messages.line)(&format!(
                "exchange {id}: the answer has more than {ANSWER_BYTES_MAX} bytes; it was not sent"
            ));
            Outcome::TooLarge
        }
        Ok(Output::Ended(answer, None)) => Outcome::Answer(answer),
        Ok(Output::Ended(_, Some(problem))) => Outcome::Answer(problem_answer(&problem, messages)),
        Ok(Output::Abandoned(child)) => {
            (messages.line)(&format!(
                "exchange {id}: drivetest host did not end within {} s; it was killed, and its answer is dropped",
                limit.as_secs()
            ));
            Outcome::Abandoned(child)
        }
        Err(error) => Outcome::Answer(problem_answer(
            &format!("drivetest host cannot run: {error}"),
            messages,
        )),
    }
}

/// Returns the answer of a host that cannot answer: a text that is no response, which the register shows.
pub(crate) fn problem_answer(problem: &str, messages: Messages) -> Vec<u8> {
    (messages.line)(problem);
    let line = problem.replace('\n', " ");
    let mut bytes = line.into_bytes();
    bytes.truncate(SHOWN_BYTES);
    bytes
}

/// How a child ended.
#[derive(Debug)]
enum Output {
    /// With this output, and why it failed.
    Ended(Vec<u8>, Option<String>),
    /// It did not end in time, and was killed.
    Abandoned(Child),
}

/// Runs `drivetest host` with the requests as its input.
fn run_host(requests: &[u8], root: Option<&Path>, limit: Duration) -> io::Result<Output> {
    let mut command = Command::new(THIS);
    command.arg("host");
    if let Some(root) = root {
        command.arg("--root").arg(root);
    }
    run_child(command, requests.to_vec(), limit)
}

/// Runs a child with an input until it ends, or kills it after a time.
fn run_child(mut command: Command, input: Vec<u8>, limit: Duration) -> io::Result<Output> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A signal of a terminal is for the agent, which waits for the child.
    let mut child = command.process_group(0).spawn()?;
    let missing = || io::Error::other("a stream of the child is missing");
    let streams = Streams {
        stdin: child.stdin.take().ok_or_else(missing)?,
        stdout: child.stdout.take().ok_or_else(missing)?,
        stderr: child.stderr.take().ok_or_else(missing)?,
    };
    let pid = Pid::from_child(&child);
    let (sender, ended) = channel();
    // This thread stays if the kernel keeps the child.
    thread::spawn(move || {
        let output = streams.pipe(&input);
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok();
        drop(sender.send(output));
    });
    let Ok(output) = ended.recv_timeout(limit) else {
        child.kill()?;
        return Ok(Output::Abandoned(child));
    };
    let status = child.wait()?;
    let (answer, message) = output?;
    let problem = (!status.success()).then(|| {
        let message = message.trim().trim_start_matches("drivetest: ");
        format!("drivetest host ended with {status}: {message}")
    });
    Ok(Output::Ended(answer, problem))
}

/// The streams of a child.
struct Streams {
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

impl Streams {
    /// Writes the input of the child while its output and its messages are read.
    fn pipe(self, input: &[u8]) -> io::Result<(Vec<u8>, String)> {
        let Self {
            mut stdin,
            stdout,
            mut stderr,
        } = self;
        thread::scope(|scope| {
            // A child that ends early closes its input; its status says why.
            scope.spawn(move || drop(stdin.write_all(input)));
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
}

/// Sends an answer until the register has it or no longer wants it. Once the agent ends, one more attempt is made.
pub(crate) fn deliver(client: &Client, id: &str, answer: &[u8], stop: &Stop, messages: Messages) {
    let path = format!("/api/v1/agents/exchanges/{id}/");
    let mut backoff = Backoff::new(DELIVERY_PATIENCE);
    loop {
        let is_last = stop.is_set();
        let error = match client.put(&path, answer, DELIVERY_PATIENCE) {
            Ok(_) => return,
            // The exchange has expired, and the register repeats its requests.
            Err(Error::Refused(refusal)) if refusal.status == 410 => return,
            // Also from a proxy: it would refuse the same answer again. 408 and 429 are no refusals.
            Err(Error::Refused(refusal)) if (400..500).contains(&refusal.status) => {
                (messages.line)(&format!("exchange {id}: the answer was refused: {refusal}"));
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
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::os::unix::process::ExitStatusExt;
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

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_child_gets_its_input_and_returns_its_output() {
        let ended =
            |script, input: &[u8]| match run_child(shell(script), input.to_vec(), CHILD_LIMIT).unwrap() {
                Output::Ended(answer, problem) => (answer, problem),
                Output::Abandoned(_) => panic!("expected the end of the child"),
            };
        let input = vec![b'x'; 1 << 20];
        assert_eq!(ended("cat", &input), (input.clone(), None));
        let (answer, problem) = ended("echo 1; echo drivetest: reason >&2; exit 3", b"");
        assert_eq!(answer, b"1\n");
        assert_eq!(
            problem.unwrap(),
            "drivetest host ended with exit status: 3: reason"
        );
        // The output is larger than accepted: the child ends, because its output is closed.
        let (answer, problem) = ended("cat /dev/zero", b"");
        assert!(answer.len() > ANSWER_BYTES_MAX && problem.is_some());
    }

    #[test]
    fn a_child_that_does_not_end_in_time_is_killed() {
        // The second one closes its streams, but continues.
        for script in ["exec sleep 600", "exec sleep 600 <&- >&- 2>&-"] {
            let ended = run_child(shell(script), Vec::new(), Duration::from_millis(50)).unwrap();
            let Output::Abandoned(mut child) = ended else {
                panic!("expected that the child was abandoned");
            };
            assert_eq!(child.wait().unwrap().signal(), Some(9), "{script}");
        }
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
