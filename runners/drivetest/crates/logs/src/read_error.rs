//! Errors of files that cannot be read at all.
//!
//! docs/reference/findings.md describes every error; a test compares that document with the errors in this module.

use serde::Serialize;

/// Reason why a file cannot be read: what was expected, what was found, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadError {
    /// Public name, which never changes.
    pub id: &'static str,
    /// All of it in one sentence.
    pub sentence: String,
    /// Line number at which reading stopped, from 1; `None` if no line was read.
    pub line: Option<u64>,
    /// What the reader expected.
    pub expected: &'static str,
    /// What the reader found.
    pub got: String,
    /// Action for the sender of the log.
    pub remedy: &'static str,
}

/// Kind of error.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorKind {
    /// Public name, which never changes.
    pub id: &'static str,
    expected: &'static str,
    remedy: &'static str,
}

impl ErrorKind {
    /// Return an error of this kind for a `line` where the reader found `got`.
    pub fn at(&self, line: impl Into<Option<u64>>, got: impl Into<String>) -> ReadError {
        let (line, got) = (line.into(), got.into());
        let place = line.map_or_else(String::new, |line| format!("line {line}: "));
        ReadError {
            id: self.id,
            sentence: format!("{place}expected {}; got {got}; {}", self.expected, self.remedy),
            line,
            expected: self.expected,
            got,
            remedy: self.remedy,
        }
    }
}

macro_rules! errors {
    ($($name:ident $id:literal $expected:literal $remedy:literal)*) => {
        $(
            #[doc = concat!("`", $id, "`: see docs/reference/findings.md.")]
            pub const $name: ErrorKind = ErrorKind { id: $id, expected: $expected, remedy: $remedy };
        )*

        /// All kinds of errors.
        pub const ERRORS: &[ErrorKind] = &[$($name),*];
    };
}

errors! {
    EMPTY "empty" "the output of act_storage, act_index, drivetest, YCSB or go-ycsb" "send the log file itself; a program that fails immediately leaves an empty log file"
    BINARY "binary" "text: plain, compressed with gzip, zstd or xz, or in a tar or zip archive" "send the log file itself, not a report or a screenshot"
    NOT_AN_ACT_LOG "not-an-act-log" "a line that begins with 'ACT version', or rows of YCSB or go-ycsb" "upload the unmodified log file (no prefixes, no copy-paste)"
    HEADER_MISSING "header-missing" "a header that begins with 'ACT version' before the first block" "send the whole log file, from its first line"
    CUT_IN_HEADER "cut-in-header" "a complete header, followed by blocks" "send the whole log file"
    HEADER_UNREADABLE "header-unreadable" "a header with report-interval-sec above 0" "send the unmodified log file"
    FLOOD "flood" "a log with 8 bytes or more per line on average" "send the log file itself, without blank or idle lines"
    CONTENT_TOO_LARGE "content-too-large" "content that is not larger than the limit" "send one run per file; the log of an ACT run of 24 hours is smaller than 1 GiB"
    COMPRESSION_UNREADABLE "compression-unreadable" "a complete gzip, zstd or xz stream" "compress the log again and send the whole compressed file"
    WINDOW_TOO_LARGE "window-too-large" "a window of at most 32 MiB (zstd) or a dictionary of at most 64 MiB (xz)" "compress the log again: zstd without --ultra and --long, xz with at most -9"
    ARCHIVE_UNREADABLE "archive-unreadable" "a complete tar or zip archive" "create the archive again and send the whole archive"
    ARCHIVE_WITHOUT_LOG "archive-without-log" "an archive with at least one log" "add the log file itself to the archive, with a name that ends in .log"
    ARCHIVE_IN_A_PIPE "archive-in-a-pipe" "an archive in a file, because archives are read several times" "name the archive as a file on the command line, or pipe a single log"
    COMPANION_ARCHIVE "companion-archive" "attachments that belong to one log and are no archives" "put the log and its attachments into one archive, or pass each file with --with"
    FILE_UNREADABLE "file-unreadable" "a readable file" "check the path, the type of the file and its permissions"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_documented_and_nothing_else_is() {
        let document = include_str!("../../../../../docs/reference/findings.md");
        let table = document.split("## Errors").nth(1).unwrap();
        let mut in_docs: Vec<_> = table
            .lines()
            .filter_map(|line| line.strip_prefix("| `"))
            .map(|row| row.split_once('`').unwrap().0)
            .collect();
        let mut in_code: Vec<_> = ERRORS.iter().map(|error| error.id).collect();
        in_docs.sort_unstable();
        in_code.sort_unstable();
        assert_eq!(in_code, in_docs);
    }

    #[test]
    fn an_error_names_line_expected_got_and_remedy() {
        let error = EMPTY.at(3, "nothing");
        assert_eq!(
            error.sentence,
            "line 3: expected the output of act_storage, act_index, drivetest, YCSB or go-ycsb; got nothing; \
             send the log file itself; a program that fails immediately leaves an empty log file"
        );
    }
}
