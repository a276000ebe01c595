//! Profiles: thresholds, limits, ratio, object size, duration and slice length under one name and version.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::judge::decimal::Decimal;

/// The profiles that the program knows by name, newest version last.
const KNOWN: &[(&str, &str)] = &[(
    "operational-database.1",
    include_str!("../../profiles/operational-database.1.json"),
)];

/// A percentage allowed beyond a time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The time, microseconds.
    pub threshold_us: u64,
    /// The percentage of reads allowed at or over it.
    pub limit_pct: Decimal,
}

/// The rules of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Its name.
    pub name: String,
    /// Its version.
    pub rule_version: u16,
    /// Reads of all requests, percent.
    pub reads_pct: Decimal,
    /// Writes of all requests, percent.
    pub writes_pct: Decimal,
    /// How far the ratio may differ, percentage points.
    pub ratio_tolerance_points: Decimal,
    /// The size of every object.
    pub object_bytes: u64,
    /// How long a run lasts.
    pub duration_s: u64,
    /// The length of a slice.
    pub slice_length_s: u64,
    /// When the steady state begins; where the profile does not say, see [`Rules::steady_from_s`].
    #[serde(default, rename = "steady_from_s")]
    configured_steady_from_s: Option<u64>,
    /// The limits.
    pub limits: Vec<Limit>,
}

/// What a verdict says of the profile it was given under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileName {
    /// Its name.
    pub name: String,
    /// Its version.
    pub rule_version: u16,
    /// The hash of its bytes.
    pub sha256: String,
}

/// A profile and the hash of the bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What it asks.
    pub rules: Rules,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// It is not JSON, or not of a profile.
    #[error("profile: {0}")]
    Json(#[from] serde_json::Error),
    /// A number makes no sense.
    #[error("profile {name}: expected {expected}; got {got}")]
    Rule {
        /// The profile.
        name: String,
        /// What should be there.
        expected: &'static str,
        /// What is there.
        got: String,
    },
}

impl Profile {
    /// Reads a profile's bytes.
    ///
    /// # Errors
    /// [`ProfileError`] where it is no profile or asks what cannot be asked.
    pub fn parse(bytes: &[u8]) -> Result<Self, ProfileError> {
        let rules: Rules = serde_json::from_slice(bytes)?;
        rules.check()?;
        Ok(Self {
            rules,
            sha256: hex(&Sha256::digest(bytes)),
        })
    }

    /// The bytes of a profile that is compiled in, by `NAME` (its newest version) or `NAME.VERSION`.
    pub fn known(name: &str) -> Option<&'static [u8]> {
        let is_it =
            |known: &str| known == name || known.rsplit_once('.').is_some_and(|(plain, _)| plain == name);
        KNOWN
            .iter()
            .rev()
            .find(|(known, _)| is_it(known))
            .map(|(_, document)| document.as_bytes())
    }

    /// The names of the profiles that are compiled in.
    pub fn known_names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(name, _)| *name)
    }

    /// What a verdict says of it.
    pub fn name(&self) -> ProfileName {
        let Rules {
            name, rule_version, ..
        } = &self.rules;
        ProfileName {
            name: name.clone(),
            rule_version: *rule_version,
            sha256: self.sha256.clone(),
        }
    }
}

impl Rules {
    /// When the steady state begins, seconds: as the profile asks, else after an eighth of the duration (3 h of 24 h),
    /// in whole slices.
    pub fn steady_from_s(&self) -> u64 {
        let eighth_s = self.duration_s.div_ceil(8);
        let whole_s = eighth_s
            .div_ceil(self.slice_length_s)
            .saturating_mul(self.slice_length_s);
        self.configured_steady_from_s.unwrap_or(whole_s)
    }

    fn check(&self) -> Result<(), ProfileError> {
        let refuse = |expected, got: String| {
            Err(ProfileError::Rule {
                name: self.name.clone(),
                expected,
                got,
            })
        };
        if self.limits.is_empty() {
            return refuse("at least one limit", "none".to_owned());
        }
        if self.slice_length_s == 0 || self.duration_s < self.slice_length_s {
            let got = format!("slices of {} s in {} s", self.slice_length_s, self.duration_s);
            return refuse("a duration of at least one slice above 0 s", got);
        }
        let rises = self
            .limits
            .windows(2)
            .all(|pair| pair[0].threshold_us < pair[1].threshold_us);
        if !rises || self.limits[0].threshold_us == 0 {
            return refuse("thresholds in rising order from above 0", "others".to_owned());
        }
        Ok(())
    }
}

/// Bytes in hexadecimal, as hashes are written.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(from: &str, to: &str) -> Result<Profile, ProfileError> {
        let document =
            String::from_utf8_lossy(Profile::known("operational-database").unwrap()).replace(from, to);
        Profile::parse(document.as_bytes())
    }

    #[test]
    fn the_known_profile_is_found_with_and_without_its_version() {
        assert_eq!(
            Profile::known("operational-database"),
            Profile::known("operational-database.1")
        );
        assert_eq!(Profile::known("operational-database.2"), None);
        assert_eq!(Profile::known("operational"), None);
    }

    #[test]
    fn the_known_profile_asks_what_the_certification_page_asks() {
        let rules = parse("", "").unwrap().rules;
        let limits: Vec<_> = rules
            .limits
            .iter()
            .map(|limit| (limit.threshold_us, limit.limit_pct.to_string()))
            .collect();
        assert_eq!(
            limits,
            [
                (1000, "5".to_owned()),
                (8000, "1".to_owned()),
                (64_000, "0.1".to_owned())
            ]
        );
        assert_eq!(
            (rules.duration_s, rules.slice_length_s, rules.object_bytes),
            (86_400, 3600, 1536)
        );
    }

    #[test]
    fn the_steady_state_begins_after_three_hours_of_a_day() {
        assert_eq!(parse("", "").unwrap().rules.steady_from_s(), 10_800);
        let configured = parse(
            "\"duration_s\": 86400",
            "\"duration_s\": 86400, \"steady_from_s\": 7200",
        );
        assert_eq!(configured.unwrap().rules.steady_from_s(), 7200);
        let odd = parse("\"duration_s\": 86400", "\"duration_s\": 86401");
        assert_eq!(odd.unwrap().rules.steady_from_s(), 14_400, "whole slices");
    }

    #[test]
    fn a_profile_that_cannot_be_asked_is_refused() {
        assert!(parse("\"threshold_us\": 8000", "\"threshold_us\": 1000").is_err());
        assert!(parse("\"slice_length_s\": 3600", "\"slice_length_s\": 0").is_err());
        assert!(parse("\"slice_length_s\": 3600", "\"slice_length_s\": 86401").is_err());
        assert!(parse("\"slice_length_s\": 3600", "\"slice_length_s\": 86400").is_ok());
        assert!(parse("\"limit_pct\": \"5\"", "\"limit_pct\": \"-5\"").is_err());
        assert!(parse("\"duration_s\"", "\"durations\"").is_err());
    }
}
