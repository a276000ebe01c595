//! Roles of the files of an archive and of attachments, from their names and then from their first bytes.

use drivetest_load::report::side::START_HEAD;
use drivetest_logs::read_error::{BINARY, EMPTY, NOT_AN_ACT_LOG};
use drivetest_logs::reader::{LogReader, Options, Role};
use serde::Serialize;

/// A file of an archive, or an attachment.
#[derive(Clone, Debug, Serialize)]
pub struct Member {
    /// Its name, used only as a label.
    pub name: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its SHA-256. None if the file could not be read to the end.
    pub sha256: Option<String>,
    /// The SHA-256 of the decompressed bytes of a log that is compressed within the archive, if it was read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_sha256: Option<String>,
    /// Its role for its log.
    pub role: Role,
}

const COMPRESSED: [&str; 3] = [".gz", ".zst", ".xz"];

/// File name extensions and their roles.
const EXTENSIONS: [(&str, Role); 18] = [
    ("log", Role::Log),
    ("stdout", Role::Log),
    ("stderr", Role::Stderr),
    ("err", Role::Stderr),
    ("cmd", Role::Command),
    ("conf", Role::Config),
    ("cfg", Role::Config),
    ("ini", Role::Config),
    ("properties", Role::Config),
    ("dat", Role::Config),
    ("jsonl", Role::SideFile),
    ("hdr", Role::Hdr),
    ("hgrm", Role::Export),
    ("csv", Role::Export),
    ("json", Role::Export),
    ("out", Role::Export),
    ("processed", Role::Other),
    ("md", Role::Other),
];

/// Returns the role of a file from its name or, if that is ambiguous, from its first decompressed bytes.
pub fn role_of(name: &str, head: &[u8]) -> Role {
    let file = name.rsplit('/').next().unwrap_or(name);
    if file.starts_with('.') || name.starts_with("__MACOSX/") {
        return Role::Other;
    }
    let extension = without_compression(file)
        .rsplit_once('.')
        .map(|(_, extension)| extension);
    let of_extension = |extension: &str| {
        let mut known = EXTENSIONS.iter();
        known.find(|(known, _)| known.eq_ignore_ascii_case(extension))
    };
    match extension.and_then(of_extension).map(|(_, role)| *role) {
        None | Some(Role::Export) if looks_like_log(head) => Role::Log,
        None if file.ends_with("percentiles.txt") => Role::Export,
        None if head.starts_with(START_HEAD.as_bytes()) => Role::SideFile,
        None if is_workload_file(file, extension.is_some(), head) => Role::Config,
        None => Role::Other,
        Some(role) => role,
    }
}

/// Returns whether the log reader accepts the first bytes of a file as a log.
fn looks_like_log(head: &[u8]) -> bool {
    let mut reader = LogReader::new(Options::default());
    reader.push(head);
    let not_a_log = [EMPTY.id, BINARY.id, NOT_AN_ACT_LOG.id];
    let error = reader.finish().error;
    error.is_none_or(|error| !not_a_log.contains(&error.id))
}

/// Returns whether a file is a YCSB workload file (option `-P`). Those of YCSB are named `workloada` to `workloadf`, without
/// an extension, and set the class of the workload. A file with an unknown extension (`workload.txt`) needs such a line.
fn is_workload_file(file: &str, has_ending: bool, head: &[u8]) -> bool {
    let sets_class = |line: &[u8]| line.trim_ascii_start().starts_with(b"workload=");
    let is_named = !has_ending && file.starts_with("workload");
    is_named || head.split(|&byte| byte == b'\n').any(sets_class)
}

fn without_compression(name: &str) -> &str {
    let decompressed = COMPRESSED
        .iter()
        .find_map(|extension| name.strip_suffix(extension));
    decompressed.unwrap_or(name)
}

/// Returns the name without its last extension.
fn stem(name: &str) -> &str {
    let name = without_compression(name);
    let file_at = name.rfind('/').map_or(0, |slash| slash + 1);
    match name[file_at..].rfind('.') {
        Some(dot) if dot > 0 => &name[..file_at + dot],
        _ => name,
    }
}

