//! The API token of a submission: from a file, or from the environment.

use std::env;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The variable with the token.
pub const VARIABLE: &str = "DRIVECERT_TOKEN";
/// Permissions of others and of the group.
const OF_OTHERS: u32 = 0o077;
const BYTES_MAX: u64 = 64 << 10;

/// Returns the token of a file, or else of the environment.
///
/// # Errors
/// A sentence, if there is no token, or if other users of the host can read the file.
pub fn token(file: Option<&Path>) -> Result<String, String> {
    let text = match file {
        Some(path) => of_file(path)?,
        None => env::var(VARIABLE).map_err(|_| {
            format!(
                "no token: set {VARIABLE} or --token-file; the register creates tokens at /accounts/tokens/"
            )
        })?,
    };
    let token = text.trim();
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_token.then(|| token.to_owned()).ok_or_else(|| {
        let place = file.map_or_else(|| VARIABLE.to_owned(), |path| path.display().to_string());
        format!("{place}: expected one API token, got other text")
    })
}

fn of_file(path: &Path) -> Result<String, String> {
    let failed = |error| format!("{}: the token cannot be read: {error}", path.display());
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode();
    if mode & OF_OTHERS != 0 {
        let (shown, mode) = (path.display(), mode & 0o777);
        return Err(format!(
            "{shown}: other users can read the token (mode {mode:03o}); run: chmod 600 {shown}"
        ));
    }
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_owner_may_read_the_file_of_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "dc_1\n").unwrap();
        for (mode, is_accepted) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(token(Some(&path)).is_ok(), is_accepted, "{mode:o}");
        }
    }

    #[test]
    fn a_token_is_one_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        for text in ["", "\n", "dc_1 dc_2", "dc_1\ndc_2"] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            assert!(
                token(Some(&path)).unwrap_err().contains("expected one API token"),
                "{text:?}"
            );
        }
    }
}
