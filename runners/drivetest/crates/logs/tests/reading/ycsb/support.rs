//! The cases of tests/data/ycsb: a log with its stderr and command line.

use std::fs;
use std::path::{Path, PathBuf};

use drivetest_logs::finding::Finding;
use drivetest_logs::reader::{LogReader, Options, Part, Reading, Role};
use drivetest_logs::ycsb::run::Run;

/// A real output.
pub struct Case {
    /// Path in tests/data/ycsb, without the ending.
    pub name: String,
    path: PathBuf,
}

/// The directory of the real outputs.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/data/ycsb")
}

/// Every output of YCSB in Java.
pub fn java_cases() -> Vec<Case> {
    let mut logs = Vec::new();
    gather(&folder(), &mut logs);
    logs.sort();
    let case = |path: PathBuf| {
        let name = path.strip_prefix(folder()).unwrap().with_extension("");
        let name = name.to_str().unwrap().to_owned();
        Case { name, path }
    };
    let cases = logs.into_iter().map(case);
    cases.filter(|case| case.name.starts_with("ycsb-")).collect()
}

/// One of them.
pub fn case(name: &str) -> Case {
    let path = folder().join(format!("{name}.log"));
    let name = name.to_owned();
    Case { name, path }
}

fn gather(folder: &Path, logs: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, logs);
        } else if path.extension().is_some_and(|ending| ending == "log") {
            logs.push(path);
        }
    }
}

impl Case {
    /// The bytes of the log, or of a companion; empty where there is none.
    pub fn bytes(&self, ending: &str) -> Vec<u8> {
        let path = PathBuf::from(format!("{}.{ending}", self.path.with_extension("").display()));
        fs::read(path).unwrap_or_default()
    }

    /// Reads the log with its stderr and its command line.
    pub fn read(&self) -> Reading {
        let parts = [(Role::Stderr, "stderr"), (Role::Command, "cmd")];
        let parts: Vec<(Role, &str, Vec<u8>)> = parts
            .into_iter()
            .map(|(role, ending)| (role, ending, self.bytes(ending)))
            .collect();
        read(&self.bytes("log"), &parts)
    }

    /// Reads the log alone.
    pub fn read_alone(&self) -> Reading {
        read(&self.bytes("log"), &[])
    }
}

/// Reads a log with companions: role, name, bytes.
pub fn read(log: &[u8], companions: &[(Role, &str, Vec<u8>)]) -> Reading {
    let mut reader = LogReader::new(Options::default());
    reader.begin(Part {
        name: "log",
        role: Role::Log,
    });
    reader.push(log);
    for (role, name, bytes) in companions {
        reader.begin(Part { name, role: *role });
        reader.push(bytes);
    }
    reader.finish()
}

/// The ids of findings.
pub fn ids(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.id).collect()
}

/// The one run of a log, with a command line in a companion where it is not empty.
pub fn one(log: &str, command_line: &str) -> Run {
    let stderr = format!("Command line: {command_line}\nYCSB Client 0.18.0\n");
    let companions: &[_] = &[(Role::Stderr, "err", stderr.into_bytes())];
    let companions = if command_line.is_empty() { &[] } else { companions };
    let mut runs = read(log.as_bytes(), companions).ycsb_runs;
    assert_eq!(runs.len(), 1, "{log}");
    runs.remove(0)
}

/// Every output of go-ycsb.
pub fn go_cases() -> Vec<Case> {
    let mut logs = Vec::new();
    gather(&folder().join("go-ycsb-v1.0.1"), &mut logs);
    logs.sort();
    let name = |path: &PathBuf| path.strip_prefix(folder()).unwrap().with_extension("");
    let cases = logs.into_iter();
    cases
        .map(|path| Case {
            name: name(&path).to_str().unwrap().to_owned(),
            path,
        })
        .collect()
}
