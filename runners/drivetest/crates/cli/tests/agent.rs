//! `drivetest agent` and `agent join` against a register on this host, with the real `drivetest host` as its child.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/register.rs"]
mod register;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use register::{Reply, Request, Stand};

const HEALTH: &str = "{\"verb\":\"health\"}\n";
const SHA256_OF_OTHER: &str = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";

/// The files of a lab host below a temporary directory.
struct Host {
    folder: tempfile::TempDir,
}

impl Host {
    fn new() -> Self {
        let host = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(host.path("etc/drivecert")).unwrap();
        host.allow("");
        host
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes the settings of the operator.
    fn allow(&self, updates: &str) {
        let state = self.path("state");
        let text = format!("drives = []\nstate_dir = {state:?}\nupdates = [{updates}]\n");
        fs::write(self.path("etc/drivecert/host.toml"), text).unwrap();
    }

    /// Writes the settings of a host that has joined.
    fn joined(stand: &Stand) -> Self {
        let host = Self::new();
        let path = host.path("etc/drivecert/agent.toml");
        let register = stand.address();
        fs::write(
            &path,
            format!("register = {register:?}\nsecret = \"5ec\"\nhost = \"lab-1\"\n"),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        host
    }

    /// Adds a line to the settings of a host that has joined.
    fn set(&self, line: &str) {
        let path = self.path("etc/drivecert/agent.toml");
        let text = format!("{}{line}\n", fs::read_to_string(&path).unwrap());
        fs::write(&path, text).unwrap();
    }

    /// Replaces the settings of the operator by a pipe, for whose content each `drivetest host` waits.
    fn hold_children(&self) -> PathBuf {
        let path = self.path("etc/drivecert/host.toml");
        fs::remove_file(&path).unwrap();
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        path
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
        command
            .arg("agent")
            .args(words)
            .arg("--root")
            .arg(self.folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn join(&self, register: &str, code: &str) -> Output {
        self.command(&["join", register, code]).output().unwrap()
    }

    fn start(&self) -> Agent {
        Agent(self.command(&[]).spawn().unwrap())
    }
}

/// A running agent, which is killed at the end of a test.
struct Agent(Child);

impl Agent {
    fn terminate(&self) {
        let pid = Pid::from_child(&self.0);
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Waits for the end. Returns the exit status and the messages.
    fn end(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.0.wait().unwrap().code(), text)
    }

    fn stop(self) -> (Option<i32>, String) {
        self.terminate();
        self.end()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn list(exchanges: &[(&str, &str)], program_sha256: &str) -> Reply {
    list_within(exchanges, program_sha256, 60)
}

/// Returns a list whose answers are expected within a time.
fn list_within(exchanges: &[(&str, &str)], program_sha256: &str, answer_within_s: u32) -> Reply {
    let exchanges = exchanges.iter();
    let exchanges: Vec<Value> = exchanges
        .map(|(id, requests)| json!({"id": id, "requests": register::base64(requests.as_bytes())}))
        .collect();
    let document = json!({"agent": "a-1", "program_sha256": program_sha256, "answer_within_s": answer_within_s,
        "exchanges": exchanges});
    Reply::json(200, &document).header("ETag", format!("\"{}\"", exchanges.len()))
}

fn problem(status: u16, detail: &str) -> Reply {
    Reply::json(status, &json!({"detail": detail, "code": "c"}))
        .header("Content-Type", "application/problem+json")
}

/// Answers polls with one list first, and then with 304 after the test has ended.
fn once(request: &Request, first: Reply) -> Reply {
    match request.header("if-none-match") {
        None => first,
        Some(_) => Reply::Hold,
    }
}

fn is_put(request: &Request, id: &str) -> bool {
    request.method == "PUT" && request.path == format!("/api/v1/agents/exchanges/{id}/")
}

#[test]
fn a_join_with_a_lost_answer_is_repeated_with_the_same_secret() {
    let stand = Stand::start(|number, _| match number {
        0 => Reply::Close,
        _ => Reply::json(201, &json!({"agent": "a-1", "host": "lab-1", "live_url": ""})),
    });
    let host = Host::new();
    let output = host.join(&stand.address(), "code-1");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("This host is lab-1 (a-1)"),
        "{}",
        text(&output.stdout)
    );
    let output = host.join(&stand.address(), "code-1");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sent: Vec<Value> = stand.requests().iter().map(Request::json).collect();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|each| each == &sent[0]), "{sent:?}");
    assert_eq!(sent[0]["code"], "code-1");
    // Another code gets another secret.
    assert!(host.join(&stand.address(), "code-2").status.success());
    let other = stand.requests()[3].json();
    assert_ne!(other["secret_sha256"], sent[0]["secret_sha256"]);
    assert_eq!(other["program_sha256"], sent[0]["program_sha256"]);
    let settings = fs::metadata(host.path("etc/drivecert/agent.toml")).unwrap();
    assert_eq!(settings.mode() & 0o777, 0o600);
    assert!(!host.path("etc/drivecert/agent.joining.toml").exists());
    assert!(
        host.read("etc/systemd/system/drivecert-agent.service")
            .contains("KillMode=process")
    );
    let installed = fs::read(host.path("usr/local/sbin/drivetest")).unwrap();
    assert!(installed == fs::read(env!("CARGO_BIN_EXE_drivetest")).unwrap());
}

#[test]
fn a_refused_code_leaves_the_earlier_settings() {
    let stand = Stand::start(|_, _| problem(403, "The code was used; print a new command."));
    let host = Host::joined(&stand);
    let before = host.read("etc/drivecert/agent.toml");
    let output = host.join(&stand.address(), "code-1");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("print a new command"));
    assert_eq!(host.read("etc/drivecert/agent.toml"), before);
    assert!(!host.path("etc/systemd").exists());
}

#[test]
fn a_join_that_cannot_install_the_program_does_not_use_the_code() {
    let stand = Stand::start(|_, _| problem(403, "The code was used."));
    let host = Host::new();
    fs::write(host.path("usr"), "no folder").unwrap();
    let output = host.join(&stand.address(), "code-1");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("usr/local/sbin/drivetest: cannot write"),
        "{}",
        text(&output.stderr)
    );
    assert!(stand.requests().is_empty());
}

#[test]
fn a_join_with_an_unusable_live_address_uses_the_register_itself() {
    let stand = Stand::start(|_, _| {
        Reply::json(
            201,
            &json!({"agent": "a-1", "host": "lab-1", "live_url": "http://live.example"}),
        )
    });
    let host = Host::new();
    let output = host.join(&stand.address(), "code-1");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("live_url of the register: http://live.example"),
        "{}",
        text(&output.stderr)
    );
    assert!(
        host.read("etc/drivecert/agent.toml")
            .contains("live_url = \"\"\n")
    );
}

