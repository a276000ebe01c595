//! Background runs through the real binary and real processes.

pub mod lab;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use self::lab::{Lab, answer, drivetest, kill, kill_group, wait_for};

#[test]
fn another_process_sees_the_status_of_a_run() {
    let lab = Lab::new();
    lab.run_dir("a");
    let started = lab.start("a", 1);
    let status = lab.status("a");
    assert_eq!((started.code, started.state()), (Some(0), "running"));
    assert_eq!(started.record, status.record);
    assert_eq!(status.record["schema"], "drivecert.detached/1");
    assert_eq!(status.record["generation"], 1);
    assert!(status.record["end_cause"].is_null());
}

#[test]
fn a_directory_without_a_start_is_absent() {
    let lab = Lab::new();
    lab.run_dir("a");
    assert_eq!(
        (lab.status("a").code, lab.status("a").state()),
        (Some(0), "absent")
    );
    assert_eq!(
        (lab.status("nowhere").code, lab.status("nowhere").state()),
        (Some(0), "absent")
    );
}

#[test]
fn starting_in_a_missing_directory_cannot_be_done() {
    let lab = Lab::new();
    let started = lab.start("nowhere", 1);
    assert_eq!(started.code, Some(3));
    assert!(
        started.stderr.contains("nowhere: cannot find"),
        "{}",
        started.stderr
    );
}

