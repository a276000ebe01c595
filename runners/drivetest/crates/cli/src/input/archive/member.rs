//! What the files of an archive, and those given beside a log, are to the log: told by names, then by first bytes.

use drivetest_logs::read_error::{BINARY, EMPTY, NOT_AN_ACT_LOG};
use drivetest_logs::reader::{LogReader, Options, Role};
use serde::Serialize;

/// A file of an archive, or one that came beside a log.
#[derive(Clone, Debug, Serialize)]
pub struct Member {
    /// Its name, only a label.
    pub name: String,
    /// Its bytes as stored there.
    pub size_bytes: u64,
    /// Their SHA-256; None where they could not be had to their end.
    pub sha256: Option<String>,
    #[serde(serialize_with = "role_code")]
    /// What it is to its log.
    pub role: Role,
}

const COMPRESSED: [&str; 3] = [".gz", ".zst", ".xz"];

/// Endings that tell a role.
const ENDINGS: [(&str, Role); 18] = [
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

/// How drivetest begins its side file.
const SIDE_FILE_HEAD: &[u8] = br#"{"record":"start","schema":"drivecert.side/1""#;

/// The role's name in documents.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn role_code<S: serde::Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match role {
        Role::Log => "log",
        Role::Stderr => "stderr",
        Role::Command => "command",
        Role::Config => "config",
        Role::SideFile => "side-file",
        Role::Hdr => "hdr",
        Role::Export => "export",
        Role::Other => "other",
    })
}

/// The role of a file, by its name and, where that leaves it open, by its first bytes, decompressed.
pub fn role_of(name: &str, head: &[u8]) -> Role {
    let file = name.rsplit('/').next().unwrap_or(name);
    if file.starts_with('.') || name.starts_with("__MACOSX/") {
        return Role::Other;
    }
    let ending = without_compression(file)
        .rsplit_once('.')
        .map(|(_, ending)| ending);
    let told = ending.and_then(|ending| {
        ENDINGS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(ending))
    });
    match told.map(|(_, role)| *role) {
        None | Some(Role::Export) if looks_like_log(head) => Role::Log,
        None if file.ends_with("percentiles.txt") => Role::Export,
        None if head.starts_with(SIDE_FILE_HEAD) => Role::SideFile,
        None if is_workload_file(file, ending.is_some(), head) => Role::Config,
        None => Role::Other,
        Some(role) => role,
    }
}

/// Whether the first bytes of a file are those of a log: read as one, they are something else than no log.
fn looks_like_log(head: &[u8]) -> bool {
    let mut reader = LogReader::new(Options::default());
    reader.push(head);
    let no_log = [EMPTY.id, BINARY.id, NOT_AN_ACT_LOG.id];
    let error = reader.finish().error;
    error.is_none_or(|error| !no_log.contains(&error.id))
}

/// Whether a file is one of those that YCSB is given by `-P`: upstream's are named `workloada` to `workloadf`, without an
/// ending, and all of them say which class makes the load. A name with an ending that is not known (`workload.txt`) says
/// nothing; such a file is one by what it holds.
fn is_workload_file(file: &str, has_ending: bool, head: &[u8]) -> bool {
    let says_class = |line: &[u8]| line.trim_ascii_start().starts_with(b"workload=");
    let is_named = !has_ending && file.starts_with("workload");
    is_named || head.split(|&byte| byte == b'\n').any(says_class)
}

fn without_compression(name: &str) -> &str {
    COMPRESSED
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name)
}

/// The name without its last ending.
fn stem(name: &str) -> &str {
    let name = without_compression(name);
    let file_at = name.rfind('/').map_or(0, |slash| slash + 1);
    match name[file_at..].rfind('.') {
        Some(dot) if dot > 0 => &name[..file_at + dot],
        _ => name,
    }
}

/// Logs of which another file bears the same stem as a result are results of it: `a.out` beside `a.log`.
pub fn settle_roles(members: &mut [Member]) {
    let is_named_log =
        |member: &&Member| without_compression(&member.name).ends_with(".log") && member.role == Role::Log;
    let stems: Vec<String> = members
        .iter()
        .filter(is_named_log)
        .map(|log| stem(&log.name).to_owned())
        .collect();
    for member in members.iter_mut().filter(|member| member.role == Role::Log) {
        let is_result =
            !without_compression(&member.name).ends_with(".log") && !member.name.ends_with(".stdout");
        if is_result && stems.iter().any(|known| known == stem(&member.name)) {
            member.role = Role::Export;
        }
    }
}

/// The log that a file belongs to: the one whose stem its name begins with, the longest of several; the only log.
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
    fn names_tell_roles() {
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
    fn first_bytes_tell_where_a_name_leaves_it_open() {
        let log = b"\nACT version 6.6\nStorage device IO test\n";
        assert_eq!(role_of("act_results", log), Role::Log);
        assert_eq!(role_of("a.txt", log), Role::Log);
        assert_eq!(role_of("a.txt", b"a.log is ACT version 6.6\n\n"), Role::Other);
        let workload =
            b"# Yahoo! Cloud System Benchmark\nrecordcount=1000\nworkload=site.ycsb.workloads.CoreWorkload\n";
        assert_eq!(role_of("tuned", workload), Role::Config);
        assert_eq!(role_of("workload.txt", workload), Role::Config);
        assert_eq!(role_of("tuned", b"the workload=a of last week\n"), Role::Other);
        assert_eq!(
            role_of("a.conf", log),
            Role::Config,
            "a name that is known is believed"
        );
    }

    #[test]
    fn a_file_belongs_to_the_log_whose_stem_it_bears() {
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
            "all belongs to the only log"
        );
    }

    #[test]
    fn results_beside_a_log_are_no_log() {
        let member = |name: &str| Member {
            name: name.to_owned(),
            size_bytes: 0,
            sha256: None,
            role: Role::Log,
        };
        let mut members = ["a.log", "a.out", "b.out"].map(member);
        settle_roles(&mut members);
        assert_eq!(
            members.map(|member| member.role),
            [Role::Log, Role::Export, Role::Log]
        );
    }
}
