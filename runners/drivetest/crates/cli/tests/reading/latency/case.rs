//! The tables of the original scripts, and those of `latency` with the same options.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{drivetest_in, logs, text};

/// A table of an original script, and its options.
pub struct Case {
    /// Version, case and kind.
    pub name: String,
    /// The file.
    pub table: PathBuf,
}

fn directories(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

/// Returns every table in the folders of real logs.
pub fn cases() -> Vec<Case> {
    let mut found = Vec::new();
    for version in directories(&logs()) {
        for table in fs::read_dir(&version).unwrap().map(|entry| entry.unwrap().path()) {
            let file = table.file_name().unwrap().to_str().unwrap();
            if let Some(name) = file.strip_suffix(".txt").filter(|name| name.contains(".latency")) {
                let name = format!("{}/{name}", version.file_name().unwrap().to_str().unwrap());
                found.push(Case { name, table });
            }
        }
    }
    found
}

impl Case {
    /// Returns a table by its name.
    pub fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            table: logs().join(format!("{name}.txt")),
        }
    }

    /// Returns the output of the original script.
    pub fn upstream(&self) -> String {
        fs::read_to_string(&self.table).unwrap()
    }

    /// Returns the name of the log.
    pub fn log(&self) -> String {
        let (case, _) = self.name.rsplit_once(".latency").unwrap();
        format!("{}.log", case.rsplit_once('/').unwrap().1)
    }

    /// Returns the options of the table. A table of all histograms starts with the options in its first line.
    fn args(&self) -> Vec<String> {
        let first = self.upstream().lines().next().unwrap_or_default().to_owned();
        if let Some(asked) = first.strip_prefix("act_latency.py ") {
            return asked.split(' ').map(str::to_owned).collect();
        }
        let options = match self.name.rsplit_once(".latency").unwrap().1 {
            "-w" => "-t 10 -n 17 -x -w",
            "-n7" => "-t 10",
            _ => "-t 10 -n 17 -x",
        };
        format!("-l {} {options}", self.log())
            .split(' ')
            .map(str::to_owned)
            .collect()
    }

    /// Returns standard output, standard error and exit status of `latency`.
    pub fn printed(&self) -> (String, String, i32) {
        let args = self.args();
        let args: Vec<&str> = std::iter::once("latency")
            .chain(args.iter().map(String::as_str))
            .collect();
        let output = drivetest_in(self.table.parent().unwrap(), &args);
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.code().unwrap(),
        )
    }
}
