//! The loop of the agent: exchanges of the register, a few at a time, until a signal or the end of the secret.

use std::collections::{HashSet, VecDeque};
use std::env;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use drivetest_labhost::program_sha256;
use drivetest_load::signals::Signals;
use drivetest_register::Client;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::exchange::{Outcome, Stop, THIS, deliver, execute, problem_answer};
use crate::poll::{Exchange, Listing, Poller};
use crate::settings::{AgentSettings, lock, machine_id_sha256};
use crate::update::{Decision, Update, check_runs, install};
use crate::{AgentError, Messages, Places};

/// Exchanges that are carried out at the same time.
const RUNNING_MAX: usize = 4;
/// Children that run, or that the kernel still keeps after they were killed.
const CHILDREN_MAX: usize = 64;
const TOO_MANY_CHILDREN: &str =
    "too many killed processes of drivetest do not end: a drive does not respond; restart the host";
/// Ids of exchanges that are remembered. An id stays in the list of the register for a minute at most.
const KNOWN_MAX: usize = 4096;
/// How long to repeat the request for a program.
const FETCH_PATIENCE: Duration = Duration::from_secs(300);

/// How the agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By a signal.
    Signal,
    /// The register has revoked this host: its sentence.
    Revoked(String),
}

/// Something that happened in another thread.
#[derive(Debug)]
pub(crate) enum Event {
    /// A signal requests the end.
    Signal,
    /// The register sent a list.
    Listing(Listing),
    /// The register has nothing new.
    Waited,
    /// The register does not accept the secret: its sentence.
    Revoked(String),
    /// A child has ended.
    Executed,
    /// A child has not ended in time, and was killed.
    Abandoned,
    /// An abandoned child has ended.
    Reaped,
    /// An answer was delivered or given up.
    Delivered,
    /// Another program is installed, or why not.
    Installed(Result<(), String>),
}

/// Why no exchange is started any more.
enum End {
    Process(Ended),
    /// The program was replaced.
    Restart,
}

/// What all threads use.
struct Shared {
    register: Client,
    places: Places,
    messages: Messages,
    stop: Stop,
}

struct Agent {
    shared: Arc<Shared>,
    events: Sender<Event>,
    queue: VecDeque<Exchange>,
    known: KnownIds,
    executing: usize,
    delivering: usize,
    abandoned: usize,
    update: Update,
    end: Option<End>,
}

/// Runs the agent until a signal, or until the register has revoked this host. Exchanges that run are completed first.
///
/// # Errors
/// If the host has not joined a register, or its settings cannot be used.
pub fn run(places: &Places, signals: Signals, messages: Messages) -> Result<Ended, AgentError> {
    let path = places.agent_file();
    let settings = AgentSettings::read(&path)?.ok_or_else(|| {
        let path = path.display();
        AgentError::Failed(format!(
            "{path}: does not exist; run `drivetest agent join` with the command of the host's page"
        ))
    })?;
    if !settings.is_of_machine(&machine_id_sha256(&places.machine_id_file())) {
        return Err(AgentError::Refused(format!(
            "{}: is of another machine: expected the machine id of the join, found another one in {}, as on a copied \
             disk; print a new command on the page of this host and run it",
            path.display(),
            places.machine_id_file().display()
        )));
    }
    let _lock = lock(&path)?;
    let running = program_sha256().map_err(|error| AgentError::Failed(error.sentence))?;
    let client = |address: &str| {
        let client = settings.client(address, FETCH_PATIENCE, messages);
        client.map_err(|error| AgentError::Failed(format!("{}: {error}", path.display())))
    };
    let poller = Poller {
        register: client(&settings.register)?,
        live: client(settings.live_address())?,
        messages,
    };
    let (events, received) = channel();
    let mut agent = Agent {
        shared: Arc::new(Shared {
            register: client(&settings.register)?,
            places: places.clone(),
            messages,
            stop: Stop::default(),
        }),
        events: events.clone(),
        queue: VecDeque::new(),
        known: KnownIds::default(),
        executing: 0,
        delivering: 0,
        abandoned: 0,
        update: Update::new(running),
        end: None,
    };
    let sender = events.clone();
    thread::spawn(move || wait_for_signal(&signals, &sender));
    thread::spawn(move || poller.run(&events));
    (messages.line)(&format!(
        "{} of {} waits for requests",
        settings.host, settings.register
    ));
    // The agent holds a sender: the loop ends by an event only.
    for event in received {
        agent.handle(event);
        agent.start_queued();
        match agent.take_end() {
            Some(End::Process(ended)) => return Ok(ended),
            Some(End::Restart) => return Err(restart(places)),
            None => (),
        }
    }
    Ok(Ended::Signal)
}

