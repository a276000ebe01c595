//! Forms of keys and values, compared with act_storage 6.6 (src/common/cfg.c).

use super::*;
use crate::config::Arrivals;

fn read(text: &str) -> ParsedKeys {
    ParsedKeys::read(Model::Storage, text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn sentence(text: &str) -> String {
    let read = ParsedKeys::read(Model::Storage, text);
    read.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn device_names_are_split_on_commas_semicolons_and_blanks() {
    let parsed = read("device-names: /dev/a,/dev/b;/dev/c /dev/d\ndevice-names /dev/e,, ;");
    assert_eq!(
        parsed.value::<Vec<String>>("device-names", None),
        ["/dev/a", "/dev/b", "/dev/c", "/dev/d", "/dev/e"]
    );
}

#[test]
fn the_error_for_an_unknown_key_has_the_most_similar_one() {
    let expected = "line 2: unknown key 'read-req-per-sec'; did you mean 'read-reqs-per-sec'?";
    assert_eq!(sentence("\nread-req-per-sec: 5"), expected);
    assert_eq!(
        sentence("colour: blue"),
        "line 1: unknown key 'colour'; `drivetest keys` lists all keys"
    );
    assert!(sentence("engin: auto").contains("did you mean 'engine'?"));
}

#[test]
fn keys_have_the_case_of_upstream() {
    assert!(sentence("Record-Bytes: 1").contains("did you mean 'record-bytes'?"));
}

#[test]
fn a_key_of_the_other_model_is_an_error_of_its_own() {
    let error = |model, text| ParsedKeys::read(model, text).unwrap_err().to_string();
    assert_eq!(
        error(Model::Index, "record-bytes: 1536"),
        "line 1: record-bytes is a key of storage loads and has no meaning in index loads; remove it"
    );
    assert!(error(Model::Storage, "cache-threads: 8").contains("a key of index loads"));
    assert!(!error(Model::Index, "recordbytes: 8").contains("record-bytes"));
}

/// A value, and the number that both upstream and we read.
const NUMBERS: &[(&str, u32)] = &[
    ("0", 0),
    ("007", 7),
    ("+5", 5),
    ("10 20", 10),
    ("86400 (a day)", 86_400),
    ("\t10\t\r", 10),
    ("10# ten", 10),
    ("4294967295", u32::MAX),
];

#[test]
fn numbers_are_read_as_upstream_reads_them() {
    for (value, expected) in NUMBERS {
        let parsed = read(&format!("record-bytes: {value}"));
        assert_eq!(parsed.value::<u32>("record-bytes", None), *expected, "{value:?}");
    }
}

/// A value that upstream reads as another number (in comments), or for which it prints an error and continues with 0.
const NO_NUMBERS: &[&str] = &[
    "",
    "-1",
    /* 0 */ "1.5",
    /* 1 */ "1k",
    /* 1 */ "0x10",
    /* 0 */ "1e3",
    /* 1 */ "ten", /* 0 */
    "1,000",
    /* 1 */ "4294967296",
    "99999999999999999999999",
    "\u{661}",
    /* 0 */ "+", /* 0 */
];

#[test]
fn values_that_upstream_misreads_are_refused() {
    for value in NO_NUMBERS {
        assert!(
            sentence(&format!("record-bytes: {value}")).contains("expected a whole number"),
            "{value:?}"
        );
    }
}

/// A value, and the switch that both upstream and we read.
const SWITCHES: &[(&str, bool)] = &[
    ("yes", true),
    ("y", true),
    ("yep", true),
    ("yes please", true),
    ("no", false),
    ("n", false),
    ("No", false),
    ("NO", false),
    ("false", false),
    ("off", false),
    ("0", false),
    ("", false),
];

#[test]
fn switches_are_read_as_upstream_reads_them() {
    for (value, expected) in SWITCHES {
        let parsed = read(&format!("tomb-raider: {value}"));
        assert_eq!(parsed.value::<bool>("tomb-raider", None), *expected, "{value:?}");
    }
}

#[test]
fn forms_of_yes_that_upstream_reads_as_no_are_refused() {
    for value in ["Yes", "YES", "true", "on", "1"] {
        assert!(
            sentence(&format!("tomb-raider: {value}"))
                .contains(&format!("expected yes or no, got '{value}'"))
        );
    }
}

#[test]
fn keywords_are_one_of_the_known_ones() {
    assert_eq!(
        read("arrivals: poisson").value::<Arrivals>("arrivals", None),
        Arrivals::Poisson
    );
    assert_eq!(
        sentence("arrivals: random"),
        "line 1: arrivals: expected even, poisson, lockstep, got 'random'"
    );
    assert_eq!(
        read("").value::<Arrivals>("arrivals", Some("even")),
        Arrivals::Even
    );
}

/// Lines that upstream and we read in the same way; then those where upstream loses the value.
const SEPARATED: &[&str] = &[
    "record-bytes: 9",
    "record-bytes:9",
    "record-bytes 9",
    "record-bytes\t9",
    "record-bytes:\t  9 \r",
    " : record-bytes: 9",
    // Upstream reads 0 here, because it takes ":" for the number.
    "record-bytes : 9",
];

#[test]
fn keys_and_values_are_separated_by_a_colon_or_blanks() {
    for line in SEPARATED {
        assert_eq!(read(line).value::<u32>("record-bytes", None), 9, "{line:?}");
    }
}

#[test]
fn the_last_of_two_lines_applies_with_a_warning() {
    let parsed = read("update-pct: 1\nupdate-pct: 2");
    assert_eq!(parsed.value::<u32>("update-pct", None), 2);
    let message = parsed.warnings[0].to_string();
    assert!(
        message.starts_with("line 2: update-pct: is also in line 1"),
        "{message}"
    );
}

#[test]
fn text_after_a_value_is_a_warning() {
    let parsed = read("service-threads: 10 per node");
    assert!(parsed.warnings[0].to_string().contains("is read as 10;"));
    assert!(read("service-threads: 10 # per node").warnings.is_empty());
}

#[test]
fn every_retired_key_has_a_reason() {
    for model in [Model::Storage, Model::Index] {
        for (key, reason) in RETIRED {
            let parsed = ParsedKeys::read(model, &format!("{key}: noop")).unwrap();
            assert_eq!(parsed.warnings[0].to_string(), format!("line 1: {key}: {reason}"));
        }
    }
}

#[test]
fn retired_keys_are_not_known_keys() {
    for (retired, _) in RETIRED {
        assert!(KEYS.iter().all(|key| key.name != *retired), "{retired}");
    }
}

#[test]
fn an_absent_key_has_its_default() {
    let parsed = read("");
    assert_eq!(parsed.value::<u32>("record-bytes", Some("1536")), 1536);
    assert!(!parsed.value::<bool>("tomb-raider", None));
}

#[test]
fn a_message_repeats_only_the_beginning_of_the_typed_text() {
    let message = sentence(&format!("{}: 1", "x".repeat(60_000)));
    assert!(message.len() < 200, "{message}");
    assert!(!sentence("a\u{1b}[31m: 1").contains('\u{1b}'));
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}(\n\\PC{0,80}){0,4}") {
        for model in [Model::Storage, Model::Index] {
            let _ = ParsedKeys::read(model, &text);
        }
    }

    #[test]
    fn known_keys_with_any_value_are_read_or_refused(which in 0..KEYS.len(), value in "[ -~]{0,30}") {
        let _ = ParsedKeys::read(Model::Storage, &format!("{}: {value}", KEYS[which].name));
    }
}