#[test]
fn another_join_without_a_proxy_removes_the_one_of_the_service() {
    let stand =
        Stand::start(|_, _| Reply::json(201, &json!({"agent": "a-1", "host": "lab-1", "live_url": ""})));
    let host = Host::new();
    let address = stand.address();
    for (proxy, is_set) in [("http://proxy.example", true), ("", false)] {
        let mut command = host.command(&["join", &address, "code-1"]);
        let output = command.env("HTTPS_PROXY", proxy).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let variables = host.read("etc/drivecert/agent.env");
        assert!(
            variables.starts_with("# Written by drivetest agent join"),
            "{variables}"
        );
        assert_eq!(variables.contains("\nHTTPS_PROXY="), is_set, "{variables}");
    }
}

#[test]
fn the_secret_of_another_machine_is_not_used() {
    let stand = Stand::start(|number, request| match number {
        0 | 1 => Reply::json(201, &json!({"agent": "a-1", "host": "lab-1", "live_url": ""})),
        _ => once(request, list(&[], "")),
    });
    let host = Host::new();
    fs::write(host.path("etc/machine-id"), "0123\n").unwrap();
    assert!(host.join(&stand.address(), "code-1").status.success());
    fs::write(host.path("etc/machine-id"), "4567\n").unwrap();
    let (code, messages) = host.start().end();
    assert_eq!(code, Some(2));
    assert!(
        messages.contains("another machine") && messages.contains("print a new command"),
        "{messages}"
    );
    // The code is of the other machine, too: it is sent with a new secret.
    assert!(host.join(&stand.address(), "code-1").status.success());
    let requests = stand.requests();
    assert_eq!(requests.len(), 2);
    assert_ne!(
        requests[0].json()["secret_sha256"],
        requests[1].json()["secret_sha256"]
    );
    let agent = host.start();
    stand.wait_for(|requests| requests.len() == 4);
    assert_eq!(agent.stop().0, Some(0));
}

