//! Findings on runs of YCSB and go-ycsb.
//!
//! docs/reference/findings.md describes every rule under YCSB; a test compares that document with the rules in this module.

use crate::finding::rules;

rules! {
    NO_RESULT "no-result" Decides Incomplete "also send the standard output; if the run was stopped, repeat it to its end"
    NOTHING_DONE "nothing-done" Decides Incomplete "fix the error that the program reports (the database was not opened, or no operations were requested), then repeat the run"
    OPERATIONS_FAILED "operations-failed" Decides Fails "load the records that the run reads, or fix the failing operations, then repeat the run"
    VERIFICATION_FAILED "verification-failed" Decides Fails "load with dataintegrity=true too; otherwise the database returns other data than was written"
    OPERATIONS_DO_NOT_ADD_UP "operations-do-not-add-up" Decides Untrusted "send the unmodified output"
    ROWS_CONFLICT "rows-conflict" Decides Untrusted "send the unmodified output, with its runs one after the other"
    OPERATION_COUNT_DIFFERS "operation-count-differs" Decides Incomplete "find out why operations are missing (threads that stopped, a full file system), then repeat the run"
    LOAD_CUT "load-cut" Decides Incomplete "load without maxexecutiontime: reads of missing records fail in later runs"
    THREADS_DIFFER "threads-differ" Decides Incomplete "find out why threads did not run, or use at most as many threads as operations, then repeat the run"
    RESULT_CUT "result-cut" Decides Incomplete "send the whole output"
    COMMAND_LINE_MISSING "command-line-missing" Look Undecided "also send the standard error stream, or a file with the command line"
    REQUESTED_COUNT_UNKNOWN "asked-count-unknown" Look Undecided "send the -P files that the command line names"
    THREADS_UNKNOWN "threads-unknown" Look Undecided "send the whole output, and the -P files that the command line names"
    OPTION_UNREADABLE "option-unreadable" Look Undecided "use a number that the program can read"
    ROW_UNREADABLE "row-unreadable" Look Undecided "send the unmodified output"
    ROW_UNKNOWN "row-unknown" Look Nothing "the row is not in the result; name the version or fork that wrote it"
    ROW_MISSING "row-missing" Look Nothing "send the unmodified output"
    ROW_REPEATED "row-repeated" Look Nothing "the duplicate is ignored; send the unmodified output"
    LAST_ROW_OPEN "last-row-open" Look Nothing "send the whole output: the last value may be truncated"
    TOO_MANY_ROWS "too-many-rows" Look Nothing "turn off measurement.histogram.verbose, or use a coarser timeseries.granularity"
    TOO_MANY_STATUS_LINES "too-many-status-lines" Look Nothing "use a longer status.interval"
    CREDENTIALS "credentials" Look Nothing "change the password, or send the log again without it: everyone can download the stored log"
    COMPANION_UNMATCHED "companion-unmatched" Look Nothing "for each run, send one log with its own attachments"
    STATUS_DIFFERS "status-differs" Look Nothing "send the streams of one run together"
    EXCEPTIONS "exceptions" Look Nothing "read the error message of the program"
    BINDING_ERRORS "binding-errors" Look Nothing "read the error message of the program"
    MORE_IN_FLIGHT "more-in-flight-than-threads" Look Undecided "check the thread count: throughput and mean times cannot both be right with these threads"
    TARGET_NOT_REACHED "target-not-reached" Look Nothing "use a lower target: above capacity, response times only reflect the length of the run"
    INTENDED_TIMES_MISSING "intended-times-missing" Look Nothing "run it with measurement.interval=both"
    INTENDED_WITHOUT_TARGET "intended-without-target" Note Nothing "set a target; without one no operation has a due time"
    CLOSED_LOOP "closed-loop" Note Nothing "set a target and measurement.interval=both to see response times"
    FEW_SAMPLES "percentile-of-few-samples" Look Nothing "run longer, or choose percentiles that this number of operations can show"
    PERCENTILES_FELL_BACK "percentiles-fell-back" Look Nothing "percentiles with decimals need YCSB 0.12 or later; write them as 95,99,99.9"
    PERCENTILE_ROW_MISSING "percentile-row-missing" Look Nothing "raise histogram.buckets, or use measurementtype=hdrhistogram"
    PERCENTILE_IS_P90 "percentile-is-the-90th" Look Nothing "the value is shown as p90; use YCSB 0.4 or later"
    PERCENTILES_FLOORED "percentiles-floored" Note Nothing "use measurementtype=hdrhistogram for percentiles in microseconds"
    CELLS_UNCLEAR "cells-unclear" Look Nothing "send the command line: rows named by a number are buckets, values or times by the measurementtype"
    TIME_LIMIT_HIT "time-limit-hit" Note Nothing ""
    WARM_UP "warm-up-visible" Note Nothing "exclude the first intervals, or run longer"
    RECORD_COUNT_UNKNOWN "record-count-untold" Look Nothing "also set recordcount on the command line of the run; the workload files of YCSB set 1000, which fits any cache"
    FILES_MISSING "workload-file-missing" Note Nothing "also send the -P files"
    VERSION_HIDDEN "version-hidden" Note Nothing "YCSB up to 0.7 reports version 0.1; state the version"
    FORK_ZIPFIAN "fork-zipfian" Look Nothing "do not compare zipfian runs of the HSE fork with runs of upstream YCSB"
    LATEST_REPLACED "latest-replaced" Look Nothing "workload D reads the latest records; remove requestdistribution to run it unchanged"
    UPDATES_SHRINK_RECORDS "updates-shrink-records" Look Nothing "use fieldcount=1 or writeallfields=true with the aerospike binding"
    OPTIONS_FILE_IGNORED "options-file-ignored" Look Nothing "use a version that reads rocksdb.optionsfile; this one uses its defaults"
    EXPORTER_FELL_BACK "exporter-fell-back" Note Nothing "use the exporter's package name of this version"
    COLLECTIONS_HEAVY "collections-heavy" Look Nothing "give the Java virtual machine more memory: the times include its garbage collections"
    EMPTY_OPERATION "empty-operation" Note Nothing ""
    COMMA_DECIMALS "comma-decimals" Note Nothing "run with -Duser.language=en"
    RESULT_ELSEWHERE "result-elsewhere" Decides Incomplete "also send the file of measurement.output_file"
    BACK_END_UNKNOWN "back-end-untold" Note Nothing "send a file with the command line: it names the database"
    TOTAL_COUNTS_PARTS "total-counts-parts" Note Nothing "compare throughput_ops_per_s with YCSB's"
    MEANS_TRUNCATED "means-truncated" Note Nothing "compare percentiles, or use measurementtype=raw for exact means"
    WARM_UP_EXCLUDED "warm-up-excluded" Note Nothing ""
    TIME_LIMIT_IGNORED "time-limit-ignored" Look Nothing "request as many operations as fit the time"
    ERRORS_SILENT "errors-silent" Note Nothing "run it with silence=false to see why operations fail"
    SERVICE_TIMES_ALONE "service-times-alone" Note Nothing "use YCSB with a target and measurement.interval=both to see response times"
    HDR_UNREADABLE "hdr-unreadable" Look Nothing "send the unmodified .hdr file; its readable parts are merged"
    HDR_NOT_COMPARED "hdr-not-compared" Look Nothing "send the unmodified .hdr file: see hdr-unreadable for its unreadable parts"
    HDR_DIFFERS "hdr-differs" Look Nothing "send the .hdr files of this run: YCSB overwrites them in each run"
    HDR_UNMATCHED "hdr-unmatched" Look Nothing "for each run, send one log with its own .hdr files"
    HDR_OF_SEVERAL "hdr-of-several-clients" Note Nothing ""
    HDR_CUT_TO_SPAN "hdr-cut-to-span" Note Nothing ""
    RAW_DIFFERS "raw-differs" Look Nothing "send the whole output: single operations come before their summary"
    LATENCIES_ROUNDED "latencies-rounded" Note Nothing ""
    STREAMS_JOINED "streams-joined" Note Nothing ""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Effect, Rule, Severity};

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
        let document = include_str!("../../../../../../docs/reference/findings.md");
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
