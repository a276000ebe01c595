//! Files that `drivetest agent join` installs: the program, the unit of systemd, and its variables.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use drivetest_labhost::has_systemd;

use crate::{AgentError, Places};

/// The unit of systemd. Loads have scopes of their own; only the agent itself is stopped with the unit.
pub const UNIT: &str = include_str!("drivecert-agent.service");

const HOST_FILE: &str = "\
# The register can overwrite every drive in this list, and no other drive. `drivetest identify` prints the keys.
drives = [
]
# SHA-256 of each program by which the agent may replace itself when the register requires it:
# updates = []
";

/// Variables of the shell that the service needs as well.
const VARIABLES: [&str; 7] = [
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
];

const ENVIRONMENT_HEAD: &str =
    "# Written by drivetest agent join: proxies and SSL_CERT_FILE of the shell that joined.\n";

/// Replaces a file as a whole. A crash leaves the earlier or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), AgentError> {
    let place = write_new(path, bytes, mode)?;
    put_in_place(&place, path)
}

/// Writes the new content of a file next to it, and returns the place.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<PathBuf, AgentError> {
    let failed = |error: io::Error| AgentError::file(path, "write", &error);
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut name = path.file_name().unwrap_or(OsStr::new("file")).to_owned();
    name.push(".new");
    let place = folder.join(name);
    let write = || {
        // What an interrupted attempt left may have other permissions.
        match fs::remove_file(&place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(mode).open(&place)?;
        file.write_all(bytes)?;
        // The umask may have removed permissions.
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()
    };
    write().map_err(failed)?;
    Ok(place)
}

/// Renames the new content of a file to its name.
pub(crate) fn put_in_place(place: &Path, path: &Path) -> Result<(), AgentError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::rename(place, path)
        .and_then(|()| File::open(folder)?.sync_all())
        .map_err(|error| AgentError::file(path, "replace", &error))
}

/// Installs the running program, unless it is the installed one.
pub(crate) fn install_program(places: &Places) -> Result<(), AgentError> {
    let (running, installed) = (Path::new("/proc/self/exe"), places.program());
    let read = |error| AgentError::file(running, "read", &error);
    let here = fs::canonicalize(running).map_err(read)?;
    if fs::canonicalize(&installed).is_ok_and(|installed| installed == here) {
        return Ok(());
    }
    replace(&installed, &fs::read(running).map_err(read)?, 0o755)
}

/// Creates the operator's settings without any drive, unless they exist.
pub(crate) fn create_host_file(places: &Places) -> Result<(), AgentError> {
    let path = places.host_file();
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(&path, HOST_FILE.as_bytes(), 0o644),
        _ => Ok(()),
    }
}

/// Writes the unit and its variables. Returns whether systemd runs the agent now.
pub(crate) fn install_unit(places: &Places, messages: crate::Messages) -> Result<bool, AgentError> {
    let variables = variables(|name| std::env::var(name).ok());
    replace(&places.environment_file(), variables.as_bytes(), 0o600)?;
    replace(&places.unit_file(), UNIT.as_bytes(), 0o644)?;
    if places.other_root().is_some() || !has_systemd() {
        return Ok(false);
    }
    let steps: [&[&str]; 3] = [
        &["daemon-reload"],
        &["enable", "drivecert-agent.service"],
        &["restart", "drivecert-agent.service"],
    ];
    for step in steps {
        let ended = Command::new("systemctl").args(step).status();
        if !ended.is_ok_and(|status| status.success()) {
            (messages.line)(&format!("systemctl {} failed", step.join(" ")));
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the variables of the service as lines of an EnvironmentFile. Source: systemd.exec(5).
fn variables(value_of: impl Fn(&str) -> Option<String>) -> String {
    let mut text = ENVIRONMENT_HEAD.to_owned();
    for name in VARIABLES {
        let value = value_of(name).filter(|value| !value.is_empty() && !value.contains('\n'));
        if let Some(value) = value {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!(
                "{name}=\"{}\"\n",
                value.replace('$', "\\$").replace('`', "\\`")
            ));
        }
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_has_the_requested_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/secret");
        for (text, mode) in [("one", 0o644), ("two", 0o600)] {
            replace(&path, text.as_bytes(), mode).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
        assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), 1);
    }

    #[test]
    fn the_settings_of_the_operator_are_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::new(folder.path());
        create_host_file(&places).unwrap();
        let settings = drivetest_labhost::Settings::read(&places.host_file()).unwrap();
        assert!(settings.drives.is_empty() && settings.updates.is_empty());
        fs::write(places.host_file(), "drives = [\"nvme:M:S\"]").unwrap();
        create_host_file(&places).unwrap();
        assert!(
            fs::read_to_string(places.host_file())
                .unwrap()
                .contains("nvme:M:S")
        );
    }

    #[test]
    fn the_service_gets_the_proxy_of_the_shell() {
        let value_of = |name: &str| match name {
            "HTTPS_PROXY" => Some("http://u:p\"$@proxy.example".to_owned()),
            "NO_PROXY" => Some(String::new()),
            _ => None,
        };
        assert_eq!(
            variables(value_of),
            format!("{ENVIRONMENT_HEAD}HTTPS_PROXY=\"http://u:p\\\"\\$@proxy.example\"\n")
        );
        assert_eq!(variables(|_| None), ENVIRONMENT_HEAD);
    }

    #[test]
    fn the_unit_ends_only_the_agent_and_leaves_a_revoked_host_stopped() {
        for line in ["KillMode=process", "Restart=always", "RestartPreventExitStatus=2"] {
            assert!(UNIT.lines().any(|found| found == line), "{line}");
        }
    }

    #[test]
    fn the_unit_has_no_mounts_of_its_own_as_sweeps_mount_file_systems_for_all() {
        let of_mounts = [
            "Protect",
            "Private",
            "ReadOnly",
            "ReadWrite",
            "Inaccessible",
            "Bind",
            "TemporaryFile",
        ];
        let is_of_mounts = |line: &&str| of_mounts.iter().any(|start| line.starts_with(start));
        assert_eq!(UNIT.lines().find(is_of_mounts), None);
        assert!(UNIT.lines().any(|found| found == "NoNewPrivileges=yes"));
    }
}