/// Turns logs into exports if a log with the same stem exists: `a.out` is an export of `a.log`.
pub fn resolve_roles(members: &mut [Member]) {
    let is_named_log =
        |member: &&Member| without_compression(&member.name).ends_with(".log") && member.role == Role::Log;
    let named_logs = members.iter().filter(is_named_log);
    let stems: Vec<String> = named_logs.map(|log| stem(&log.name).to_owned()).collect();
    for member in members.iter_mut().filter(|member| member.role == Role::Log) {
        let is_result =
            !without_compression(&member.name).ends_with(".log") && !member.name.ends_with(".stdout");
        if is_result && stems.iter().any(|known| known == stem(&member.name)) {
            member.role = Role::Export;
        }
    }
}

/// Returns the log of a file: the one with the longest stem that its name begins with, or the only log.
pub fn owner(name: &str, logs: &[(usize, &str)]) -> Option<usize> {
    if let [(only, _)] = logs {
        return Some(*only);
    }
    let belongs = |log: &str| {
        let rest = name.strip_prefix(stem(log));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_', '/']))
    };
    let owners = logs.iter().filter(|(_, log)| belongs(log));
    owners.max_by_key(|(_, log)| stem(log).len()).map(|(at, _)| *at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_determine_roles() {
        for (name, role) in [
            ("runs/a.log", Role::Log),
            ("a.log.gz", Role::Log),
            ("a.STDERR", Role::Stderr),
            ("a.err", Role::Stderr),
            ("a.cmd", Role::Command),
            ("a.conf", Role::Config),
            ("a.jsonl.zst", Role::SideFile),
            ("hdrfiles/READ.hdr", Role::Hdr),
            ("a.csv", Role::Export),
            ("a-READ-percentiles.txt", Role::Export),
            ("run-a-t004/workloada", Role::Config),
            ("workload_mine.gz", Role::Config),
            ("workload.txt", Role::Other),
            ("workloads.tar.old", Role::Other),
            ("README", Role::Other),
            ("._a.log", Role::Other),
            ("__MACOSX/a.log", Role::Other),
        ] {
            assert_eq!(role_of(name, b""), role, "{name}");
        }
    }

    #[test]
    fn first_bytes_determine_the_role_if_the_name_is_ambiguous() {
        let log = b"\nACT version 6.6\nStorage device IO test\n";
        assert_eq!(role_of("act_results", log), Role::Log);
        assert_eq!(role_of("a.txt", log), Role::Log);
        assert_eq!(role_of("a.txt", b"a.log is ACT version 6.6\n\n"), Role::Other);
        let workload =
            b"# Yahoo! Cloud System Benchmark\nrecordcount=1000\nworkload=site.ycsb.workloads.CoreWorkload\n";
        assert_eq!(role_of("tuned", workload), Role::Config);
        assert_eq!(role_of("workload.txt", workload), Role::Config);
        assert_eq!(role_of("tuned", b"the workload=a of last week\n"), Role::Other);
        let start = br#"{"record":"start","schema":"drivecert.side/1","program_version":"0.3.0"}"#;
        assert_eq!(role_of("telemetry", start), Role::SideFile);
        assert_eq!(role_of("telemetry", br#"{"record":"end"}"#), Role::Other);
        assert_eq!(
            role_of("a.conf", log),
            Role::Config,
            "a known extension takes precedence"
        );
    }

    #[test]
    fn a_file_belongs_to_the_log_with_its_stem() {
        let logs = [(3, "x/a.log"), (5, "x/a.b.log"), (7, "x/c.log.gz")];
        for (name, expected) in [
            ("x/a.conf", Some(3)),
            ("x/a/READ.hdr", Some(3)),
            ("x/a-READ-percentiles.txt", Some(3)),
            ("x/a.b.conf", Some(5)),
            ("x/c.stderr", Some(7)),
            ("x/ab.conf", None),
            ("y/a.conf", None),
        ] {
            assert_eq!(owner(name, &logs), expected, "{name}");
        }
        assert_eq!(
            owner("anything", &logs[..1]),
            Some(3),
            "everything belongs to the only log"
        );
    }

    #[test]
    fn an_export_with_the_stem_of_a_log_is_not_a_log() {
        let member = |name: &str| Member {
            content_sha256: None,
            name: name.to_owned(),
            size_bytes: 0,
            sha256: None,
            role: Role::Log,
        };
        let mut members = ["a.log", "a.out", "b.out"].map(member);
        resolve_roles(&mut members);
        assert_eq!(
            members.map(|member| member.role),
            [Role::Log, Role::Export, Role::Log]
        );
    }
}
