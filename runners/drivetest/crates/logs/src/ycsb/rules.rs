//! The findings on runs of YCSB. Every rule is described in docs/findings.md under YCSB, which a test compares.

use crate::finding::{Effect, Rule, Severity};

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $effect:ident $remedy:literal)*) => {
        $(
            #[doc = concat!("`", $id, "`: see docs/findings.md.")]
            pub const $name: Rule = Rule {
                id: $id, severity: Severity::$severity, effect: Effect::$effect, remedy: $remedy,
            };
        )*

        /// Every rule.
        pub const RULES: &[Rule] = &[$($name),*];
    };
}

rules! {
    NO_RESULT "no-result" Decides Incomplete "send the standard output too; if the run was stopped, run it again to its end"
    NOTHING_DONE "nothing-done" Decides Incomplete "mend what the program says (the database could not be opened, or nothing was asked) and run it again"
    OPERATIONS_FAILED "operations-failed" Decides Fails "load the records that the run asks for, or mend what fails, and run it again"
    VERIFICATION_FAILED "verification-failed" Decides Fails "load with dataintegrity=true as well; else the database gives back other data than was written"
    OPERATIONS_DO_NOT_ADD_UP "operations-do-not-add-up" Decides Untrusted "send the output as the program wrote it"
    ROWS_CONFLICT "rows-conflict" Decides Untrusted "send the output as the program wrote it, one run after the other"
    OPERATION_COUNT_DIFFERS "operation-count-differs" Decides Incomplete "find why operations are missing (threads that stopped, a full disk) and run it again"
    LOAD_CUT "load-cut" Decides Incomplete "load without maxexecutiontime: records that are missing fail in later runs"
    THREADS_DIFFER "threads-differ" Decides Incomplete "find why threads did not run, or ask for no more threads than operations, and run it again"
    RESULT_CUT "result-cut" Decides Incomplete "send the whole output"
    COMMAND_LINE_MISSING "command-line-missing" Look Undecided "send the standard error stream, or a file with the command line, beside the output"
    REQUESTED_COUNT_UNKNOWN "asked-count-unknown" Look Undecided "send the files of -P that the command line names"
    THREADS_UNKNOWN "threads-unknown" Look Undecided "send the whole output, and the files of -P that the command line names"
    OPTION_UNREADABLE "option-unreadable" Look Undecided "give it as a number that the program can read"
    ROW_UNREADABLE "row-unreadable" Look Undecided "send the output as the program wrote it"
    ROW_UNKNOWN "row-unknown" Look Nothing "it is not in the document; tell which version or fork wrote it"
    ROW_MISSING "row-missing" Look Nothing "send the output as the program wrote it"
    ROW_REPEATED "row-repeated" Look Nothing "the repetition is passed over; send the output as the program wrote it"
    LAST_ROW_OPEN "last-row-open" Look Nothing "send the whole output: the last value may be cut"
    TOO_MANY_ROWS "too-many-rows" Look Nothing "leave out measurement.histogram.verbose, or take a coarser timeseries.granularity"
    TOO_MANY_STATUS_LINES "too-many-status-lines" Look Nothing "take a longer status.interval"
    CREDENTIALS "credentials" Look Nothing "change the password, or send the log again without it: the stored log can be downloaded"
    COMPANION_UNMATCHED "companion-unmatched" Look Nothing "send one log with its own companions for each run"
    STATUS_DIFFERS "status-differs" Look Nothing "send the streams of one run together"
    EXCEPTIONS "exceptions" Look Nothing "read what the program says there"
    BINDING_ERRORS "binding-errors" Look Nothing "read what the program says there"
    MORE_IN_FLIGHT "more-in-flight-than-threads" Look Undecided "look here: throughput and mean times cannot both be right with these threads"
    TARGET_NOT_REACHED "target-not-reached" Look Nothing "take a lower target: above capacity, response times only tell how long the run was"
    INTENDED_TIMES_MISSING "intended-times-missing" Look Nothing "run it with measurement.interval=both"
    INTENDED_WITHOUT_TARGET "intended-without-target" Note Nothing "give a target; without one no operation is ever due"
    CLOSED_LOOP "closed-loop" Note Nothing "give a target and measurement.interval=both to see response times"
    FEW_SAMPLES "percentile-of-few-samples" Look Nothing "run longer, or ask for percentiles that so few operations can show"
    PERCENTILES_FELL_BACK "percentiles-fell-back" Look Nothing "percentiles with decimals need YCSB 0.12 or later; write them as 95,99,99.9"
    PERCENTILE_ROW_MISSING "percentile-row-missing" Look Nothing "raise histogram.buckets, or take measurementtype=hdrhistogram"
    PERCENTILE_IS_P90 "percentile-is-the-90th" Look Nothing "it is shown as p90; take YCSB 0.4 or later"
    PERCENTILES_FLOORED "percentiles-floored" Note Nothing "take measurementtype=hdrhistogram for percentiles in microseconds"
    CELLS_UNCLEAR "cells-unclear" Look Nothing "send the command line: rows named by a number are buckets, values or times by the measurementtype"
    TIME_LIMIT_HIT "time-limit-hit" Note Nothing ""
    WARM_UP "warm-up-visible" Note Nothing "leave the first intervals out, or run longer"
    RECORD_COUNT_UNKNOWN "record-count-untold" Look Nothing "give recordcount on the command line of the run too; upstream's workload files say 1000, which any cache holds"
    FILES_MISSING "workload-file-missing" Note Nothing "send the files of -P too"
    VERSION_HIDDEN "version-hidden" Note Nothing "YCSB up to 0.7 calls itself 0.1; say which version it was"
    FORK_ZIPFIAN "fork-zipfian" Look Nothing "compare zipfian runs of the HSE fork with none of upstream's"
    LATEST_REPLACED "latest-replaced" Look Nothing "workload D reads the latest records; leave requestdistribution out to run it as it is"
    UPDATES_SHRINK_RECORDS "updates-shrink-records" Look Nothing "take fieldcount=1 or writeallfields=true with the aerospike binding"
    OPTIONS_FILE_IGNORED "options-file-ignored" Look Nothing "take a version that reads rocksdb.optionsfile; this one runs with its defaults"
    EXPORTER_FELL_BACK "exporter-fell-back" Note Nothing "name the exporter with the package of the version"
    COLLECTIONS_HEAVY "collections-heavy" Look Nothing "give the virtual machine more memory: its collections are part of the times"
    EMPTY_OPERATION "empty-operation" Note Nothing ""
    COMMA_DECIMALS "comma-decimals" Note Nothing "run it with -Duser.language=en"
    RESULT_ELSEWHERE "result-elsewhere" Decides Incomplete "send the file of measurement.output_file beside the log"
    BACK_END_UNKNOWN "back-end-untold" Note Nothing "send a file with the command line: it names the back end"
    TOTAL_COUNTS_PARTS "total-counts-parts" Note Nothing "compare throughput_ops_per_s with YCSB's"
    MEANS_TRUNCATED "means-truncated" Note Nothing "compare percentiles, or take measurementtype=raw for exact means"
    WARM_UP_EXCLUDED "warm-up-excluded" Note Nothing ""
    TIME_LIMIT_IGNORED "time-limit-ignored" Look Nothing "ask for as many operations as the time holds"
    ERRORS_SILENT "errors-silent" Note Nothing "run it with silence=false to see why operations fail"
    SERVICE_TIMES_ALONE "service-times-alone" Note Nothing "take YCSB with a target and measurement.interval=both to see response times"
    HDR_UNREADABLE "hdr-unreadable" Look Nothing "send the .hdr file as YCSB wrote it; what of it can be read is merged"
    HDR_NOT_COMPARED "hdr-not-compared" Look Nothing "send the .hdr file as YCSB wrote it: what of it cannot be read is told by hdr-unreadable"
    HDR_DIFFERS "hdr-differs" Look Nothing "send the .hdr files of this run: YCSB writes them anew in each run"
    HDR_UNMATCHED "hdr-unmatched" Look Nothing "send one log with its own .hdr files for each run"
    HDR_OF_SEVERAL "hdr-of-several-clients" Note Nothing ""
    HDR_CUT_TO_SPAN "hdr-cut-to-span" Note Nothing ""
    RAW_DIFFERS "raw-differs" Look Nothing "send the whole output: single operations stand before their summary"
    LATENCIES_ROUNDED "latencies-rounded" Note Nothing ""
    STREAMS_JOINED "streams-joined" Note Nothing ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_over_both_lists() {
        let all = RULES.iter().chain(crate::finding::RULES);
        let mut ids: Vec<_> = all.map(|rule| rule.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn every_rule_is_documented_with_severity_and_effect_and_nothing_else_is() {
        let document = include_str!("../../../../../../docs/findings.md");
        let (_, after) = document.split_once("## YCSB").unwrap();
        let table = after.split("\n## ").next().unwrap();
        let cells = |row: &str| {
            [1, 2, 3, 5].map(|at| {
                row.split('|')
                    .nth(at)
                    .unwrap()
                    .trim()
                    .trim_matches('`')
                    .to_owned()
            })
        };
        let mut in_docs: Vec<_> = table
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(cells)
            .collect();
        let written = |word: String| word.to_lowercase().replace("nothing", "");
        let row = |rule: &Rule| {
            let (severity, effect) = (format!("{:?}", rule.severity), format!("{:?}", rule.effect));
            [
                rule.id.to_owned(),
                written(severity),
                written(effect),
                rule.remedy.to_owned(),
            ]
        };
        let mut in_code: Vec<_> = RULES.iter().map(row).collect();
        in_docs.sort();
        in_code.sort();
        assert_eq!(in_code, in_docs);
    }

    #[test]
    fn what_decides_has_an_effect_and_a_remedy() {
        for rule in RULES.iter().filter(|rule| rule.severity == Severity::Decides) {
            assert!(
                rule.effect != Effect::Nothing && !rule.remedy.is_empty(),
                "{}",
                rule.id
            );
        }
    }
}
