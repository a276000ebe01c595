//! Detection of the start of a program's output: two consecutive lines, possibly with a prefix.

use memchr::memmem;

/// Program whose output is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// ACT's and drivetest's logs.
    #[default]
    Act,
    /// YCSB's and go-ycsb's outputs.
    Ycsb,
}

/// Text in a line, and texts with which the next line must begin or end.
type Pair = (&'static [u8], &'static [&'static [u8]]);

const OF_ACT: [Pair; 2] = [
    (b"ACT version ", &[b"device IO test"]),
    (b"Aerospike act ", &[b"Copyright "]),
];

/// Source: YCSB, Client.java and TextMeasurementsExporter.java; BasicDB.java and go-ycsb, cmd/go-ycsb/main.go, which
/// print their properties in the same format.
const OF_YCSB: [Pair; 4] = [
    (b"[OVERALL], RunTime(ms), ", &[b"[OVERALL], Throughput("]),
    (b"Command line:", &[b"YCSB Client "]),
    (b"YCSB Client ", &[b"Command line:", b"Loading workload..."]),
    (b"***************** properties ", &[b"\""]),
];

/// First line of YCSB's JSON: an object, alone or in an array.
const OF_JSON: [&[u8]; 2] = [b"[ {", b"{"];
const IN_JSON: &[&[u8]] = &[b"  \"metric\" : \"OVERALL\""];

/// Maximum length of a prefix in bytes: time, host and program.
pub const PREFIX_BYTES_MAX: usize = 256;

/// Position of an output's first line in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Number of bytes before it.
    pub at: usize,
    followers: &'static [&'static [u8]],
}

impl Anchor {
    /// Find the start of an output; `None` if the line has none, or if its prefix is too long.
    pub fn find(text: &[u8], dialect: Dialect) -> Option<Self> {
        let found = match dialect {
            Dialect::Act => of_act(text),
            Dialect::Ycsb => first(text, &OF_YCSB).or_else(|| of_json(text)),
        };
        found.filter(|anchor| anchor.at <= PREFIX_BYTES_MAX)
    }

    /// Return whether a text is the next line of the output.
    pub fn is_followed_by(self, text: &[u8]) -> bool {
        let is = |follower: &&[u8]| text.starts_with(follower) || text.ends_with(follower);
        self.followers.iter().any(is)
    }
}

fn first(text: &[u8], pairs: &[Pair]) -> Option<Anchor> {
    // The search ends after the longest prefix, also in a long line.
    let near = &text[..text.len().min(PREFIX_BYTES_MAX * 2)];
    pairs.iter().find_map(|(words, followers)| {
        let at = memmem::find(near, words)?;
        Some(Anchor { at, followers })
    })
}

fn of_act(text: &[u8]) -> Option<Anchor> {
    memchr::memchr(b'A', text)?;
    let anchor = first(text, &OF_ACT)?;
    let matched = &text[anchor.at..];
    let (words, _) = OF_ACT.iter().find(|(words, _)| matched.starts_with(words))?;
    let rest = &matched[words.len()..];
    let is_begin = anchor.at == 0 || rest.ends_with(b"device IO test") || is_version(rest);
    is_begin.then_some(anchor)
}

fn of_json(text: &[u8]) -> Option<Anchor> {
    let before = OF_JSON.iter().find_map(|opening| text.strip_suffix(*opening))?;
    Some(Anchor {
        at: before.len(),
        followers: IN_JSON,
    })
}

fn is_version(rest: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    rest.first().is_some_and(u8::is_ascii_digit) && rest.iter().all(is_part)
}

/// Return whether a line has no marks and does not begin an output; without branches, so that it is vectorized.
pub fn is_plain(line: &[u8], dialect: Dialect) -> bool {
    let (is_text, may_begin) = match dialect {
        Dialect::Act => scan(line, *b"A"),
        // A character of each pair that rows and single operations do not have.
        Dialect::Ycsb => scan(line, *b"VC*{"),
    };
    is_text && !(may_begin && Anchor::find(line, dialect).is_some())
}

/// Return whether all bytes of a line are printable, and whether it contains one of some bytes.
#[inline]
fn scan<const N: usize>(line: &[u8], some: [u8; N]) -> (bool, bool) {
    let (mut is_text, mut has_one) = (true, false);
    for &byte in line {
        is_text &= (byte.wrapping_sub(b' ') <= b'~' - b' ') | (byte == b'\t');
        for one in some {
            has_one |= byte == one;
        }
    }
    (is_text, has_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_behind_a_prefix_and_not_in_a_sentence() {
        let at = |text: &str| Anchor::find(text.as_bytes(), Dialect::Act).map(|anchor| anchor.at);
        assert_eq!(at("ACT version 6.6"), Some(0));
        assert_eq!(at("> ACT version 6.6"), Some(2));
        assert_eq!(at("| Aerospike act version 3.1 - device IO test"), Some(2));
        assert_eq!(at("we ran ACT version 6.6 here"), None);
        assert_eq!(at("reads (5 total)"), None);
    }

    #[test]
    fn only_the_line_that_must_follow_proves_a_prefix() {
        let find = |text: &[u8]| Anchor::find(text, Dialect::Act).unwrap();
        let anchor = find(b"x.log is ACT version 6.6");
        assert!(anchor.is_followed_by(b"Storage device IO test"));
        assert!(!anchor.is_followed_by(b""));
        let old = find(b"Aerospike act version 3.1 - device IO test");
        assert!(old.is_followed_by(b"Copyright 2011 by Aerospike. All rights reserved."));
    }

    #[test]
    fn an_output_of_ycsb_is_found_behind_a_prefix() {
        for (line, at, next) in [
            (
                "> [OVERALL], RunTime(ms), 1101",
                2,
                "[OVERALL], Throughput(ops/sec), 5.0",
            ),
            ("y-1  | Command line: -t -db x", 7, "YCSB Client 0.17.0"),
            ("y-1  | YCSB Client 0.1", 7, "Command line: -t"),
            (
                "\t***************** properties *****************",
                1,
                "\"a\"=\"b\"",
            ),
            ("> {", 2, "  \"metric\" : \"OVERALL\","),
            ("> [ {", 2, "  \"metric\" : \"OVERALL\","),
        ] {
            let anchor = Anchor::find(line.as_bytes(), Dialect::Ycsb).unwrap();
            assert_eq!(
                (anchor.at, anchor.is_followed_by(next.as_bytes())),
                (at, true),
                "{line}"
            );
            assert!(!is_plain(line.as_bytes(), Dialect::Ycsb), "{line}");
            assert!(!anchor.is_followed_by(b"nothing of it"), "{line}");
        }
        assert_eq!(Anchor::find(b"[READ], Operations, 5", Dialect::Ycsb), None);
    }

    #[test]
    fn a_prefix_has_its_bound() {
        let at = |count: usize| {
            let line = " ".repeat(count) + "ACT version 6.6";
            Anchor::find(line.as_bytes(), Dialect::Act).map(|anchor| anchor.at)
        };
        assert_eq!(
            (at(PREFIX_BYTES_MAX), at(PREFIX_BYTES_MAX + 1)),
            (Some(256), None)
        );
    }
}
