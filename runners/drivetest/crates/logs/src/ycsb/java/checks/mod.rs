//! Checks of a YCSB run. Findings that decide make it invalid; the exit status of YCSB never does.

pub mod counts;
pub mod intervals;
pub mod percentiles;
mod result;
pub mod setup;
pub mod times;

use crate::finding::Findings;
use crate::ycsb::common::number;
use crate::ycsb::java::fragment::Fragment;
use crate::ycsb::java::measurement_type::MeasurementType;
use crate::ycsb::java::settings::Settings;
use crate::ycsb::run::Run;

/// Sources of a run.
pub struct Evidence<'a> {
    /// Content of its files.
    pub fragment: &'a Fragment,
    /// Configuration.
    pub settings: &'a Settings,
    /// Type of its measurement.
    pub kind: &'a MeasurementType,
}

/// Add the findings of all checks.
pub fn all(run: &Run, evidence: &Evidence<'_>, findings: &mut Findings) {
    result::check(run, evidence, findings);
    counts::check(run, evidence, findings);
    setup::check(run, evidence, findings);
    percentiles::check(run, evidence, findings);
    times::check(run, evidence, findings);
    intervals::check(run, findings);
}

/// Return whether an outcome or a status is a success.
/// Source: YCSB, Status.isOk(); numbers up to 0.4, 0 for success.
pub fn is_good(status: &str) -> bool {
    matches!(status, "ok" | "OK" | "BATCHED_OK" | "0")
}

/// Return whether the time limit ended the run: by YCSB's message, or else by the runtime.
pub fn hit_limit(run: &Run, fragment: &Fragment) -> bool {
    let limit_ms = run
        .time_limit_s
        .filter(|&limit_s| limit_s > 0)
        .map(|limit_s| limit_s.saturating_mul(1000));
    let runtime_ms = run.runtime_ms.as_deref().and_then(number::count);
    let counts = run.done_ops_count.zip(run.operation_count);
    let is_short = counts.is_none_or(|(done, requested)| done < requested);
    let by_time = is_short && limit_ms.zip(runtime_ms).is_some_and(|(limit, ran)| ran >= limit);
    fragment.limit_hit.is_some() || by_time
}
