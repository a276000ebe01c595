//! A directory for a run: a configuration, a plain file as a drive, and the outputs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for a busy host.
const PATIENCE: Duration = Duration::from_secs(120);

/// Just below one second, after which a late request is omitted.
const NEARLY_LEFT_OUT_NS: u64 = 900_000_000;

/// A directory for one test.
pub struct Bench {
    directory: tempfile::TempDir,
    /// The device in the configuration.
    pub device: String,
}

impl Bench {
    /// Creates a bench whose drive is a plain file that does not exist yet.
    pub fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let device = directory.path().join("drive.img").display().to_string();
        Self { directory, device }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the command line for a configuration of the device and these lines.
    pub fn command(&self, lines: &str) -> Command {
        self.command_of("storage", lines)
    }

    /// Like [`Bench::command`], for this load command.
    pub fn command_of(&self, load: &str, lines: &str) -> Command {
        let config = self.path("config");
        fs::write(&config, format!("device-names: {}\n{lines}", self.device)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_drivetest"));
        // A short sample of I/O activity is enough: nothing else uses the device.
        command.env("DRIVETEST_GATE_SAMPLE_MS", "50");
        command.arg(load).arg(config).arg("--log").arg(self.path("log"));
        command.arg("--side-file").arg(self.path("side.jsonl"));
        command
    }

    pub fn run(&self, lines: &str) -> Output {
        self.command(lines).output().unwrap()
    }

    /// Like [`Bench::command_of`], with retries as in [`Bench::kept_up`].
    pub fn run_kept_up(&self, load: &str, lines: &str) -> Output {
        self.kept_up(&mut self.command_of(load, lines))
    }

    /// Runs to the end. Repeats the run up to five times if this machine stalled so long that requests were a second late,
    /// because a run omits those at its end.
    pub fn kept_up(&self, command: &mut Command) -> Output {
        let mut output = command.output().unwrap();
        let mut stalls = Vec::new();
        while stalls.len() < 4 {
            let Some(stall) = self.longest_stall() else {
                break;
            };
            stalls.push(stall);
            self.clear();
            output = command.output().unwrap();
        }
        report_retries(&format!("a load: {}", stalls.join(", ")), stalls.len() as u32);
        output
    }

    /// Removes the outputs, because a log or a side file with a run is not overwritten.
    fn clear(&self) {
        for path in ["log", "side.jsonl"].map(|name| self.path(name)) {
            if path.exists() {
                fs::remove_file(path).unwrap();
            }
        }
    }

    /// Returns the operation and the time that was so long that requests may have been left out; None if none was.
    fn longest_stall(&self) -> Option<String> {
        let end = self.side().pop()?;
        let times = end["operations"]
            .as_object()?
            .iter()
            .flat_map(|(name, operation)| {
                ["lateness", "service"].map(|time| (operation[time]["max_ns"].as_u64(), name, time))
            });
        let (longest_ns, name, time) = times.max()?;
        let longest_ns = longest_ns.filter(|&longest_ns| longest_ns >= NEARLY_LEFT_OUT_NS)?;
        Some(format!("{name}, {time} {} ms", longest_ns / 1_000_000))
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

    /// Returns the last record of the side file.
    pub fn end(&self) -> Value {
        self.side().pop().unwrap()
    }

    /// Waits until the log contains a text. The run must still be running.
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
    /// Waits until the log contains a text, also after the end of the run.
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

/// A running load, ended on drop.
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
        // Fails if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the numbers of the `NAME (N total)` lines of all blocks.
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

/// Returns the labels of the blocks.
pub fn labels(log: &str) -> Vec<u64> {
    let label = |line: &str| line.strip_prefix("after ")?.strip_suffix(" sec:")?.parse().ok();
    log.lines().filter_map(label).collect()
}

/// Returns whether plain files next to the drive support direct I/O. If not, reports it outside the captured output.
pub fn takes_direct_io(bench: &Bench) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    const O_DIRECT: i32 = if cfg!(target_arch = "aarch64") {
        0o200_000
    } else {
        0o40_000
    };
    let probe = Path::new(&bench.device).with_file_name("probe");
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
    print_uncaptured(&format!("SKIPPED: {why}\n"));
}

/// Reports the number of runs that other programs on the host disturbed, because a regression would raise it.
pub fn report_retries(what: &str, disturbed_runs: u32) {
    if disturbed_runs > 0 {
        print_uncaptured(&format!(
            "RETRIED: {what}: {disturbed_runs} runs were disturbed\n"
        ));
    }
}

/// Prints a line that the test harness does not capture: println! would appear for failed tests only.
fn print_uncaptured(line: &str) {
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

fn parent(path: &Path) -> String {
    path.parent().unwrap().display().to_string()
}
