//! Why a file cannot be read at all. Every id is described in docs/findings.md, which a test compares.

use serde::Serialize;

/// What was expected, what was got, where reading stopped, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadError {
    /// Stable for ever.
    pub id: &'static str,
    /// The whole in one sentence.
    pub sentence: String,
    /// Where reading stopped, from 1; None where no line was read.
    pub line: Option<u64>,
    /// What should have been there.
    pub expected: &'static str,
    /// What was there.
    pub got: String,
    /// What the sender can do.
    pub remedy: &'static str,
}

/// A kind of error.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorKind {
    /// Stable for ever.
    pub id: &'static str,
    expected: &'static str,
    remedy: &'static str,
}

impl ErrorKind {
    /// An error of this kind: reading stopped at `line`, where `got` was found.
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
            #[doc = concat!("`", $id, "`: see docs/findings.md.")]
            pub const $name: ErrorKind = ErrorKind { id: $id, expected: $expected, remedy: $remedy };
        )*

        /// Every kind of error.
        pub const ERRORS: &[ErrorKind] = &[$($name),*];
    };
}

errors! {
    EMPTY "empty" "the output of act_storage, act_index, drivetest, YCSB or go-ycsb" "send the log itself; a program that dies at once leaves an empty one"
    BINARY "binary" "text, plain, compressed with gzip, zstd or xz, or in a tar or zip" "send the log itself, not a report or picture of it"
    NOT_AN_ACT_LOG "not-an-act-log" "a line that begins with 'ACT version', or rows of YCSB or go-ycsb" "send the log itself, as the program printed it, without marks before its lines"
    HEADER_MISSING "header-missing" "a header that begins with 'ACT version' before the first block" "send the log from its first line on"
    CUT_IN_HEADER "cut-in-header" "the whole header and blocks after it" "send the whole file"
    HEADER_UNREADABLE "header-unreadable" "a header with report-interval-sec above 0" "send the log as the program wrote it"
    FLOOD "flood" "a log, whose lines have 8 bytes or more on average" "send the log itself, without blank or idle lines"
    CONTENT_TOO_LARGE "content-too-large" "content within the limit" "send one run per file; a day of ACT is below 1 GiB"
    COMPRESSION_UNREADABLE "compression-unreadable" "a whole stream of gzip, zstd or xz" "compress the log again and send it whole"
    WINDOW_TOO_LARGE "window-too-large" "a window of at most 32 MiB (zstd) or a dictionary of at most 64 MiB (xz)" "compress the log again: zstd without --ultra and --long, xz with at most -9"
    ARCHIVE_UNREADABLE "archive-unreadable" "a whole archive of tar or zip" "make the archive again and send it whole"
    ARCHIVE_WITHOUT_LOG "archive-without-log" "an archive with at least one log" "put the log itself into the archive, under a name that ends in .log"
    ARCHIVE_IN_A_PIPE "archive-in-a-pipe" "an archive in a file, which is read several times" "give the archive as a file, or a single log in the pipe"
    COMPANION_ARCHIVE "companion-archive" "files beside one log, none of them an archive" "put the log and what belongs to it into one archive, or give each file with --with"
    FILE_UNREADABLE "file-unreadable" "a file that can be opened and read" "check the path, that it is a file, and its permissions"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_documented_and_nothing_else_is() {
        let document = include_str!("../../../../../docs/findings.md");
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
             send the log itself; a program that dies at once leaves an empty one"
        );
    }
}