#[test]
fn a_start_without_a_generation_is_a_usage_error() {
    let output = drivetest()
        .args([
            "run",
            "start",
            "--run-dir",
            "a",
            "--drive-lock",
            "b",
            "--",
            "keys",
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(64));
}

#[test]
fn both_names_of_a_command_print_the_same_record() {
    let lab = Lab::new();
    lab.run_dir("a");
    let started = lab.start("a", 1);
    // The words after `run`: the earlier name.
    let again = answer(drivetest().args(&lab.starting("a", 1)[1..]).output().unwrap());
    assert_eq!((again.code, &again.record), (Some(0), &started.record));
    assert_eq!(lab.existing(&["status"], "a").record, lab.status("a").record);
    let refused = lab.remove(&["run", "remove"], "a", 1);
    assert_eq!(
        (refused.code, &refused.record["removed"]),
        (Some(2), &false.into())
    );
    assert_eq!(lab.remove(&["remove"], "a", 1).record, refused.record);
    assert_eq!(lab.existing(&["stop"], "a").code, Some(0));
    let ended = lab.ended("a");
    assert_eq!(lab.existing(&["stop"], "a").record, ended.record);
    // The monitor writes the end and then exits; until then the directory is in use.
    wait_for(|| lab.forks("a").is_empty().then_some(()));
    let removed = lab.remove(&["run", "remove"], "a", 1);
    assert_eq!(
        (removed.code, &removed.record["removed"]),
        (Some(0), &true.into())
    );
    assert_eq!(lab.remove(&["remove"], "a", 1).record, removed.record);
}

#[test]
fn the_earlier_names_are_hidden() {
    let shown = |words: &[&str]| {
        let output = drivetest().args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let is_listed = |help: &str, name: &str| help.lines().any(|line| line.starts_with(&format!("  {name} ")));
    let (program, group) = (shown(&["--help"]), shown(&["run", "--help"]));
    assert!(is_listed(&program, "run"), "{program}");
    for name in ["start", "status", "stop", "remove"] {
        assert!(!is_listed(&program, name), "{program}");
        assert!(is_listed(&group, name), "{group}");
    }
}

#[test]
fn a_second_start_returns_the_same_process() {
    let lab = Lab::new();
    lab.run_dir("a");
    let pid = lab.start("a", 1).pid();
    assert_eq!(lab.start("a", 1).pid(), pid);
    assert_eq!(
        wait_for(|| Some(lab.loads("a")).filter(|loads| !loads.is_empty())),
        [pid]
    );
}

#[test]
fn twenty_starts_at_once_make_one_process() {
    let lab = Lab::new();
    lab.run_dir("a");
    let answers: Vec<_> = thread::scope(|scope| {
        let starts: Vec<_> = (0..20).map(|_| scope.spawn(|| lab.start("a", 1))).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    let pid = lab.status("a").pid();
    assert!(
        answers
            .iter()
            .all(|answer| answer.code == Some(0) && answer.pid() == pid)
    );
    assert_eq!(
        wait_for(|| Some(lab.loads("a")).filter(|loads| !loads.is_empty())),
        [pid]
    );
}

#[test]
fn starts_of_two_runs_at_once_give_the_drive_to_one() {
    let lab = Lab::new();
    lab.run_dir("a");
    lab.run_dir("b");
    let (a, b) = thread::scope(|scope| {
        let a = scope.spawn(|| lab.start("a", 1));
        (lab.start("b", 2), a.join().unwrap())
    });
    let mut codes = [a.code, b.code];
    codes.sort();
    assert_eq!(codes, [Some(0), Some(2)]);
    assert_eq!(lab.loads("a").len() + lab.loads("b").len(), 1);
}

#[test]
fn the_exit_status_is_recorded() {
    let lab = Lab::new();
    lab.run_dir("a");
    lab.start("a", 1);
    lab.feed("a", "no record");
    let ended = lab.ended("a").record;
    assert_eq!(
        (&ended["exit_status"], &ended["end_cause"]),
        (&3.into(), &"exited".into())
    );
}

#[test]
fn an_ended_run_is_not_started_again() {
    let lab = Lab::new();
    lab.run_dir("a");
    let pid = lab.start("a", 1).pid();
    lab.feed("a", "no record");
    lab.ended("a");
    let again = lab.start("a", 1);
    assert_eq!((again.code, again.state(), again.pid()), (Some(0), "ended", pid));
    assert!(lab.loads("a").is_empty());
}

#[test]
fn the_load_prints_into_the_run_directory() {
    let lab = Lab::new();
    let run_dir = lab.run_dir("a");
    lab.start("a", 1);
    lab.feed("a", "no record");
    let ended = lab.ended("a");
    assert!(
        fs::read_to_string(run_dir.join("stderr"))
            .unwrap()
            .contains("no record")
    );
    assert_eq!(ended.record["log_bytes"], 0);
    fs::write(run_dir.join("log"), "12345").unwrap();
    fs::write(run_dir.join("side.jsonl"), "123").unwrap();
    let status = lab.status("a").record;
    assert_eq!(
        (&status["log_bytes"], &status["side_file_bytes"]),
        (&5.into(), &3.into())
    );
}

#[test]
fn a_load_without_a_log_file_prints_the_log() {
    let lab = Lab::new();
    let run_dir = lab.run_dir("a");
    lab.start("a", 1);
    let other_boot = r#"{"pid": 1, "start_ticks": 1, "generation": 7, "boot_id": ""}"#;
    lab.feed("a", other_boot);
    let ended = lab.ended("a");
    assert!(
        fs::read_to_string(run_dir.join("log"))
            .unwrap()
            .contains(r#""generation":7"#)
    );
    assert_eq!(ended.record["exit_status"], 0);
    assert!(ended.record["log_bytes"].as_u64() > Some(0));
}

#[test]
fn stop_ends_the_process_and_the_status_shows_how() {
    let lab = Lab::new();
    lab.run_dir("a");
    let pid = lab.start("a", 1).pid();
    assert_eq!(lab.stop("a").code, Some(0));
    let ended = lab.ended("a");
    assert_eq!((ended.pid(), ended.reason()), (pid, "ended by signal 15"));
    assert_eq!(ended.record["end_cause"], "signal");
    assert!(ended.record["exit_status"].is_null());
    assert_eq!(lab.stop("a").state(), "ended");
}

#[test]
fn stop_reaches_a_load_whose_starter_ignored_the_signal() {
    let lab = Lab::new();
    lab.run_dir("a");
    let ignoring = [
        &[
            "-c".to_owned(),
            "trap '' TERM HUP; exec \"$0\" \"$@\"".to_owned(),
            lab::binary().display().to_string(),
        ],
        &lab.starting("a", 1)[..],
    ]
    .concat();
    assert_eq!(
        answer(Command::new("sh").args(ignoring).output().unwrap()).state(),
        "running"
    );
    lab.stop("a");
    assert_eq!(lab.ended("a").reason(), "ended by signal 15");
}

#[test]
fn a_run_stopped_before_its_start_never_starts() {
    let lab = Lab::new();
    lab.run_dir("a");
    assert_eq!(lab.stop("a").state(), "ended");
    let late = lab.start("a", 1);
    assert_eq!(
        (late.code, late.state(), late.reason()),
        (Some(0), "ended", "stopped before it was started")
    );
    assert_eq!(late.record["end_cause"], "stopped_before_start");
    assert!(lab.loads("a").is_empty());
    assert_eq!(lab.stop("nowhere").state(), "absent");
}

#[test]
fn an_older_generation_is_refused() {
    let lab = Lab::new();
    lab.run_dir("a");
    lab.run_dir("b");
    lab.start("b", 2);
    lab.stop("b");
    lab.ended("b");
    let late = lab.start("a", 1);
    assert_eq!((late.code, late.state()), (Some(2), "absent"));
    assert!(
        late.reason().contains("generation 1 is older than 2"),
        "{}",
        late.reason()
    );
    assert_eq!(lab.start("a", 3).state(), "running");
}

#[test]
fn another_run_is_refused_while_the_drive_is_in_use() {
    let lab = Lab::new();
    let a = lab.run_dir("a");
    lab.run_dir("b");
    lab.start("a", 1);
    let refused = lab.start("b", 2);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .reason()
            .contains(&format!("{} runs as generation 1", a.display())),
        "{}",
        refused.reason()
    );
    lab.stop("a");
    lab.ended("a");
    assert_eq!(lab.start("b", 2).state(), "running");
}

#[test]
fn a_drive_stays_locked_while_only_the_load_is_alive() {
    let lab = Lab::new();
    lab.run_dir("a");
    lab.run_dir("b");
    let pid = lab.start("a", 1).pid();
    let [monitor] = lab.forks("a")[..] else {
        panic!("{:?}", lab.forks("a"))
    };
    kill(monitor);
    assert_eq!((lab.status("a").state(), lab.status("a").pid()), ("running", pid));
    assert_eq!(lab.start("b", 2).code, Some(2));
    kill(pid);
    let ended = lab.ended("a");
    assert!(
        ended.record["exit_status"].is_null() && ended.record["end_cause"] == "unobserved",
        "{}",
        ended.record
    );
    assert_eq!(lab.start("b", 2).state(), "running");
}

#[test]
fn the_end_of_a_run_is_recorded_although_its_disk_is_full() {
    let Some(lab) = Lab::on_small_disk() else {
        return;
    };
    lab.run_dir("a");
    lab.start("a", 1);
    lab.fill_disk();
    lab.feed("a", "no record");
    let ended = lab.ended("a");
    assert_eq!(ended.record["end_cause"], "exited", "{}", ended.record);
}

#[test]
fn a_run_starts_only_if_there_is_space_for_the_record_of_its_end() {
    let Some(lab) = Lab::on_small_disk() else {
        return;
    };
    lab.run_dir("a");
    lab.run_dir("b");
    lab.start("b", 1); // its generation is in the lock of the drive, which therefore needs no more space
    lab.feed("b", "no record");
    lab.ended("b");
    lab.fill_disk();
    let refused = lab.start("a", 2);
    assert!(
        refused.stderr.contains("exit.tmp: cannot reserve"),
        "{}",
        refused.stderr
    );
    assert_eq!(lab.status("a").state(), "absent");
}

#[test]
fn a_drive_is_free_when_its_program_has_ended_even_if_recording_the_end_is_slow() {
    let lab = Lab::new();
    lab.run_dir("a");
    lab.run_dir("b");
    lab.start("a", 1);
    // Simulates a stalled disk: opening a pipe for writing waits for a reader.
    fs::remove_file(lab.path("a/exit.tmp")).unwrap();
    lab.pipe("a/exit.tmp");
    lab.feed("a", "no record");
    wait_for(|| lab.loads("a").is_empty().then_some(()));
    assert_eq!(lab.start("b", 2).state(), "running");
    assert_eq!(lab.forks("a").len(), 1, "the monitor of the first run");
}

#[test]
fn a_reused_process_id_is_not_mistaken_for_the_run() {
    let lab = Lab::new();
    let run_dir = lab.run_dir("a");
    let mut stranger = Command::new("sleep").arg("60").spawn().unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let (pid, boot) = (stranger.id(), boot.trim());
    let record = format!(r#"{{"pid": {pid}, "start_ticks": 1, "generation": 1, "boot_id": "{boot}"}}"#);
    fs::write(run_dir.join("pid"), record).unwrap();
    assert_eq!(lab.status("a").state(), "ended");
    assert_eq!(lab.stop("a").state(), "ended");
    assert!(stranger.try_wait().unwrap().is_none());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn a_run_survives_the_death_of_its_launchers_process_group() {
    let lab = Lab::new();
    lab.run_dir("a");
    let words = lab.starting("a", 1);
    let script = "\"$0\" \"$@\"; sleep 60";
    let shell = Command::new("sh")
        .args(["-c", script])
        .arg(lab::binary())
        .args(words)
        .process_group(0)
        .stdout(Stdio::null())
        .spawn();
    let mut shell = shell.unwrap();
    let pid = wait_for(|| Some(lab.status("a")).filter(|answer| answer.state() == "running")).pid();
    kill_group(shell.id().into());
    shell.wait().unwrap();
    assert_eq!(lab.start("a", 1).pid(), pid);
    assert_eq!(
        wait_for(|| Some(lab.loads("a")).filter(|loads| !loads.is_empty())),
        [pid]
    );
}

#[test]
fn the_load_has_its_own_session_and_no_descriptor_of_the_caller() {
    let lab = Lab::new();
    let run_dir = lab.run_dir("a");
    let mine = run_dir.join("callers-file");
    let words = [
        vec![
            "-c".to_owned(),
            format!("exec 9>{}; exec \"$0\" \"$@\"", mine.display()),
            lab::binary().display().to_string(),
        ],
        lab.starting("a", 1),
    ]
    .concat();
    let pid = answer(Command::new("sh").args(words).output().unwrap()).pid();
    let mut expected = [
        "/dev/null".into(),
        run_dir.join("log"),
        run_dir.join("stderr"),
        run_dir.join("lock"),
        lab.path("drive.lock"),
    ];
    expected.sort();
    // At its start, the load opens its libraries for a moment. Inherited descriptors would stay open.
    wait_for(|| (open_files(pid) == expected).then_some(()));
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    assert_eq!(
        stat.rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .nth(3)
            .unwrap(),
        pid.to_string()
    );
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), run_dir);
}

fn open_files(pid: i64) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    // A descriptor may have been closed after the listing.
    let links = entries.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let mut files: Vec<_> = links.collect();
    files.sort();
    files
}

/// Kills launchers at moments spread evenly over the duration of a start, so that every moment is hit many times.
#[test]
fn a_launcher_killed_at_any_moment_leaves_at_most_one_process_and_nothing_to_repair() {
    const TRIES: u32 = 200;
    /// Kills between two measurements of the duration of a start, which depends on the load of the machine.
    const ROUND: u32 = 20;
    let lab = Lab::new();
    let mut full = Duration::ZERO;
    let mut survivors = 0;
    for attempt in 0..TRIES {
        let (round, ordinal) = (attempt / ROUND, attempt % ROUND);
        let generation = 2 * u64::from(attempt) + 1;
        if ordinal == 0 {
            full = duration_of_a_start(&lab, generation);
        }
        let generation = generation + 1;
        let name = format!("run-{attempt}");
        lab.run_dir(&name);
        let moment = ordinal * (TRIES / ROUND) + round + 1;
        kill_after(full * moment / (TRIES * 3 / 4), &lab.starting(&name, generation));
        survivors += u32::from(lab.path(&name).join("pid").exists());
        assert_exactly_one(&lab, &name, generation);
        lab.stop(&name);
        lab.ended(&name);
    }
    println!("{survivors} of {TRIES} killed launchers had already left a process");
    assert!(
        (1..TRIES).contains(&survivors),
        "the kills missed the start: {survivors} of {TRIES}"
    );
}

fn duration_of_a_start(lab: &Lab, generation: u64) -> Duration {
    let name = format!("measured-{generation}");
    lab.run_dir(&name);
    let begun = Instant::now();
    assert_eq!(lab.start(&name, generation).code, Some(0));
    let full = begun.elapsed();
    lab.stop(&name);
    lab.ended(&name);
    full
}

fn kill_after(delay: Duration, words: &[String]) {
    let mut launcher = drivetest().args(words).stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(delay);
    launcher.kill().unwrap();
    launcher.wait().unwrap();
}

fn assert_exactly_one(lab: &Lab, name: &str, generation: u64) {
    let again = lab.start(name, generation);
    assert_eq!(
        (again.code, again.state()),
        (Some(0), "running"),
        "{}",
        again.stderr
    );
    assert_eq!(
        wait_for(|| Some(lab.loads(name)).filter(|loads| !loads.is_empty())),
        [again.pid()],
        "{name}"
    );
    assert_eq!(
        wait_for(|| Some(lab.forks(name)).filter(|forks| forks.len() < 2)).len(),
        1,
        "{name}: its monitor"
    );
    assert_eq!(lab.start(name, generation).pid(), again.pid());
    assert!(Path::new(&format!("/proc/{}", again.pid())).exists());
}
