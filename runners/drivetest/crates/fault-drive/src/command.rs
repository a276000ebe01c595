//! The text commands of the fault drive, one a line, for programs that control it through a pipe.
//!
//! ```text
//! only read 1536                        hold read 100us
//! delay read 5% 1500us                  servers 4 77us
//! error read EIO every 100              error write ENOSPC from 1048576 to 2097152
//! stall | resume | clear | forget | truth
//! burn | rest                           occupy the processors of the host except for the drive, and end it
//! ```

use std::time::Duration;

use serde_json::{Value, json};

use crate::drive::FaultDrive;
use crate::faults::{Delay, FailureRule, Operation};

/// A line that is not a valid command.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{got}': expected {expected}")]
pub struct CommandError {
    expected: &'static str,
    got: String,
}

fn error(expected: &'static str, got: &str) -> CommandError {
    CommandError {
        expected,
        got: got.to_owned(),
    }
}

/// Executes a command line and returns its response.
///
/// # Errors
/// [`CommandError`] if the line is not valid; the drive is unchanged then.
pub fn execute(drive: &FaultDrive, line: &str) -> Result<Value, CommandError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["truth"] => return Ok(json!(drive.ground_truth())),
        ["resume"] => return Ok(json!({"stalled_ns": drive.resume().as_nanos() as u64})),
        ["stall"] => drive.stall(),
        ["burn"] => drive
            .start_burners()
            .map_err(|_| error("permission for real-time priority", line))?,
        ["rest"] => drive.stop_burners(),
        ["clear"] => drive.clear_rules(),
        ["forget"] => drive.reset_counts(),
        ["only", of, length] => drive.limit_to_length(operation(of)?, number(length)? as u32),
        ["hold", of, time] => drive.set_base_delay(operation(of)?, duration(time)?),
        ["delay", of, share, time] => {
            let delay = Delay {
                per_million: per_million(share)?,
                duration: duration(time)?,
            };
            drive.add_delay(operation(of)?, delay);
        }
        ["servers", count, time] => drive.set_servers(number(count)? as usize, duration(time)?),
        ["error", of, name, which @ ..] => drive.add_failure(operation(of)?, failures(name, which)?),
        _ => return Err(error("a command", line)),
    }
    Ok(json!({"done": line}))
}

fn operation(word: &str) -> Result<Operation, CommandError> {
    match word {
        "read" => Ok(Operation::Read),
        "write" => Ok(Operation::Write),
        _ => Err(error("read or write", word)),
    }
}

fn number(word: &str) -> Result<u64, CommandError> {
    word.parse().map_err(|_| error("a whole number", word))
}

/// Parses a whole number followed by us, ms or s.
fn duration(word: &str) -> Result<Duration, CommandError> {
    let in_unit = |unit: &str| word.strip_suffix(unit)?.parse::<u64>().ok();
    let micros = || in_unit("us").map(Duration::from_micros);
    let millis = || in_unit("ms").map(Duration::from_millis);
    let seconds = || in_unit("s").map(Duration::from_secs);
    micros()
        .or_else(millis)
        .or_else(seconds)
        .ok_or_else(|| error("a time such as 1500us, 80ms or 6s", word))
}

/// Parses a percentage with at most four decimal places, so that no share is rounded.
fn per_million(word: &str) -> Result<u32, CommandError> {
    let expected = || {
        error(
            "a share such as 5% or 0.1%, at most 100%, with at most four places",
            word,
        )
    };
    let (whole, places) = {
        let text = word.strip_suffix('%').ok_or_else(expected)?;
        text.split_once('.').unwrap_or((text, ""))
    };
    let digits = format!("{whole}{places:0<4}");
    let share = digits.parse::<u32>().map_err(|_| expected())?;
    if places.len() > 4 || whole.is_empty() || share > 1_000_000 {
        return Err(expected());
    }
    Ok(share)
}

fn failures(name: &str, which: &[&str]) -> Result<FailureRule, CommandError> {
    let errno = match name {
        "EIO" => libc::EIO,
        "ENOSPC" => libc::ENOSPC,
        "ENODATA" => libc::ENODATA,
        _ => return Err(error("EIO, ENOSPC or ENODATA", name)),
    };
    match which {
        ["every", every] => Ok(FailureRule {
            errno,
            every: number(every)?,
            region: None,
        }),
        ["from", from, "to", to] => Ok(FailureRule {
            errno,
            every: 0,
            region: Some((number(from)?, number(to)?)),
        }),
        _ => Err(error("every N, or from A to B", &which.join(" "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact() {
        assert_eq!(
            ["5%", "0.1%", "0.0001%", "100%"].map(per_million),
            [50_000, 1_000, 1, 1_000_000].map(Ok)
        );
        for wrong in ["5", "100.0001%", "0.00001%", ".5%", "-1%", "%", ""] {
            assert!(per_million(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("1500us"), Ok(Duration::from_micros(1_500)));
        assert_eq!(
            (duration("80ms"), duration("6s")),
            (Ok(Duration::from_millis(80)), Ok(Duration::from_secs(6)))
        );
        assert!(duration("80").is_err() && duration("ms").is_err());
    }

    #[test]
    fn failures_are_selected_by_request_number_or_by_region() {
        let every = FailureRule {
            errno: 5,
            every: 100,
            region: None,
        };
        assert_eq!(failures("EIO", &["every", "100"]), Ok(every));
        let region = FailureRule {
            errno: 28,
            every: 0,
            region: Some((1, 9)),
        };
        assert_eq!(failures("ENOSPC", &["from", "1", "to", "9"]), Ok(region));
        assert!(failures("EIO", &[]).is_err() && failures("EWHAT", &["every", "1"]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn a_formatted_share_parses_to_the_same_value(share in 0_u32..=1_000_000) {
            let text = format!("{}.{:04}%", share / 10_000, share % 10_000);
            proptest::prop_assert_eq!(per_million(&text), Ok(share));
        }
    }
}
