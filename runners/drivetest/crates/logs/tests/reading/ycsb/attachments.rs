//! Merged and separate streams, command lines and files from all sources.

use drivetest_logs::reader::Role;
use drivetest_logs::ycsb::run::{Outcome, Run};

use super::handwritten::{CLEAN, CONFIGURATION};
use super::support::{case, ids, read};

const STATUS: &str = "2026-11-21 02:56:31:567 1 sec: 100 operations; 100 current ops/sec; \n";

fn stderr() -> String {
    format!(
        "Command line: {CONFIGURATION}\nYCSB Client 0.17.0\n\nLoading workload...\nStarting test.\n{STATUS}"
    )
}

fn reported(run: &Run) -> (Outcome, Option<u64>, Option<String>, usize) {
    (
        run.validity.outcome,
        run.threads_count,
        run.tool_version.clone(),
        run.intervals.len(),
    )
}

#[test]
fn merged_separate_and_consecutive_streams_are_one_run() {
    let expected = (Outcome::Valid, Some(2), Some("0.17.0".to_owned()), 1);
    let (apart, stderr) = ([(Role::Stderr, "err", stderr().into_bytes())], stderr());
    let logs = [
        read(CLEAN.as_bytes(), &apart),
        read(format!("{stderr}{CLEAN}").as_bytes(), &[]),
        read(format!("{CLEAN}{stderr}").as_bytes(), &[]),
        read(
            b"",
            &[
                (Role::Stderr, "err", stderr.clone().into_bytes()),
                (Role::Export, "out", CLEAN.into()),
            ],
        ),
    ];
    for reading in logs {
        assert_eq!(reading.ycsb_runs.len(), 1);
        assert_eq!(reported(&reading.ycsb_runs[0]), expected);
    }
}

/// Up to 0.7 the banner and the command line are on the standard output.
#[test]
fn streams_of_an_old_release_after_each_other_are_one_run() {
    let output = format!("YCSB Client 0.1\nCommand line: {CONFIGURATION}\n{CLEAN}");
    let error = "Loading workload...\nStarting test.\n 1 sec: 100 operations; 100 current ops/sec; \n";
    for log in [format!("{error}{output}"), format!("{output}{error}")] {
        let runs = read(log.as_bytes(), &[]).ycsb_runs;
        assert_eq!(runs.len(), 1);
        assert_eq!(
            (runs[0].validity.outcome, runs[0].first_line),
            (Outcome::Valid, 1)
        );
        assert!(ids(&runs[0].findings).contains(&"streams-joined"));
    }
    let other = format!("{}{output}", error.replace("100 operations", "99 operations"));
    assert_eq!(read(other.as_bytes(), &[]).ycsb_runs.len(), 2);
}

#[test]
fn rows_and_a_preamble_that_do_not_fit_are_two_runs() {
    let other = stderr().replace("100 operations", "99 operations");
    assert_eq!(read(format!("{CLEAN}{other}").as_bytes(), &[]).ycsb_runs.len(), 2);
}

#[test]
fn a_command_file_replaces_the_printed_command_line() {
    let script = format!(
        "#!/bin/sh\nulimit -n 9999\njava -cp 'lib/*' site.ycsb.Client {CONFIGURATION} > log 2> err\n# exit 0\n"
    );
    let reading = read(CLEAN.as_bytes(), &[(Role::Command, "cmd", script.into_bytes())]);
    let run = &reading.ycsb_runs[0];
    assert_eq!(
        (run.validity.outcome, run.threads_count),
        (Outcome::Valid, Some(2))
    );
}

#[test]
fn a_properties_file_sets_values_and_the_command_line_takes_precedence() {
    let line = "Command line: -t -P conf/mine.properties -p operationcount=100\n";
    let file = b"recordcount=7\nthreadcount=2\noperationcount=5\n".to_vec();
    let stderr = || (Role::Stderr, "err", line.as_bytes().to_vec());
    let with = read(
        CLEAN.as_bytes(),
        &[stderr(), (Role::Config, "run1/mine.properties", file.clone())],
    );
    let run = &with.ycsb_runs[0];
    assert_eq!(
        (run.threads_count, run.record_count, run.operation_count),
        (Some(2), Some(7), Some(100))
    );
    assert!(run.missing_files.is_empty());
    let without = read(
        CLEAN.as_bytes(),
        &[stderr(), (Role::Config, "run1/other.properties", file)],
    );
    let run = &without.ycsb_runs[0];
    assert_eq!(
        (run.threads_count, run.record_count),
        (None, None),
        "nothing is taken that is not there"
    );
    assert_eq!(run.validity.outcome, Outcome::Undecided);
}

#[test]
fn attachments_with_another_number_of_runs_are_reported_and_not_used() {
    let reading = read(
        CLEAN.repeat(2).as_bytes(),
        &[(Role::Stderr, "err", stderr().into_bytes())],
    );
    assert!(ids(&reading.findings).contains(&"companion-unmatched"));
    assert!(reading.ycsb_runs.iter().all(|run| run.command_line.is_none()));
    let both = [(Role::Stderr, "err", stderr().repeat(2).into_bytes())];
    let reading = read(CLEAN.repeat(2).as_bytes(), &both);
    assert!(
        reading
            .ycsb_runs
            .iter()
            .all(|run| run.validity.outcome == Outcome::Valid)
    );
}

#[test]
fn a_concatenated_sweep_reads_as_its_runs_do() {
    let cases =
        [1, 4, 16, 64].map(|threads| case(&format!("ycsb-0.18.0-SNAPSHOT/sweep/workloada-t{threads:03}")));
    let join = |ending: &str| {
        cases
            .iter()
            .flat_map(|case| case.bytes(ending))
            .collect::<Vec<u8>>()
    };
    let companions = [
        (Role::Stderr, "err", join("stderr")),
        (Role::Command, "cmd", join("cmd")),
    ];
    let sweep = read(&join("log"), &companions).ycsb_runs;
    assert_eq!(sweep.len(), 4);
    for (run, case) in sweep.iter().zip(&cases) {
        let alone = &case.read().ycsb_runs[0];
        assert_eq!(
            (&run.operations, reported(run)),
            (&alone.operations, reported(alone)),
            "{}",
            case.name
        );
    }
}

#[test]
fn a_finding_in_a_companion_names_it() {
    let errors = format!("{}Error inserting\n", stderr());
    let reading = read(
        CLEAN.as_bytes(),
        &[(Role::Stderr, "run.stderr", errors.into_bytes())],
    );
    let findings = &reading.ycsb_runs[0].findings;
    let finding = findings
        .iter()
        .find(|finding| finding.id == "binding-errors")
        .unwrap();
    assert_eq!(finding.line, None);
    assert!(
        finding.sentence.starts_with("run.stderr, line 7: "),
        "{}",
        finding.sentence
    );
}
