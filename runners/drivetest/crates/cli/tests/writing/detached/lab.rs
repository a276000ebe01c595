//! A lab in a temporary directory: run directories, the lock of a drive, and the real binary.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

/// Long enough for any step on a busy machine. Only a failing test waits this long.
const LIMIT: Duration = Duration::from_secs(120);

pub struct Lab {
    folder: tempfile::TempDir,
    has_own_disk: bool,
}

/// The result of a command.
pub struct Answer {
    pub code: Option<i32>,
    pub record: Value,
    pub stderr: String,
}

impl Answer {
    pub fn state(&self) -> &str {
        self.record["state"].as_str().unwrap_or("unanswered")
    }

    pub fn pid(&self) -> i64 {
        self.record["pid"]
            .as_i64()
            .unwrap_or_else(|| panic!("no pid in {}: {}", self.record, self.stderr))
    }

    pub fn reason(&self) -> &str {
        self.record["reason"].as_str().unwrap()
    }
}

impl Lab {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            has_own_disk: false,
        }
    }

    /// Returns a lab on a small file system of its own. None if this user cannot mount one.
    pub fn on_small_disk() -> Option<Self> {
        let mut lab = Self::new();
        let mount = ["-t", "tmpfs", "-o", "size=256k", "drivetest"];
        lab.has_own_disk = succeeds(Command::new("mount").args(mount).arg(lab.folder.path()));
        if !lab.has_own_disk {
            eprintln!("SKIPPED: cannot mount a tmpfs here (not root, or a container)");
            return None;
        }
        Some(lab)
    }

    /// Writes a file until the disk is full.
    pub fn fill_disk(&self) {
        let mut file = fs::File::create(self.path("filler")).unwrap();
        let error = std::iter::repeat_with(|| file.write_all(&[0; 4096])).find_map(Result::err);
        assert_eq!(error.unwrap().kind(), std::io::ErrorKind::StorageFull);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Creates a run directory. Its load is `drivetest status` of a directory whose `pid` is a named pipe. It waits until a
    /// test writes to the pipe, as a load waits for its end.
    pub fn run_dir(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.join("load")).unwrap();
        self.pipe(&format!("{name}/load/pid"));
        path
    }

    /// Creates a named pipe.
    pub fn pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status();
        assert!(made.unwrap().success());
    }

    /// Returns the command line that starts the load of a run directory.
    pub fn starting(&self, name: &str, generation: u64) -> Vec<String> {
        let run_dir = self.path(name).display().to_string();
        let drive_lock = self.path("drive.lock").display().to_string();
        let load = format!("{run_dir}/load");
        let generation = generation.to_string();
        let start = [
            "run",
            "start",
            "--run-dir",
            &run_dir,
            "--drive-lock",
            &drive_lock,
            "--generation",
            &generation,
        ];
        start
            .into_iter()
            .chain(["--", "status", "--run-dir", &load])
            .map(str::to_owned)
            .collect()
    }

    pub fn start(&self, name: &str, generation: u64) -> Answer {
        answer(
            drivetest()
                .args(self.starting(name, generation))
                .output()
                .unwrap(),
        )
    }

    pub fn status(&self, name: &str) -> Answer {
        self.existing(&["run", "status"], name)
    }

    pub fn stop(&self, name: &str) -> Answer {
        self.existing(&["run", "stop"], name)
    }

    /// Runs a command on an existing run.
    pub fn existing(&self, command: &[&str], name: &str) -> Answer {
        answer(
            drivetest()
                .args(command)
                .arg("--run-dir")
                .arg(self.path(name))
                .output()
                .unwrap(),
        )
    }

    /// Deletes the directory of a run with a command.
    pub fn remove(&self, command: &[&str], name: &str, generation: u64) -> Answer {
        answer(
            drivetest()
                .args(command)
                .arg("--run-dir")
                .arg(self.path(name))
                .arg("--drive-lock")
                .arg(self.path("drive.lock"))
                .args(["--generation", &generation.to_string()])
                .output()
                .unwrap(),
        )
    }

    /// Ends the load of a run directory by writing to its pipe.
    pub fn feed(&self, name: &str, text: &str) {
        fs::write(self.path(name).join("load/pid"), text).unwrap();
    }

    pub fn ended(&self, name: &str) -> Answer {
        wait_for(|| Some(self.status(name)).filter(|answer| answer.state() == "ended"))
    }

    /// Returns the processes that executed the load of a run directory.
    pub fn loads(&self, name: &str) -> Vec<i64> {
        let load = self.path(name).join("load").display().to_string();
        processes(|words| words == ["drivetest", "status", "--run-dir", &load])
    }

    /// Returns the processes of a run directory before exec: launchers, monitors and future loads.
    pub fn forks(&self, name: &str) -> Vec<i64> {
        let run_dir = self.path(name).display().to_string();
        processes(|words| words.get(2).is_some_and(|word| word == "start") && words.contains(&run_dir))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let folder = self.path("").display().to_string();
        for pid in processes(|words| words.iter().any(|word| word.starts_with(&folder))) {
            kill(pid);
        }
        if self.has_own_disk {
            // Lazily, as the killed processes may still be ending.
            succeeds(Command::new("umount").arg("--lazy").arg(self.folder.path()));
        }
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

pub fn drivetest() -> Command {
    Command::new(binary())
}

pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_drivetest"))
}

pub fn answer(output: Output) -> Answer {
    Answer {
        code: output.status.code(),
        record: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Kills a process as the kernel does when memory runs out.
pub fn kill(pid: i64) {
    signalled(kill_process(number(pid), Signal::KILL));
}

/// Ends a process and its children as a closed terminal or a service manager does.
pub fn kill_group(pid: i64) {
    signalled(kill_process_group(number(pid), Signal::KILL));
}

fn number(pid: i64) -> Pid {
    Pid::from_raw(pid.try_into().unwrap()).unwrap()
}

fn signalled(answer: Result<(), Errno>) {
    assert!(matches!(answer, Ok(()) | Err(Errno::SRCH)), "{answer:?}");
}

pub fn wait_for<Found>(mut look: impl FnMut() -> Option<Found>) -> Found {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "did not come about within {LIMIT:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn processes(is_wanted: impl Fn(&[String]) -> bool) -> Vec<i64> {
    let numbers = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let is_wanted = |pid: &i64| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<_> = line
            .split(|&byte| byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        is_wanted(words.strip_suffix(&[String::new()]).unwrap_or(&words))
    };
    numbers.filter(is_wanted).collect()
}