#[test]
fn a_second_agent_of_the_same_host_does_not_run() {
    let stand = Stand::start(|_, request| once(request, list(&[], "")));
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.len() == 2);
    let (code, messages) = host.start().end();
    assert_eq!(code, Some(3));
    assert!(messages.contains("another drivetest agent"), "{messages}");
    assert_eq!(agent.stop().0, Some(0));
    assert_eq!(stand.requests().len(), 2);
    // The lock ended with the first agent.
    let agent = host.start();
    stand.wait_for(|requests| requests.len() == 4);
    assert_eq!(agent.stop().0, Some(0));
}

#[test]
fn http_is_refused_except_on_this_host() {
    let host = Host::new();
    let output = host.join("http://register.example", "code-1");
    assert_eq!(output.status.code(), Some(64));
    assert!(
        text(&output.stderr).contains("use https"),
        "{}",
        text(&output.stderr)
    );
    assert!(!host.path("etc/drivecert/agent.joining.toml").exists());
}

#[test]
fn a_host_that_has_not_joined_says_how() {
    let output = Host::new().command(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("drivetest agent join"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn an_exchange_is_carried_out_once_and_its_answer_repeated_until_it_arrives() {
    let requests = format!("{HEALTH}{{\"verb\":\"status\",\"run\":\"d-a\"}}\n");
    let listed = requests.clone();
    let stand = Stand::start(move |number, request| match request.method.as_str() {
        // The list stays the same until the answer has arrived.
        "GET" if number < 2 => list(&[("x-1", &listed)], ""),
        "GET" => once(request, list(&[("x-1", &listed)], "")),
        _ if request.of_this_kind == 0 => Reply::Close,
        _ if request.of_this_kind == 1 => problem(503, "busy").header("Retry-After", "0"),
        _ => Reply::empty(204),
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.iter().filter(|each| is_put(each, "x-1")).count() == 3);
    let (code, messages) = agent.stop();
    assert_eq!(code, Some(0), "{messages}");
    let requests = stand.requests();
    let answers: Vec<_> = requests.iter().filter(|each| is_put(each, "x-1")).collect();
    assert_eq!(answers.len(), 3);
    // The clock of the host is in the answer: a second execution would give another one.
    assert!(answers.iter().all(|each| each.body == answers[0].body));
    assert_eq!(
        answers[0].header("content-type"),
        Some("application/octet-stream")
    );
    let lines: Vec<Value> = text(&answers[0].body)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["ok"]["schema"], "drivecert.host-health/1");
    assert_eq!(
        lines[0]["ok"]["state_dir"],
        host.path("state").display().to_string()
    );
    assert_eq!(lines[1]["ok"]["state"], "absent");
    assert!(
        requests
            .iter()
            .all(|each| each.header("authorization") == Some("Bearer 5ec"))
    );
    assert_eq!(requests[0].path, "/api/v1/live/agents/exchanges/?wait=50");
}

#[test]
fn an_answer_that_is_no_longer_wanted_is_dropped() {
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" => once(request, list(&[("x-1", HEALTH), ("x-2", HEALTH)], "")),
        _ if is_put(request, "x-1") => problem(410, "expired"),
        _ => Reply::empty(204),
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| {
        ["x-1", "x-2"]
            .iter()
            .all(|id| requests.iter().any(|each| is_put(each, id)))
    });
    let (code, messages) = agent.stop();
    assert_eq!(code, Some(0), "{messages}");
    assert_eq!(
        stand.requests().iter().filter(|each| is_put(each, "x-1")).count(),
        1
    );
    assert!(!messages.contains("x-1"), "{messages}");
}

#[test]
fn a_proxy_that_refuses_an_answer_gets_it_once() {
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" => once(request, list(&[("x-1", HEALTH)], "")),
        _ => Reply::json(413, &json!("too large")),
    });
    let host = Host::joined(&stand);
    let mut agent = host.start();
    let seen = register::read_until(agent.0.stderr.as_mut().unwrap(), "x-1: the answer was refused");
    assert!(!seen.contains("next attempt"), "{seen}");
    assert_eq!(agent.stop().0, Some(0));
    assert_eq!(
        stand.requests().iter().filter(|each| is_put(each, "x-1")).count(),
        1
    );
}

