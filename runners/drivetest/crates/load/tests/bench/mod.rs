//! A test bench: a plain file as device, and loads on it within this process.

use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use drivetest_device::opening::OpenRefusal;
use drivetest_device::{Guard, Identity};
use drivetest_load::config::{Config, Model};
use drivetest_load::host::Host;
use drivetest_load::progress::{LoadProgress, ProgressView, Snapshot};
use drivetest_load::report::output::Outputs;
use drivetest_load::signals::Signals;
use drivetest_load::{LoadRun, Outcome};
use serde_json::Value;

/// A directory for one test.
pub struct Bench {
    directory: tempfile::TempDir,
    pub device: String,
    runs: Cell<usize>,
    truncates: Cell<bool>,
    /// Snapshots of the next run, if it is watched.
    pub watched: Option<Watched>,
}

/// A view that keeps the snapshots.
#[derive(Debug, Default, Clone)]
pub struct Watched(Arc<Mutex<Vec<LoadProgress>>>);

impl Watched {
    pub fn snapshots(&self) -> Vec<LoadProgress> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl ProgressView for Watched {
    fn show(&self, snapshot: Snapshot) {
        // Others show how the file is filled before the load.
        if let Snapshot::Load(load) = snapshot {
            self.0.lock().unwrap().push(load);
        }
    }

    fn around_output(&self, write: &mut dyn FnMut()) {
        write();
    }
}

impl Bench {
    /// Creates a bench. None, with a message, if plain files have no direct I/O here.
    pub fn new() -> Option<Self> {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let probe = directory.path().join("probe");
        let opened = rustix::fs::open(
            &probe,
            rustix::fs::OFlags::CREATE | rustix::fs::OFlags::RDWR | rustix::fs::OFlags::DIRECT,
            rustix::fs::Mode::RWXU,
        );
        if opened.is_err() {
            std::io::stderr()
                .write_all(b"SKIPPED: no direct I/O here\n")
                .unwrap();
            return None;
        }
        let device = directory.path().join("drive.img").display().to_string();
        let (runs, truncates) = (Cell::new(0), Cell::new(false));
        Some(Self {
            directory,
            device,
            runs,
            truncates,
            watched: None,
        })
    }

    /// Truncates the file when it is identified, so that every read ends early.
    pub fn guard_truncates(&self) {
        self.truncates.set(true);
    }

    /// Runs a load of 16 MiB with additional configuration lines.
    pub fn run(&self, engine: &str, lines: &str) -> Outcome {
        self.runs.set(self.runs.get() + 1);
        let text = format!(
            "device-names: {}\nfile-size-mbytes: 16\nengine: {engine}\n{lines}",
            self.device
        );
        let (config, _) = Config::read_of(Model::Storage, &text, 2).unwrap();
        let mut outputs = Outputs::open(Some(&self.path("log")), Some(&self.path("side"))).unwrap();
        let view = self.watched.clone();
        outputs.set_view(view.map(|view| Box::new(view) as Box<dyn ProgressView>));
        let order = LoadRun {
            config,
            config_file: text.as_bytes(),
            seed: 7,
            may_destroy: true,
            guard: self,
        };
        let ended = order.execute(&Host::here(), &Signals::watch().unwrap(), &mut outputs);
        ended.outcome
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(format!("{name}-{}", self.runs.get()))
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap()
    }

    pub fn side(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("side")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Returns the last record of the side file.
    pub fn end(&self) -> Value {
        self.side().pop().unwrap()
    }
}

impl Guard for Bench {
    fn check(&self, _: usize) -> Result<(), OpenRefusal> {
        Ok(())
    }

    fn check_opened(&self, _: usize, _: &File) -> Result<(), OpenRefusal> {
        Ok(())
    }

    fn identity(&self, _: usize, _: &File) -> Option<Identity> {
        if self.truncates.get() {
            std::fs::OpenOptions::new()
                .write(true)
                .open(&self.device)
                .unwrap()
                .set_len(0)
                .unwrap();
        }
        None
    }
}