impl Agent {
    fn handle(&mut self, event: Event) {
        match event {
            Event::Signal => self.end(End::Process(Ended::Signal)),
            Event::Revoked(sentence) => self.end(End::Process(Ended::Revoked(sentence))),
            Event::Executed => self.executing -= 1,
            Event::Delivered => self.delivering -= 1,
            Event::Abandoned => {
                self.executing -= 1;
                self.delivering -= 1;
                self.abandoned += 1;
            }
            Event::Reaped => self.abandoned -= 1,
            Event::Installed(Ok(())) => self.end(End::Restart),
            Event::Installed(Err(problem)) => {
                self.update.failed();
                (self.shared.messages.line)(&format!("no update: {problem}"));
            }
            Event::Waited => self.check_update(),
            Event::Listing(listing) => {
                let new = listing.exchanges.into_iter();
                let new = new.filter(|exchange| self.known.add(&exchange.id));
                self.queue.extend(new);
                self.update.require(listing.program_sha256);
                self.check_update();
            }
        }
    }

    /// Starts no more exchanges. A signal ends the agent even if a restart was due.
    fn end(&mut self, end: End) {
        if !matches!(self.end, Some(End::Process(_))) {
            self.end = Some(end);
        }
        self.queue.clear();
        self.shared.stop.set();
    }

    /// Returns the end, once no exchange runs. Abandoned children are not waited for.
    fn take_end(&mut self) -> Option<End> {
        match self.executing == 0 && self.delivering == 0 {
            true => self.end.take(),
            false => None,
        }
    }

    fn start_queued(&mut self) {
        while self.end.is_none() && self.executing < RUNNING_MAX {
            let Some(exchange) = self.queue.pop_front() else {
                return;
            };
            let messages = self.shared.messages;
            if exchange.is_late(Instant::now()) {
                let id = &exchange.id;
                (messages.line)(&format!(
                    "exchange {id}: not started, because the register no longer waits for its answer"
                ));
                continue;
            }
            let is_full = self.abandoned + self.executing >= CHILDREN_MAX;
            self.executing += 1;
            self.delivering += 1;
            let (shared, events) = (Arc::clone(&self.shared), self.events.clone());
            thread::spawn(move || {
                let outcome = match is_full {
                    true => Outcome::Answer(problem_answer(TOO_MANY_CHILDREN, messages)),
                    false => execute(&exchange, shared.places.other_root(), messages),
                };
                match outcome {
                    Outcome::Abandoned(mut child) => {
                        drop(events.send(Event::Abandoned));
                        drop(child.wait());
                        drop(events.send(Event::Reaped));
                        return;
                    }
                    Outcome::TooLarge => drop(events.send(Event::Executed)),
                    Outcome::Answer(answer) => {
                        drop(events.send(Event::Executed));
                        deliver(&shared.register, &exchange.id, &answer, &shared.stop, messages);
                    }
                }
                drop(events.send(Event::Delivered));
            });
        }
    }

    fn check_update(&mut self) {
        if self.end.is_some() {
            return;
        }
        let installed = self.shared.places.program();
        if self.update.begin_restart(Path::new(THIS), &installed) {
            let events = self.events.clone();
            thread::spawn(move || {
                let runs = check_runs(&installed).map_err(|error| {
                    let path = installed.display();
                    format!("{path}: this program was installed, but cannot run: {error}")
                });
                drop(events.send(Event::Installed(runs)));
            });
            return;
        }
        match self.update.decide(&self.shared.places.host_file()) {
            Decision::Nothing => (),
            Decision::Warn(line) => (self.shared.messages.line)(&line),
            Decision::Fetch(sha256) => {
                let (shared, events) = (Arc::clone(&self.shared), self.events.clone());
                thread::spawn(move || {
                    let installed = install(&shared.register, &shared.places, &sha256);
                    drop(events.send(Event::Installed(installed)));
                });
            }
        }
    }
}