#[test]
fn an_answer_is_given_up_after_a_minute() {
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" => once(request, list(&[("x-1", HEALTH)], "")),
        _ => problem(503, "busy").header("Retry-After", "61"),
    });
    let host = Host::joined(&stand);
    let mut agent = host.start();
    let waited = "x-1: the answer was not delivered";
    register::read_until(agent.0.stderr.as_mut().unwrap(), waited);
    assert_eq!(agent.stop().0, Some(0));
}

#[test]
fn an_exchange_that_waited_too_long_is_not_started() {
    let ids = ["x-1", "x-2", "x-3", "x-4", "x-5"];
    let stand = Stand::start(move |_, request| match request.method.as_str() {
        "GET" => once(request, list_within(&ids.map(|id| (id, HEALTH)), "", 1)),
        _ => Reply::empty(204),
    });
    let host = Host::joined(&stand);
    let settings = host.hold_children();
    let mut agent = host.start();
    // The second request is sent after the list has arrived.
    stand.wait_for(|requests| requests.len() == 2);
    std::thread::sleep(Duration::from_millis(1100));
    // Each child gets settings. The pipe opens once a child reads it.
    let content = format!("drives = []\nstate_dir = {:?}\n", host.path("state"));
    std::thread::spawn(move || {
        while let Ok(mut pipe) = fs::OpenOptions::new().write(true).open(&settings) {
            drop(pipe.write_all(content.as_bytes()));
        }
    });
    register::read_until(agent.0.stderr.as_mut().unwrap(), "x-5: not started");
    stand.wait_for(|requests| {
        ids[..4]
            .iter()
            .all(|id| requests.iter().any(|each| is_put(each, id)))
    });
    assert_eq!(agent.stop().0, Some(0));
    assert!(!stand.requests().iter().any(|each| is_put(each, "x-5")));
}

#[test]
fn a_host_whose_settings_cannot_be_used_answers_with_the_reason() {
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" => once(request, list(&[("x-1", HEALTH)], "")),
        _ => Reply::empty(204),
    });
    let host = Host::joined(&stand);
    fs::write(host.path("etc/drivecert/host.toml"), "drive = []").unwrap();
    let agent = host.start();
    stand.wait_for(|requests| requests.iter().any(|each| is_put(each, "x-1")));
    agent.stop();
    let requests = stand.requests();
    let answer = &requests.iter().find(|each| is_put(each, "x-1")).unwrap().body;
    assert!(
        text(answer).contains("host.toml: expected drives"),
        "{}",
        text(answer)
    );
    assert!(answer.len() < 200 && !answer.contains(&b'\n'));
}

#[test]
fn a_revoked_host_ends_with_2() {
    let stand = Stand::start(|_, _| problem(401, "The secret was revoked."));
    let (code, messages) = Host::joined(&stand).start().end();
    assert_eq!(code, Some(2));
    assert!(
        messages.contains("revoked this host: The secret was revoked."),
        "{messages}"
    );
}

#[test]
fn only_the_register_itself_revokes_a_host() {
    let live = Stand::start(|_, _| problem(401, "Unknown here."));
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" => once(request, list(&[("x-1", HEALTH)], "")),
        _ => Reply::empty(204),
    });
    let host = Host::joined(&stand);
    host.set(&format!("live_url = {:?}", live.address()));
    let agent = host.start();
    stand.wait_for(|requests| requests.iter().any(|each| is_put(each, "x-1")));
    let (code, messages) = agent.stop();
    assert_eq!(code, Some(0), "{messages}");
    assert_eq!(live.requests().len(), 1);

    let stand = Stand::start(|_, _| problem(401, "The secret was revoked."));
    let host = Host::joined(&stand);
    host.set(&format!("live_url = {:?}", live.address()));
    let (code, messages) = host.start().end();
    assert_eq!(code, Some(2));
    assert!(
        messages.contains("revoked this host: The secret was revoked."),
        "{messages}"
    );
    assert_eq!(stand.requests()[0].path, "/api/v1/agents/exchanges/");
}

