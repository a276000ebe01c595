//! Side files of drivetest that accompany an output of YCSB: telemetry of the host with the drive.

use crate::act::side_file::SideFile;
use crate::act::side_file::telemetry::Telemetry;
use crate::finding::{Finding, rule};
use crate::reader::{Part, Role};

/// Maximum number of side files: a run has one, or two if its requests came from another host.
const FILES_MAX: usize = 16;
/// Suffix of the name of the second side file.
const OF_DATABASE: &str = "-database";
/// Name of the side file in a run directory (docs/reference/formats.md, detached runs), without its ending.
const OF_DIRECTORY: &str = "side";
/// The clients of YCSB as a host's operator names them (docs/reference/formats.md, `drivetest watch`).
const CLIENTS: [&str; 2] = ["ycsb", "go-ycsb"];
const COMPRESSED: [&str; 3] = [".gz", ".zst", ".xz"];

/// Side files of a log.
#[derive(Debug, Default)]
pub struct Sidecars {
    log: String,
    files: Vec<(String, SideFile)>,
    is_full: bool,
}

impl Sidecars {
    /// Start a file.
    pub fn begin(&mut self, part: Part<'_>) {
        match part.role {
            Role::Log => stem(part.name).clone_into(&mut self.log),
            Role::SideFile => {
                self.is_full = self.files.len() == FILES_MAX;
                if !self.is_full {
                    self.files.push((stem(part.name).to_owned(), SideFile::default()));
                }
            }
            _ => {}
        }
    }

    /// Read the next bytes of the side file that began last.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Some((_, file)) = self.files.last_mut().filter(|_| !self.is_full) {
            file.push(bytes);
        }
    }

    /// Return the telemetry during the client's run, and a finding about an unused file.
    ///
    /// The sources in this order: the file named after the log and the database's host; the file named after the log;
    /// the only file, if a client ran during it. Files of other steps belong to no run.
    pub fn telemetry(mut self) -> (Option<Telemetry>, Option<Finding>) {
        let is_only = self.files.len() == 1;
        let of_database = format!("{}{OF_DATABASE}", self.log);
        for name in [&of_database, &self.log] {
            let named = self.files.iter().position(|(file, _)| file == name);
            if let Some(telemetry) = named.and_then(|at| self.files.swap_remove(at).1.telemetry()) {
                return (Some(telemetry), None);
            }
        }
        match self.files.pop().filter(|_| is_only) {
            Some((name, file)) => only(&self.log, &name, file),
            None => (None, None),
        }
    }
}

/// Return the telemetry of the only file with another name than the log, if it belongs to the client.
fn only(log: &str, name: &str, mut file: SideFile) -> (Option<Telemetry>, Option<Finding>) {
    let is_of_client = match file.watched() {
        Some(program) => Some(CLIENTS.contains(&program)),
        None => (name.rsplit('/').next() == Some(OF_DIRECTORY)).then_some(true),
    };
    match (is_of_client, file.telemetry()) {
        (Some(true), telemetry) => (telemetry, None),
        (None, Some(_)) => (None, Some(unknown(log, name))),
        _ => (None, None),
    }
}

fn unknown(log: &str, name: &str) -> Finding {
    let sentence = format!(
        "the side file {name:?} is not named after the log {log:?}, and does not show a run of a YCSB client: its telemetry \
         is not used"
    );
    rule::SIDE_FILE_DIFFERS.at(None, sentence)
}

