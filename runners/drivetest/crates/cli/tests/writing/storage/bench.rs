//! A place to run the program in: a directory with a configuration, a plain file as drive, and what came out.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for a host that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// Just below the second after which a late request is left out.
const NEARLY_LEFT_OUT_NS: u64 = 900_000_000;

/// A directory of its own for one test.
pub struct Bench {
    directory: tempfile::TempDir,
    /// What the configuration names.
    pub device: String,
}

impl Bench {
    /// With a plain file as drive that is not there yet.
    pub fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let device = directory.path().join("drive.img").display().to_string();
        Self { directory, device }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The command line for a configuration that consists of the device and these lines.
    pub fn command(&self, lines: &str) -> Command {
        self.command_of("storage", lines)
    }

    /// As [`Bench::command`], of the load that this command makes.
    pub fn command_of(&self, load: &str, lines: &str) -> Command {
        let config = self.path("config");
        fs::write(&config, format!("device-names: {}\n{lines}", self.device)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
        command.arg(load).arg(config).arg("--log").arg(self.path("log"));
        command.arg("--side-file").arg(self.path("side.jsonl"));
        command
    }

    pub fn run(&self, lines: &str) -> Output {
        self.command(lines).output().unwrap()
    }

    /// As [`Bench::command_of`], as [`Bench::kept_up`].
    pub fn run_kept_up(&self, load: &str, lines: &str) -> Output {
        self.kept_up(&mut self.command_of(load, lines))
    }

    /// Runs to the end; again where this machine stood still so long that requests were late by a second, which are left
    /// out when the time is over: up to five times.
    pub fn kept_up(&self, command: &mut Command) -> Output {
        let mut output = command.output().unwrap();
        for _ in 1..5 {
            if !self.stood_still() {
                break;
            }
            self.clear();
            output = command.output().unwrap();
        }
        output
    }

    /// Removes what came out: a log and a side file that hold a run are not written over.
    fn clear(&self) {
        for path in ["log", "side.jsonl"].map(|name| self.path(name)) {
            if path.exists() {
                fs::remove_file(path).unwrap();
            }
        }
    }

    fn stood_still(&self) -> bool {
        let longest_ns = |operation: &Value| {
            let of = |time: &str| operation[time]["max_ns"].as_u64();
            of("lateness").max(of("service"))
        };
        let Some(end) = self.side().pop() else {
            return false;
        };
        let operations = end["operations"].as_object();
        operations.is_some_and(|all| {
            all.values()
                .any(|one| longest_ns(one) >= Some(NEARLY_LEFT_OUT_NS))
        })
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub fn side(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("side.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The last record of the side file.
    pub fn end(&self) -> Value {
        self.side().pop().unwrap()
    }

    /// Waits until the log holds a text; the run must still be under way.
    pub fn wait_for(&self, run: &mut Run, text: &str) {
        let patience = Instant::now() + PATIENCE;
        while !self.log().contains(text) {
            assert!(
                run.0.try_wait().unwrap().is_none(),
                "ended before '{text}':\n{}",
                self.log()
            );
            assert!(Instant::now() < patience, "no '{text}' in\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Bench {
    /// Waits until the log holds a text, whether the run has ended or not.
    pub fn wait_for_text(&self, text: &str) {
        wait_until(|| self.log().contains(text), text);
    }

    /// Waits until the side file has its end record.
    pub fn wait_for_end(&self) {
        let path = self.path("side.jsonl");
        let ended = || fs::read_to_string(&path).is_ok_and(|text| text.contains("\"record\":\"end\""));
        wait_until(ended, "end record");
    }
}

fn wait_until(mut is_so: impl FnMut() -> bool, what: &str) {
    let patience = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < patience, "no {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A run that is under way; a test that fails leaves none behind.
pub struct Run(Child);

impl Run {
    pub fn of(mut command: Command) -> Self {
        Self(command.spawn().unwrap())
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.id().to_string())
            .status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end and returns the exit status.
    pub fn exit_status(mut self) -> Option<i32> {
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the run did not end");
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Fails where it has ended already, which is as well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The numbers of `NAME (N total)` lines, block after block.
pub fn totals(log: &str, name: &str) -> Vec<u64> {
    let total = |line: &str| {
        line.strip_prefix(name)?
            .strip_prefix(" (")?
            .strip_suffix(" total)")?
            .parse()
            .ok()
    };
    log.lines().filter_map(total).collect()
}

/// The labels of the blocks.
pub fn labels(log: &str) -> Vec<u64> {
    let label = |line: &str| line.strip_prefix("after ")?.strip_suffix(" sec:")?.parse().ok();
    log.lines().filter_map(label).collect()
}

/// Whether plain files here take direct I/O; says so where not, past the capture of test output.
pub fn takes_direct_io(bench: &Bench) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    const O_DIRECT: i32 = if cfg!(target_arch = "aarch64") {
        0o200_000
    } else {
        0o40_000
    };
    let probe = bench.path("probe");
    let opened = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(O_DIRECT)
        .open(&probe);
    if opened.is_err() {
        skip(&format!("no direct I/O on {}", parent(&probe)));
    }
    opened.is_ok()
}

pub fn skip(why: &str) {
    // println! would be captured, and a skipped test pass for a passed one.
    std::io::stderr()
        .write_all(format!("SKIPPED: {why}\n").as_bytes())
        .unwrap();
}

fn parent(path: &Path) -> String {
    path.parent().unwrap().display().to_string()
}