#[test]
fn a_register_whose_live_process_is_away_is_polled() {
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" if request.path.starts_with("/api/v1/live/") => Reply::bytes(502, b"bad gateway".to_vec()),
        "GET" => once(request, list(&[("x-1", HEALTH)], "")),
        _ => Reply::empty(204),
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.iter().any(|each| is_put(each, "x-1")));
    assert_eq!(agent.stop().0, Some(0));
    let requests = stand.requests();
    let polls: Vec<_> = requests
        .iter()
        .filter(|each| each.method == "GET")
        .map(|each| each.path.starts_with("/api/v1/live/"))
        .collect();
    assert_eq!(polls[..3], [true, true, false]);
    assert!(!polls[3..].contains(&true), "{polls:?}");
}

#[test]
fn a_page_of_a_proxy_revokes_nothing() {
    let stand = Stand::start(|number, request| match number {
        0 => Reply::json(401, &json!("sign in")),
        _ => once(request, list(&[], "")),
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.len() == 3);
    assert_eq!(agent.stop().0, Some(0));
}

#[test]
fn a_wait_without_a_change_is_repeated_with_the_same_tag() {
    let stand = Stand::start(|number, _| match number {
        0 => list(&[], ""),
        1 | 2 => Reply::empty(304),
        _ => Reply::Hold,
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.len() == 4);
    assert_eq!(agent.stop().0, Some(0));
    let tags: Vec<_> = stand
        .requests()
        .iter()
        .map(|each| each.header("if-none-match").map(str::to_owned))
        .collect();
    let known = Some("\"0\"".to_owned());
    assert_eq!(tags, [None, known.clone(), known.clone(), known]);
}

#[test]
fn a_register_without_a_live_process_is_polled() {
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" if request.path.starts_with("/api/v1/live/") => problem(404, "no process"),
        "GET" if request.of_this_kind > 2 => Reply::Hold,
        "GET" => list(&[("x-1", HEALTH)], ""),
        _ => Reply::empty(204),
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.iter().any(|each| is_put(each, "x-1")));
    assert_eq!(agent.stop().0, Some(0));
    assert!(
        stand
            .requests()
            .iter()
            .any(|each| each.path == "/api/v1/agents/exchanges/")
    );
}

#[test]
fn the_agent_waits_longer_each_time_while_the_register_is_away() {
    let stand = Stand::start(|number, request| match number {
        0 | 1 => Reply::Close,
        _ => once(request, list(&[], "")),
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.len() == 4);
    let requests = stand.requests();
    let (code, messages) = agent.stop();
    assert_eq!(code, Some(0));
    assert_eq!(messages.matches("next attempt in").count(), 2, "{messages}");
    let waits = [requests[1].at - requests[0].at, requests[2].at - requests[1].at];
    assert!(
        waits[0] >= Duration::from_millis(750) && waits[1] >= Duration::from_millis(1500),
        "{waits:?}"
    );
}

#[test]
fn a_signal_ends_the_agent_after_the_exchange_that_runs() {
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" => once(request, list(&[("x-1", HEALTH)], "")),
        _ => Reply::Pause,
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.iter().any(|each| is_put(each, "x-1")));
    agent.terminate();
    stand.proceed(Reply::empty(204));
    let (code, messages) = agent.end();
    assert_eq!(code, Some(0), "{messages}");
    assert!(!messages.contains("not delivered"), "{messages}");
}

#[test]
fn a_signal_ends_the_agent_while_the_register_does_not_answer() {
    let stand = Stand::start(|_, request| match request.method.as_str() {
        "GET" => once(request, list(&[("x-1", HEALTH)], "")),
        _ => problem(503, "busy").header("Retry-After", "60"),
    });
    let host = Host::joined(&stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.iter().any(|each| is_put(each, "x-1")));
    let (code, messages) = agent.stop();
    assert_eq!(code, Some(0), "{messages}");
    assert!(
        messages.contains("x-1: the answer was not delivered"),
        "{messages}"
    );
}

/// A program that writes its arguments to a file, as the next release of drivetest. Returns it with its hash.
fn next_program(host: &Host) -> (Vec<u8>, String) {
    let out = host.path("ran");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] || echo \"$@\" > {}\n",
        out.display()
    );
    let sum = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut sum = sum.unwrap();
    sum.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = sum.wait_with_output().unwrap();
    (script.into_bytes(), text(&output.stdout)[..64].to_owned())
}