/// Return a name without its ending.
fn stem(name: &str) -> &str {
    let decompressed = COMPRESSED.iter().find_map(|ending| name.strip_suffix(ending));
    let plain = decompressed.unwrap_or(name);
    plain.rsplit_once('.').map_or(plain, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITH_DRIVE: &str = r#"{"record": "start", "devices": [{"path": "/dev/a", "kind": "nvme"}]}"#;
    const WITHOUT: &str = r#"{"record": "start", "devices": []}"#;

    fn busy_pct(files: &[(&str, &str, &str)]) -> Option<String> {
        let mut sidecars = Sidecars::default();
        sidecars.begin(Part {
            name: "run-a-t004.log",
            role: Role::Log,
        });
        for (name, start, pct) in files {
            sidecars.begin(Part {
                name,
                role: Role::SideFile,
            });
            let interval = format!(
                r#"{{"record": "interval", "telemetry": {{"cpu": {{"busy_pct": "{pct}"}}, "disks": []}}}}"#
            );
            sidecars.push(format!("{start}\n{interval}\n").as_bytes());
        }
        sidecars.telemetry().0?.cpu_busy_pct.texts().map(|span| span.mean)
    }

    #[test]
    fn telemetry_is_that_of_the_host_with_the_drive() {
        let (client, database) = (
            ("run-a-t004.jsonl", WITHOUT, "10.0"),
            ("run-a-t004-database.jsonl.gz", WITH_DRIVE, "60.0"),
        );
        assert_eq!(busy_pct(&[client, database]).as_deref(), Some("60.0"));
        assert_eq!(busy_pct(&[database, client]).as_deref(), Some("60.0"));
        assert_eq!(
            busy_pct(&[client]),
            None,
            "processors of a host without the drive"
        );
        let alone = ("run-a-t004.jsonl", WITH_DRIVE, "20.0");
        assert_eq!(busy_pct(&[alone]).as_deref(), Some("20.0"));
    }

    #[test]
    fn side_files_of_other_steps_belong_to_no_run() {
        let (format, mount) = (
            ("format.jsonl", WITH_DRIVE, "1.0"),
            ("mount.jsonl", WITH_DRIVE, "2.0"),
        );
        let own = ("run-a-t004.jsonl", WITH_DRIVE, "20.0");
        assert_eq!(busy_pct(&[format, own, mount]).as_deref(), Some("20.0"));
        assert_eq!(busy_pct(&[format, mount]), None);
    }

    fn only_file(name: &str, watched: &str) -> (bool, Option<Finding>) {
        let mut sidecars = Sidecars::default();
        for (name, role) in [("run-a-t004.log", Role::Log), (name, Role::SideFile)] {
            sidecars.begin(Part { name, role });
        }
        let start =
            format!(r#"{{"record": "start", "devices": [{{"path": "/dev/a", "kind": "nvme"}}]{watched}}}"#);
        let interval = r#"{"record": "interval", "telemetry": {"cpu": {"busy_pct": "3.0"}, "disks": []}}"#;
        sidecars.push(format!("{start}\n{interval}\n").as_bytes());
        let (telemetry, finding) = sidecars.telemetry();
        (telemetry.is_some(), finding)
    }

    #[test]
    fn an_only_file_belongs_to_the_run_by_its_name_or_its_program() {
        let program = |name: &str| format!(r#", "watch": {{"program": "{name}", "argv": []}}"#);
        for (name, watched) in [
            ("run-a-t004.jsonl", String::new()),
            ("run-a-t004-database.jsonl", String::new()),
            ("side.jsonl.gz", String::new()),
            (
                "side.jsonl",
                r#", "watch": {"program": null, "argv": []}"#.to_owned(),
            ),
            ("mine.jsonl", program("ycsb")),
            ("mine.jsonl", program("go-ycsb")),
            ("run-a-t004.jsonl", program("my-client")),
        ] {
            assert_eq!(only_file(name, &watched), (true, None), "{name} {watched}");
        }
    }

    #[test]
    fn an_only_file_of_another_step_is_of_no_run() {
        for name in ["format.jsonl", "side.jsonl"] {
            let found = only_file(name, r#", "watch": {"program": "mkfs-xfs", "argv": []}"#);
            assert_eq!(found, (false, None), "{name}");
        }
    }

    #[test]
    fn an_only_file_of_unknown_origin_is_reported_and_not_used() {
        for name in [
            "mine.jsonl",
            "sides.jsonl",
            "run-a-t0040.jsonl",
            "run-a-t004-load.jsonl",
        ] {
            let (is_used, finding) = only_file(name, "");
            assert!(!is_used, "{name}");
            assert_eq!(finding.unwrap().id, rule::SIDE_FILE_DIFFERS.id);
        }
    }

    #[test]
    fn the_number_of_side_files_is_limited() {
        let mut many = vec![("format.jsonl", WITH_DRIVE, "1.0"); FILES_MAX];
        many.push(("run-a-t004.jsonl", WITH_DRIVE, "20.0"));
        assert_eq!(busy_pct(&many), None);
    }
}