/// Replaces this process by the installed program. Returns only if that fails.
fn restart(places: &Places) -> AgentError {
    let program = places.program();
    let error = Command::new(&program).args(env::args_os().skip(1)).exec();
    AgentError::file(&program, "run", &error)
}

fn wait_for_signal(signals: &Signals, events: &Sender<Event>) {
    while signals.first().is_none() {
        let descriptor = signals.descriptor();
        let mut waiting = [PollFd::new(&descriptor, PollFlags::IN)];
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => (),
            Err(_) => return,
        }
    }
    drop(events.send(Event::Signal));
}

/// The last ids of exchanges. Each exchange is carried out once.
#[derive(Debug, Default)]
struct KnownIds {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl KnownIds {
    /// Adds an id. Returns whether it is new.
    fn add(&mut self, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > KNOWN_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::mpsc::Receiver;

    use super::*;

    const MESSAGES: Messages = Messages {
        line: |_| (),
        retry: |_, _| (),
    };

    /// Returns an agent of a register, and its events.
    fn agent(register: &str) -> (Agent, Receiver<Event>) {
        let register = Client::new(&drivetest_register::Settings {
            address: register.to_owned(),
            token: String::new(),
            ca_file: None,
            patience: Duration::ZERO,
            on_retry: MESSAGES.retry,
        });
        let shared = Shared {
            register: register.unwrap(),
            places: Places::new(Path::new("/nowhere")),
            messages: MESSAGES,
            stop: Stop::default(),
        };
        let (events, received) = channel();
        let agent = Agent {
            shared: Arc::new(shared),
            events,
            queue: VecDeque::new(),
            known: KnownIds::default(),
            executing: 0,
            delivering: 0,
            abandoned: 0,
            update: Update::new(String::new()),
            end: None,
        };
        (agent, received)
    }

    #[test]
    fn an_abandoned_child_frees_its_place_and_does_not_delay_the_end() {
        let (mut agent, _events) = agent("http://127.0.0.1:1");
        (agent.executing, agent.delivering) = (2, 2);
        agent.handle(Event::Abandoned);
        assert_eq!((agent.executing, agent.delivering, agent.abandoned), (1, 1, 1));
        agent.handle(Event::Signal);
        assert!(agent.take_end().is_none(), "one exchange runs");
        agent.handle(Event::Executed);
        assert!(agent.take_end().is_none(), "its answer is being delivered");
        agent.handle(Event::Delivered);
        assert!(matches!(agent.take_end(), Some(End::Process(Ended::Signal))));
        agent.handle(Event::Reaped);
        assert_eq!(agent.abandoned, 0);
    }

    #[test]
    fn a_host_with_too_many_abandoned_children_starts_no_other_and_says_so() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (mut agent, events) = agent(&format!("http://{}", listener.local_addr().unwrap()));
        (agent.executing, agent.abandoned) = (1, CHILDREN_MAX - 1);
        agent.queue.push_back(Exchange {
            id: "x-1".into(),
            requests: Vec::new(),
            received_at: Instant::now(),
            answer_within: Duration::from_secs(600),
        });
        agent.start_queued();
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(TOO_MANY_CHILDREN.as_bytes()) {
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&request));
            request.extend(&buffer[..count]);
        }
        stream
            .write_all(b"HTTP/1.1 204 Stored\r\nConnection: close\r\n\r\n")
            .unwrap();
        assert!(matches!(events.recv().unwrap(), Event::Executed));
        assert!(matches!(events.recv().unwrap(), Event::Delivered));
    }

    #[test]
    fn an_id_is_new_once_and_only_the_last_ones_are_known() {
        let mut known = KnownIds::default();
        assert!(known.add("x-0") && !known.add("x-0"));
        for number in 1..KNOWN_MAX {
            assert!(known.add(&format!("x-{number}")));
        }
        assert!(!known.add("x-0"));
        assert!(known.add("x-more") && known.add("x-0"));
        assert_eq!(known.ids.len(), KNOWN_MAX);
    }
}