/// Starts a register that requires a program, and has this one.
fn register_of_program(pinned: &str, program: Vec<u8>) -> Stand {
    let pinned = pinned.to_owned();
    Stand::start(
        move |_, request| match request.path.starts_with("/api/v1/agents/program/") {
            true => Reply::bytes(200, program.clone()),
            false => once(request, list(&[], &pinned)),
        },
    )
}

fn agent_file(host: &Host, stand: &Stand) {
    let other = Host::joined(stand);
    let target = host.path("etc/drivecert/agent.toml");
    fs::copy(other.path("etc/drivecert/agent.toml"), target).unwrap();
}

#[test]
fn a_required_and_allowed_program_replaces_the_agent() {
    let host = Host::new();
    let (program, sha256) = next_program(&host);
    host.allow(&format!("\"{sha256}\""));
    let stand = register_of_program(&sha256, program.clone());
    agent_file(&host, &stand);
    let (code, messages) = host.start().end();
    assert_eq!(code, Some(0), "{messages}");
    assert!(fs::read(host.path("usr/local/sbin/drivetest")).unwrap() == program);
    assert!(
        host.read("ran").starts_with("agent --root "),
        "{}",
        host.read("ran")
    );
    let requests = stand.requests();
    let fetched: Vec<_> = requests
        .iter()
        .filter(|each| each.path.contains("program"))
        .collect();
    assert_eq!(fetched.len(), 1);
    assert_eq!(fetched[0].path, format!("/api/v1/agents/program/{sha256}/"));
}

#[test]
fn an_agent_whose_program_was_reinstalled_continues_as_the_installed_one() {
    let stand = Stand::start(|number, _| match number {
        0 => Reply::Pause,
        _ => Reply::Hold,
    });
    let host = Host::joined(&stand);
    let installed = host.path("usr/local/sbin/drivetest");
    fs::create_dir_all(installed.parent().unwrap()).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_drivetest"), &installed).unwrap();
    let mut command = Command::new(&installed);
    command.args(["agent", "--root"]).arg(host.folder.path());
    command.stderr(Stdio::piped());
    let agent = Agent(start_copy(command));
    stand.wait_for(|requests| requests.len() == 1);
    let (program, _) = next_program(&host);
    let place = host.path("next");
    fs::write(&place, program).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&place, &installed).unwrap();
    stand.proceed(list(&[], ""));
    let (code, messages) = agent.end();
    assert_eq!(code, Some(0), "{messages}");
    assert!(
        host.read("ran").starts_with("agent --root "),
        "{}",
        host.read("ran")
    );
}

/// Starts a copied program. A child of another test may have the copy open for writing until it executes its program.
fn start_copy(mut command: Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            started => return started.unwrap(),
        }
    }
}

#[test]
fn a_program_that_the_operator_does_not_allow_is_not_fetched() {
    let host = Host::new();
    host.allow(&format!("\"{}\"", SHA256_OF_OTHER.replace('5', "6")));
    let stand = register_of_program(SHA256_OF_OTHER, Vec::new());
    agent_file(&host, &stand);
    let agent = host.start();
    stand.wait_for(|requests| requests.len() == 2);
    let (code, messages) = agent.stop();
    assert_eq!(code, Some(0), "{messages}");
    assert_eq!(messages.matches("add it to updates").count(), 1, "{messages}");
    assert!(!stand.requests().iter().any(|each| each.path.contains("program")));
    assert!(!host.path("usr").exists());
}

#[test]
fn a_program_with_another_hash_is_not_installed() {
    let host = Host::new();
    host.allow(&format!("\"{SHA256_OF_OTHER}\""));
    let (program, _) = next_program(&host);
    let stand = register_of_program(SHA256_OF_OTHER, program);
    agent_file(&host, &stand);
    let mut agent = host.start();
    let seen = register::read_until(agent.0.stderr.as_mut().unwrap(), "nothing was installed");
    assert!(seen.contains(SHA256_OF_OTHER), "{seen}");
    assert_eq!(agent.stop().0, Some(0));
    assert!(!host.path("usr").exists() && !host.path("ran").exists());
}
