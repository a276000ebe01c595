//! JSON of `keys`, `latency` and `check`, compared with the texts and with `read --json`.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{drivetest, logs, text};

fn document(output: &Output) -> Value {
    let printed = text(&output.stdout);
    assert_eq!(printed.lines().count(), 1, "{printed}");
    serde_json::from_str(&printed).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

#[test]
fn the_json_of_keys_has_every_key_of_the_text() {
    let document = document(&drivetest(&["keys", "--json"]));
    assert_eq!(document["schema"], "drivecert.keys/1");
    let text = text(&drivetest(&["keys"]).stdout);
    let default = |key: &Value| match key["default"].as_str() {
        Some(default) => format!("default {default}"),
        None => "mandatory".to_owned(),
    };
    let paragraph = |key: &Value| {
        let loads: Vec<&str> = list(&key["loads"]).iter().filter_map(Value::as_str).collect();
        let [name, values, description] =
            ["name", "values", "description"].map(|field| key[field].as_str().unwrap());
        let (default, loads) = (default(key), loads.join(", "));
        format!("{name}: {values}; {default} ({loads})\n    {description}\n")
    };
    let expected: String = list(&document["keys"]).iter().map(paragraph).collect();
    assert_eq!(text, expected);
}

#[test]
fn the_json_of_keys_is_of_the_requested_ones() {
    let document = document(&drivetest(&["keys", "max-lag", "--json"]));
    let key = &list(&document["keys"])[0];
    assert_eq!(list(&document["keys"]).len(), 1);
    assert_eq!(key["name"], "max-lag-sec");
    assert_eq!(
        (&key["default"], &key["loads"]),
        (&json!("10"), &json!(["storage", "index"]))
    );
    let unknown = drivetest(&["keys", "no-such-key", "--json"]);
    assert_eq!(
        (unknown.status.code(), text(&unknown.stdout).as_str()),
        (Some(3), "")
    );
}

fn all_logs() -> Vec<PathBuf> {
    let versions = std::fs::read_dir(logs())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = versions
        .filter(|path| path.is_dir())
        .flat_map(|version| std::fs::read_dir(version).unwrap());
    let logs = files.map(|entry| entry.unwrap().path());
    logs.filter(|path| path.extension().is_some_and(|ending| ending == "log"))
        .collect()
}

/// Returns the cells of the rows of all tables: slices, averages and maxima. Those of 1.x to 4.0 end with rates in
/// brackets, of which the first is that of the requests.
fn printed_rows(text: &str) -> Vec<(Vec<String>, Option<String>)> {
    let (mut rows, mut is_table) = (Vec::new(), false);
    for line in text.lines() {
        let begins = |word: &str| line.trim_start().starts_with(word);
        if line.starts_with("-----") {
            is_table = !is_table;
        } else if line.starts_with("could not find ") {
            is_table = false;
        } else if is_table || begins("avg ") || begins("max ") {
            let (cells, rates) = line.split_once('[').unwrap_or((line, ""));
            let rate = rates.split_once(',').map(|(rate, _)| rate.to_owned());
            rows.push((cells.split_whitespace().map(str::to_owned).collect(), rate));
        }
    }
    rows
}

/// Returns the same rows from the document of a run.
fn rows_of(run: &Value) -> Vec<(Vec<String>, Option<String>)> {
    let is_old = run["columns"][0]["name"] == "trans";
    let thresholds_count = list(&run["thresholds"]).len();
    let row = |name: String, columns: &Value, shows_rate: bool| {
        let mut cells = vec![name];
        for column in list(columns) {
            let figures = match column.is_null() {
                true => vec!["-".to_owned(); thresholds_count + 1],
                false => {
                    let figures = list(&column["over_pct"]).iter().chain([&column["per_s"]]);
                    figures
                        .map(|figure| figure.as_str().unwrap().to_owned())
                        .collect()
                }
            };
            cells.extend(figures.into_iter().take(thresholds_count + usize::from(!is_old)));
        }
        let rate = columns[0]["per_s"].as_str().filter(|_| is_old && shows_rate);
        (cells, rate.map(str::to_owned))
    };
    let slices = list(&run["slices"]).iter();
    // The scripts before 5.0 omit slices without figures.
    let shown = slices.filter(|slice| !(is_old && slice["columns"][0].is_null()));
    let mut rows: Vec<_> = shown
        .map(|slice| row(slice["number"].to_string(), &slice["columns"], true))
        .collect();
    if run["missing"].is_null() {
        rows.push(row("avg".to_owned(), &run["average"], false));
        rows.push(row("max".to_owned(), &run["maximum"], false));
    }
    rows
}

#[test]
fn the_json_of_a_table_has_its_figures() {
    let mut rows_count = 0;
    for log in all_logs() {
        let path = log.to_str().unwrap();
        let args = ["latency", path, "-t", "10", "-n", "17", "-x"];
        let (plain, json) = (drivetest(&args), drivetest(&[&args[..], &["--json"]].concat()));
        let document = document(&json);
        let runs = list(&document["runs"]);
        let rows: Vec<_> = runs.iter().flat_map(rows_of).collect();
        let printed = text(&plain.stdout);
        assert_eq!(printed_rows(&printed), rows, "{path}");
        rows_count += rows.len();
        let without = |code: &str| runs.iter().filter(|run| run["missing"] == code).count();
        assert_eq!(
            without("slices"),
            printed.matches("\ncould not find ").count(),
            "{path}"
        );
        assert_eq!(plain.status.code(), json.status.code(), "{path}");
        assert_eq!(plain.stderr, json.stderr, "{path}");
    }
    assert!(rows_count > 500, "{rows_count}");
}

#[test]
fn the_json_of_a_log_names_unit_thresholds_histograms_and_slices() {
    let args = ["latency", "6.6/four-us.log", "-t", "10", "-n", "3", "--json"];
    let document = document(&drivetest(&args));
    assert_eq!(
        (&document["schema"], &document["log"]),
        (&json!("drivecert.latency/1"), &json!("6.6/four-us.log"))
    );
    let run = &document["runs"][0];
    assert_eq!(
        (&run["unit"], &run["thresholds"]),
        (&json!("us"), &json!([1, 2, 4]))
    );
    assert_eq!(
        (&run["slice_length_s"], &run["missing"]),
        (&json!(10), &Value::Null)
    );
    assert_eq!(run["columns"], json!([{"name": "reads", "histogram": 0}]));
    let slice = &run["slices"][1];
    assert_eq!(
        [&slice["number"], &slice["start_s"], &slice["end_s"]],
        [2, 10, 20]
    );
}

#[test]
fn the_json_of_a_log_without_a_table_says_what_is_missing() {
    let missing = |args: &[&str]| {
        let output = drivetest(&[&["latency", "--json", "-t", "10"], args].concat());
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        document(&output)
    };
    assert_eq!(missing(&["6.6/lag-service.log"])["runs"][0]["missing"], "slices");
    assert_eq!(
        missing(&["4.0/single-us.log", "-w"])["runs"][0]["missing"],
        "writes"
    );
    let unreadable = missing(&["6.6/no-header.log"]);
    assert_eq!(
        (&unreadable["error"]["id"], &unreadable["runs"]),
        (&json!("header-missing"), &json!([]))
    );
    let of_ycsb = missing(&["../ycsb/ycsb-0.18.0-SNAPSHOT/status-merged.log"]);
    assert_eq!(of_ycsb["error"]["got"], "a YCSB output");
}

const PROFILE: [&str; 2] = ["--profile", "operational-database"];

#[test]
fn the_json_of_a_check_has_the_verdicts_of_read_and_the_status_of_each_log() {
    let cases = [
        ("6.6/slow-disk-ms.log", 1),
        ("6.6/four-us.log", 2),
        ("6.6/two-runs-appended.log", 2),
    ];
    for (case, status) in cases {
        let options = [case, "--json", "--slice-sec", "10", PROFILE[0], PROFILE[1]];
        let checked = drivetest(&[&["check"], &options[..]].concat());
        let (check, read) = (
            document(&checked),
            document(&drivetest(&[&["read"], &options[..]].concat())),
        );
        assert_eq!(check["schema"], "drivecert.check/1");
        assert_eq!(
            (&check["log"], &check["exit_status"]),
            (&json!(case), &json!(status))
        );
        assert_eq!(checked.status.code(), Some(status));
        assert_eq!(check["profile"], check["runs"][0]["verdict"]["profile"]);
        assert_eq!(
            (&check["is_default_profile"], &check["error"]),
            (&json!(false), &Value::Null)
        );
        assert_eq!(check["findings"], read["findings"]);
        assert_eq!(list(&check["runs"]).len(), list(&read["runs"]).len());
        for (of_check, of_read) in list(&check["runs"]).iter().zip(list(&read["runs"])) {
            for field in [
                "ordinal",
                "member",
                "first_line",
                "last_line",
                "verdict",
                "findings",
            ] {
                assert_eq!(of_check[field], of_read[field], "{case}: {field}");
            }
        }
    }
}

#[test]
fn the_json_of_a_check_has_a_line_for_each_log_also_of_ycsb_and_of_an_error() {
    let of_ycsb = "../ycsb/ycsb-0.18.0-SNAPSHOT/status-merged.log";
    let logs = ["6.6/no-header.log", of_ycsb];
    let output = drivetest(&[&["check", "--json"], &logs[..], &PROFILE[..]].concat());
    assert_eq!(output.status.code(), Some(3));
    let printed = text(&output.stdout);
    let documents: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [unreadable, valid] = &documents[..] else {
        panic!("{printed}")
    };
    assert_eq!(
        (&unreadable["error"]["id"], &unreadable["exit_status"]),
        (&json!("header-missing"), &json!(3))
    );
    assert_eq!((&unreadable["runs"], &valid["runs"]), (&json!([]), &json!([])));
    assert_eq!(
        (&valid["error"], &valid["exit_status"]),
        (&Value::Null, &json!(0))
    );
    assert_eq!(
        valid["ycsb_runs"][0]["validity"],
        json!({"outcome": "valid", "reasons": []})
    );
}

#[test]
fn the_json_of_a_check_without_a_profile_names_the_default() {
    let check = document(&drivetest(&["check", "6.6/four-us.log", "--json"]));
    assert_eq!(
        (&check["profile"]["name"], &check["is_default_profile"]),
        (&json!("operational-database"), &json!(true))
    );
    assert_eq!(
        (&check["runs"][0]["verdict"]["profile"], &check["exit_status"]),
        (&check["profile"], &json!(2))
    );
}
