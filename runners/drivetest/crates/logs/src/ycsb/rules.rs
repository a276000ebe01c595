//! Findings on runs of YCSB and go-ycsb.
//!
//! docs/reference/findings.md describes every rule under YCSB; a test compares that document with the rules in this module.

use crate::finding::rules;

rules! {
    NO_RESULT "no-result" Decides Incomplete "also send the standard output of the program; if the run was stopped, repeat the run to its end"
    NOTHING_DONE "nothing-done" Decides Incomplete "fix the error that the program reports (it did not open the database, or no operations were requested), then repeat the run"
    OPERATIONS_FAILED "operations-failed" Decides Fails "load the records that the run reads, or fix the cause of the failed operations, then repeat the run"
    VERIFICATION_FAILED "verification-failed" Decides Fails "load the records with dataintegrity=true; if they were loaded so, the database returns other data than was written"
    OPERATIONS_DO_NOT_ADD_UP "operations-do-not-add-up" Decides Untrusted "send the unmodified output of the program: its numbers of operations contradict each other"
    ROWS_CONFLICT "rows-conflict" Decides Untrusted "send the unmodified output of the program; if it has several runs, put the runs one after the other"
    OPERATION_COUNT_DIFFERS "operation-count-differs" Decides Incomplete "find out why operations are missing (threads that stopped, a full file system), then repeat the run"
    LOAD_CUT "load-cut" Decides Incomplete "repeat the load without maxexecutiontime: later runs fail when they read records that were never loaded"
    THREADS_DIFFER "threads-differ" Decides Incomplete "find out why some threads did not run, or request at most as many threads as operations, then repeat the run"
    RESULT_CUT "result-cut" Decides Incomplete "send the whole output of the program: its end is missing"
    COMMAND_LINE_MISSING "command-line-missing" Look Undecided "also send the standard error of the program, or a file with its command line"
    REQUESTED_COUNT_UNKNOWN "asked-count-unknown" Look Undecided "also send the workload files that the command line names with -P"
    THREADS_UNKNOWN "threads-unknown" Look Undecided "send the whole output of the program, and the workload files that its command line names with -P"
    OPTION_UNREADABLE "option-unreadable" Look Undecided "set the option to a number that the program can read"
    ROW_UNREADABLE "row-unreadable" Look Undecided "send the unmodified output of the program: drivetest cannot read one of its rows"
    ROW_UNKNOWN "row-unknown" Look Nothing "state which version or fork of YCSB wrote the unknown row, which is not part of the result"
    ROW_MISSING "row-missing" Look Nothing "send the unmodified output of the program: one of its rows is missing"
    ROW_REPEATED "row-repeated" Look Nothing "send the unmodified output of the program; drivetest ignores the repeated row"
    LAST_ROW_OPEN "last-row-open" Look Nothing "send the whole output of the program: its last value may be truncated"
    TOO_MANY_ROWS "too-many-rows" Look Nothing "turn off measurement.histogram.verbose, or use a coarser timeseries.granularity"
    TOO_MANY_STATUS_LINES "too-many-status-lines" Look Nothing "set status.interval to more seconds, so that YCSB prints fewer status lines"
    CREDENTIALS "credentials" Look Nothing "change the password or token, or send the log again without it: everyone can download the stored log"
    COMPANION_UNMATCHED "companion-unmatched" Look Nothing "send each run as a log of its own, together with the attachments of this run only"
    STATUS_DIFFERS "status-differs" Look Nothing "send the standard output and the standard error of the same run together"
    EXCEPTIONS "exceptions" Look Nothing "read the exception that the program printed, and fix its cause"
    BINDING_ERRORS "binding-errors" Look Nothing "read the error message that the database binding printed, and fix its cause"
    MORE_IN_FLIGHT "more-in-flight-than-threads" Look Undecided "check the number of threads: with this number, the throughput and the mean times cannot both be right"
    TARGET_NOT_REACHED "target-not-reached" Look Nothing "repeat the run with a lower target: if the database cannot reach the target, response times only reflect the length of the run"
    INTENDED_TIMES_MISSING "intended-times-missing" Look Nothing "repeat the run with measurement.interval=both, so that YCSB also measures response times"
    INTENDED_WITHOUT_TARGET "intended-without-target" Note Nothing "set a target: without a target, operations have no due time, and YCSB cannot measure response times"
    CLOSED_LOOP "closed-loop" Note Nothing "set a target and measurement.interval=both, so that YCSB also measures response times"
    FEW_SAMPLES "percentile-of-few-samples" Look Nothing "repeat the run with more operations, or rely only on percentiles with at least 10 operations beyond them"
    PERCENTILES_FELL_BACK "percentiles-fell-back" Look Nothing "write hdrhistogram.percentiles as 95,99,99.9; percentiles with decimals need YCSB 0.12 or later"
    PERCENTILE_ROW_MISSING "percentile-row-missing" Look Nothing "raise histogram.buckets, or set measurementtype=hdrhistogram, so that YCSB prints the missing percentile"
    PERCENTILE_IS_P90 "percentile-is-the-90th" Look Nothing "use YCSB 0.4 or later; drivetest shows the percentile that this version calls the 95th as p90"
    PERCENTILES_FLOORED "percentiles-floored" Note Nothing "set measurementtype=hdrhistogram to get percentiles in microseconds"
    CELLS_UNCLEAR "cells-unclear" Look Nothing "also send the command line: its measurementtype shows whether rows named by numbers are buckets, values or times"
    TIME_LIMIT_HIT "time-limit-hit" Note Nothing ""
    WARM_UP "warm-up-visible" Note Nothing "leave the first intervals of the run out of comparisons, or run longer"
    RECORD_COUNT_UNKNOWN "record-count-untold" Look Nothing "also set recordcount on the command line of the run; the workload files of YCSB set 1000 records, which fit any cache"
    FILES_MISSING "workload-file-missing" Note Nothing "also send the workload files that the command line names with -P"
    VERSION_HIDDEN "version-hidden" Note Nothing "state the version of YCSB: all releases up to 0.7 print 0.1"
    FORK_ZIPFIAN "fork-zipfian" Look Nothing "do not compare zipfian runs of the HSE fork of YCSB with zipfian runs of upstream YCSB"
    LATEST_REPLACED "latest-replaced" Look Nothing "remove requestdistribution from the properties to run workload D unchanged, which reads the latest records"
    UPDATES_SHRINK_RECORDS "updates-shrink-records" Look Nothing "set fieldcount=1 or writeallfields=true with the aerospike binding, so that updates do not make records smaller"
    OPTIONS_FILE_IGNORED "options-file-ignored" Look Nothing "use a version of YCSB that reads rocksdb.optionsfile; this version runs RocksDB with its default options"
    EXPORTER_FELL_BACK "exporter-fell-back" Note Nothing "name the exporter with the package name that this version of YCSB uses"
    COLLECTIONS_HEAVY "collections-heavy" Look Nothing "give the Java virtual machine more memory: the measured times include its garbage collections"
    EMPTY_OPERATION "empty-operation" Note Nothing ""
    COMMA_DECIMALS "comma-decimals" Note Nothing "start YCSB with -Duser.language=en, so that it prints decimal points"
    RESULT_ELSEWHERE "result-elsewhere" Decides Incomplete "also send the file that measurement.output_file names, which contains the result"
    BACK_END_UNKNOWN "back-end-untold" Note Nothing "also send a file with the command line of go-ycsb, which names the database"
    TOTAL_COUNTS_PARTS "total-counts-parts" Note Nothing "compare the field throughput_ops_per_s of this result with YCSB's throughput, not the rate of the row TOTAL"
    MEANS_TRUNCATED "means-truncated" Note Nothing "compare percentiles instead of means, or set measurementtype=raw to get exact means"
    WARM_UP_EXCLUDED "warm-up-excluded" Note Nothing ""
    TIME_LIMIT_IGNORED "time-limit-ignored" Look Nothing "request only as many operations as go-ycsb can complete in the wanted time"
    ERRORS_SILENT "errors-silent" Note Nothing "repeat the run with silence=false, so that go-ycsb prints why operations fail"
    SERVICE_TIMES_ALONE "service-times-alone" Note Nothing "use YCSB instead of go-ycsb, with a target and measurement.interval=both, to measure response times"
    HDR_UNREADABLE "hdr-unreadable" Look Nothing "send the unmodified .hdr file; drivetest merges only the parts of the file that it can read"
    HDR_NOT_COMPARED "hdr-not-compared" Look Nothing "send the unmodified .hdr file; the finding hdr-unreadable names the parts that drivetest cannot read"
    HDR_DIFFERS "hdr-differs" Look Nothing "send the .hdr files of this run: YCSB overwrites the .hdr files of the run before"
    HDR_UNMATCHED "hdr-unmatched" Look Nothing "send each run as a log of its own, together with the .hdr files of this run only"
    HDR_OF_SEVERAL "hdr-of-several-clients" Note Nothing ""
    HDR_CUT_TO_SPAN "hdr-cut-to-span" Note Nothing ""
    RAW_DIFFERS "raw-differs" Look Nothing "send the whole output of the program: YCSB prints the single operations before their summary"
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
