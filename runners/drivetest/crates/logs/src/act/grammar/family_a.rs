//! Format of ACT 1.x to 4.0: another banner, derived values without a title, and histograms without a list.
//!
//! The same tag names the reads of a device or its writes, depending on its position.

use std::borrow::Cow;

use crate::act::header::{Section, split_names};

/// Text of the banner before the version, which 1.x does not print.
const BANNER: &[u8] = b"Aerospike act ";
const BANNER_END: &[u8] = b"- device IO test";

/// Keys of derived values: one line each after the blank line of the configuration. In 3.0 the block size precedes the first.
const DERIVED_KEYS: [&str; 7] = [
    "-byte blocks per record read",
    "bytes per stored record",
    "large block ops per sec",
    "large block reads per sec",
    "large block writes per sec",
    "internal read requests per sec",
    "internal write requests per sec",
];

/// Return the version of a banner, empty for 1.x; `None` for any other line.
///
/// Source: aerospike/act, act.c, main(): from 2.0 `Aerospike act version %s - device IO test`.
pub fn banner_version(text: &[u8]) -> Option<String> {
    let rest = text.trim_ascii_end().strip_prefix(BANNER)?;
    let version = match rest.strip_suffix(BANNER_END)? {
        b"" => b"",
        rest => rest.strip_prefix(b"version ")?.trim_ascii(),
    };
    Some(String::from_utf8_lossy(version).into_owned())
}

/// Return whether a line of the header is a derived value.
pub fn is_derived(text: &str) -> bool {
    let is_known =
        |key: &str| DERIVED_KEYS.contains(&key.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    text.split_once(": ").is_some_and(|(key, _)| is_known(key))
}

/// Return the histograms of blocks in their order, because these versions print no list of them.
///
/// Source: aerospike/act, act.c, main(): the writes are dumped where `commit-to-device` is set (from 3.1).
pub fn names(config: &Section) -> Vec<String> {
    let devices = || split_names(config.value("device-names").unwrap_or_default());
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let mut names = owned(&["LARGE BLOCK READS", "LARGE BLOCK WRITES", "RAW READS"]);
    if !is_committed(config) {
        names.extend(devices().map(str::to_owned));
        names.push("READS".to_owned());
        return names;
    }
    names.extend(devices().map(|device| format!("{device}-reads")));
    names.extend(owned(&["READS", "RAW WRITES"]));
    names.extend(devices().map(|device| format!("{device}-writes")));
    names.push("WRITES".to_owned());
    names
}

fn is_committed(config: &Section) -> bool {
    config.value("commit-to-device") == Some("yes")
}

/// Names of tags, which depend on their position in the block.
#[derive(Debug)]
pub struct Places {
    devices: Vec<String>,
    is_committed: bool,
    reads_are_over: bool,
}

impl Places {
    /// Start with the blocks after a configuration.
    pub fn new(config: &Section) -> Self {
        let devices = config.value("device-names").unwrap_or_default();
        Self {
            devices: split_names(devices).map(str::to_owned).collect(),
            is_committed: is_committed(config),
            reads_are_over: false,
        }
    }

    /// Return whether tags differ from the names of their histograms.
    pub fn decide(&self) -> bool {
        self.is_committed
    }

    /// Start a new block.
    pub fn begin(&mut self) {
        self.reads_are_over = false;
    }

    /// Return the name of the histogram of a tag.
    ///
    /// It is the tag, but for devices with `-reads` or `-writes` as in 5.0, if the program prints both.
    ///
    /// `READS` is between the two tags of a device and `RAW WRITES` after them, so either of the two may be missing.
    pub fn name<'a>(&mut self, tag: &'a [u8]) -> Cow<'a, [u8]> {
        if tag == b"READS" || tag == b"RAW WRITES" {
            self.reads_are_over = true;
        }
        if !self.is_committed || !self.devices.iter().any(|device| device.as_bytes() == tag) {
            return Cow::Borrowed(tag);
        }
        let end: &[u8] = if self.reads_are_over {
            b"-writes"
        } else {
            b"-reads"
        };
        Cow::Owned([tag, end].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(lines: &[&str]) -> Section {
        Section {
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
            ..Section::default()
        }
    }

    #[test]
    fn a_banner_gives_its_version_and_1_x_has_none() {
        let version = |text: &str| banner_version(text.as_bytes());
        assert_eq!(
            version("Aerospike act version 3.1 - device IO test").as_deref(),
            Some("3.1")
        );
        assert_eq!(version("Aerospike act - device IO test").as_deref(), Some(""));
        assert_eq!(version("Aerospike act version 3.1"), None);
        assert_eq!(version("Aerospike action - device IO test"), None);
    }

    #[test]
    fn derived_values_of_every_flavour_are_known() {
        for text in [
            "512-byte blocks per record read: 3",
            "bytes per stored record: 1536 ... 1536",
            "large block ops per sec: 23.53",
            "internal write requests per sec: 1000",
        ] {
            assert!(is_derived(text), "{text}");
        }
        assert!(!is_derived("scheduler-mode: noop"));
    }

    #[test]
    fn a_devices_tag_is_its_reads_and_then_its_writes() {
        let committed = config(&["device-names: /dev/a", "commit-to-device: yes"]);
        let mut places = Places::new(&committed);
        for end_of_reads in [&b"READS"[..], b"RAW WRITES"] {
            places.begin();
            assert_eq!(&*places.name(b"/dev/a"), b"/dev/a-reads");
            places.name(end_of_reads);
            assert_eq!(&*places.name(b"/dev/a"), b"/dev/a-writes");
        }
    }

    #[test]
    fn a_tag_that_is_unique_stays_as_printed() {
        let mut places = Places::new(&config(&["device-names: /dev/a", "commit-to-device: no"]));
        assert_eq!(&*places.name(b"/dev/a"), b"/dev/a");
        let mut places = Places::new(&config(&["device-names: /dev/a", "commit-to-device: yes"]));
        assert_eq!(
            &*places.name(b"/dev/c"),
            b"/dev/c",
            "no device of the configuration"
        );
    }

    #[test]
    fn the_list_follows_the_order_of_a_block() {
        let committed = config(&["device-names: /dev/a /dev/b /dev/a", "commit-to-device: yes"]);
        assert_eq!(
            names(&committed).join(","),
            "LARGE BLOCK READS,LARGE BLOCK WRITES,RAW READS,/dev/a-reads,/dev/b-reads,/dev/a-reads,READS,\
             RAW WRITES,/dev/a-writes,/dev/b-writes,/dev/a-writes,WRITES"
        );
        assert_eq!(
            names(&config(&["device-names: /dev/a"]))[3..],
            ["/dev/a", "READS"]
        );
    }
}
