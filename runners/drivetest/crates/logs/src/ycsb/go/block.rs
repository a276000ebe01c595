//! Check that a final block of go-ycsb is complete.

use crate::finding::Findings;
use crate::ycsb::go::fragment::{Fragment, PlacedRow};
use crate::ycsb::go::operations::{TOTAL, is_single, share};
use crate::ycsb::rules;

/// Check the rows: all rows of a block have the same columns, including a count.
pub fn check(fragment: &Fragment, findings: &mut Findings) {
    let is_final = fragment.finished.is_some();
    let Some(longest) = fragment
        .block
        .iter()
        .max_by_key(|placed| placed.row.values.len())
        .filter(|_| is_final)
    else {
        return;
    };
    for placed in &fragment.block {
        unknown(placed, findings);
        let heads = longest.row.values.iter().map(|(head, _)| head.as_str());
        let lacking: Vec<&str> = heads.filter(|head| placed.row.get(head).is_none()).collect();
        if !lacking.is_empty() {
            let sentence = format!(
                "{} lacks {}, which other rows have",
                placed.row.operation,
                lacking.join(", ")
            );
            findings.add(placed.place.finding(&rules::RESULT_CUT, &sentence));
        }
    }
    let lacks_count = longest.row.ops_count().is_none();
    if lacks_count || longest.row.rate().is_none() {
        let sentence = "the rows lack Count or OPS";
        findings.add(longest.place.finding(&rules::ROW_MISSING, sentence));
    }
    if lacks_total(fragment) {
        let sentence = "the row TOTAL, which this release prints after successful operations, is missing";
        findings.add(longest.place.finding(&rules::RESULT_CUT, sentence));
    }
    let means = fragment
        .block
        .iter()
        .any(|placed| placed.row.get("Avg(us)").is_some());
    if means {
        findings.add(rules::MEANS_TRUNCATED.at(None, "means are truncated to whole microseconds"));
    }
}

/// Return whether TOTAL is missing: it was introduced together with the 50th percentile, before v1.0.1.
fn lacks_total(fragment: &Fragment) -> bool {
    let has = |wanted: &dyn Fn(&PlacedRow) -> bool| fragment.block.iter().any(wanted);
    has(&|placed| placed.row.get("50th(us)").is_some() && is_single(&placed.row.operation))
        && !has(&|placed| placed.row.operation == TOTAL)
}

fn unknown(placed: &PlacedRow, findings: &mut Findings) {
    const KNOWN: [&str; 7] = ["Takes(s)", "Count", "OPS", "QPS", "Avg(us)", "Min(us)", "Max(us)"];
    let is_known = |head: &str| KNOWN.contains(&head) || share(head).is_some();
    for (head, value) in placed.row.values.iter().filter(|(head, _)| !is_known(head)) {
        let sentence = format!("{}: {head}: {value} is an unknown value", placed.row.operation);
        findings.add(placed.place.finding(&rules::ROW_UNKNOWN, &sentence));
    }
}
