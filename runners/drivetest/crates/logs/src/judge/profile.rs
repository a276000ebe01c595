//! Profiles: named and versioned sets of thresholds, limits, ratio, object size, duration and slice length.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::judge::decimal::Decimal;

/// Name of the profile that applies if none is requested.
pub const DEFAULT_PROFILE: &str = "operational-database";

/// Built-in profiles, newest version last.
const KNOWN: &[(&str, &str)] = &[(
    "operational-database.1",
    include_str!("../../profiles/operational-database.1.json"),
)];

/// Allowed percentage of reads over a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Threshold in microseconds.
    pub threshold_us: u64,
    /// Allowed percentage of reads at or over the threshold.
    pub limit_pct: Decimal,
}

/// Rules of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Name.
    pub name: String,
    /// Version.
    pub rule_version: u16,
    /// Reads in percent of all requests.
    pub reads_pct: Decimal,
    /// Writes in percent of all requests.
    pub writes_pct: Decimal,
    /// Allowed deviation of the ratio in percentage points.
    pub ratio_tolerance_points: Decimal,
    /// Size of every object.
    pub object_bytes: u64,
    /// Required duration of a run.
    pub duration_s: u64,
    /// Length of a slice.
    pub slice_length_s: u64,
    /// Start of the steady state; for profiles without it, see [`Rules::steady_from_s`].
    #[serde(default, rename = "steady_from_s")]
    configured_steady_from_s: Option<u64>,
    /// Limits.
    pub limits: Vec<Limit>,
}

/// Identification of the profile of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileName {
    /// Name.
    pub name: String,
    /// Version.
    pub rule_version: u16,
    /// Hash of its bytes.
    pub sha256: String,
}

/// A profile, with the hash of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Rules.
    pub rules: Rules,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// Reason why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The bytes are not JSON, or not a profile.
    #[error("profile: {0}")]
    Json(#[from] serde_json::Error),
    /// A number is not possible.
    #[error("profile {name}: expected {expected}; got {got}")]
    Rule {
        /// Name of the profile.
        name: String,
        /// Expected value.
        expected: &'static str,
        /// Value found.
        got: String,
    },
}

impl Profile {
    /// Parse the bytes of a profile.
    ///
    /// # Errors
    /// [`ProfileError`] if it is not a profile, or requires something impossible.
    pub fn parse(bytes: &[u8]) -> Result<Self, ProfileError> {
        let rules: Rules = serde_json::from_slice(bytes)?;
        rules.check()?;
        Ok(Self {
            rules,
            sha256: hex(&Sha256::digest(bytes)),
        })
    }

    /// Return the bytes of a built-in profile by `NAME` (its newest version) or `NAME.VERSION`.
    pub fn known(name: &str) -> Option<&'static [u8]> {
        let is_it =
            |known: &str| known == name || known.rsplit_once('.').is_some_and(|(plain, _)| plain == name);
        let found = KNOWN.iter().rev().find(|(known, _)| is_it(known));
        found.map(|(_, document)| document.as_bytes())
    }

    /// Return the newest version of [`DEFAULT_PROFILE`].
    pub fn default_profile() -> Option<Self> {
        Self::parse(Self::known(DEFAULT_PROFILE)?).ok()
    }

    /// Return the names of the built-in profiles.
    pub fn known_names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(name, _)| *name)
    }

    /// Return the identification for a verdict.
    pub fn name(&self) -> ProfileName {
        ProfileName {
            name: self.rules.name.clone(),
            rule_version: self.rules.rule_version,
            sha256: self.sha256.clone(),
        }
    }
}

impl Rules {
    /// Return the start of the steady state in seconds.
    ///
    /// It is the value of the profile, or else an eighth of the duration (3 h of 24 h), rounded up to whole slices.
    pub fn steady_from_s(&self) -> u64 {
        let slices = self.duration_s.div_ceil(8).div_ceil(self.slice_length_s);
        let whole_s = slices.saturating_mul(self.slice_length_s);
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
            let expected = "a slice length above 0 s and a duration of at least one slice";
            return refuse(expected, got);
        }
        let rises = self
            .limits
            .is_sorted_by(|one, next| one.threshold_us < next.threshold_us);
        if !rises || self.limits[0].threshold_us == 0 {
            return refuse("thresholds above 0 in rising order", "another order".to_owned());
        }
        Ok(())
    }
}

/// Return bytes as hexadecimal digits, the format of hashes.
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
        assert!(Profile::known(DEFAULT_PROFILE).is_some());
        assert_eq!(Profile::known("operational-database.2"), None);
        assert_eq!(Profile::known("operational"), None);
    }

    #[test]
    fn the_built_in_profile_has_the_rules_of_the_certification_page() {
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
    fn an_impossible_profile_is_rejected() {
        assert!(parse("\"threshold_us\": 8000", "\"threshold_us\": 1000").is_err());
        assert!(parse("\"slice_length_s\": 3600", "\"slice_length_s\": 0").is_err());
        assert!(parse("\"slice_length_s\": 3600", "\"slice_length_s\": 86401").is_err());
        assert!(parse("\"slice_length_s\": 3600", "\"slice_length_s\": 86400").is_ok());
        assert!(parse("\"limit_pct\": \"5\"", "\"limit_pct\": \"-5\"").is_err());
        assert!(parse("\"duration_s\"", "\"durations\"").is_err());
    }
}
