//! `read --export`: tables with the content of the log, equal in every format, which never replace a file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use crate::support::{drivetest, read};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use tempfile::TempDir;

const TABLES: [&str; 4] = ["intervals", "interval-buckets", "slices", "slice-buckets"];

/// Returns a table as JSON lines.
type Table = Vec<BTreeMap<String, Value>>;

fn export(case: &str, format: &str, directory: &Path) -> i32 {
    let directory = directory.to_str().unwrap();
    let args = [
        "read",
        case,
        "--slice-sec",
        "10",
        "--export",
        directory,
        "--format",
        format,
    ];
    drivetest(&args).status.code().unwrap()
}

fn exported(case: &str, format: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(export(case, format, directory.path()), 0);
    directory
}

fn csv(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.split_terminator("\r\n");
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let value = |field: &str| match field {
        "" => Value::Null,
        field => serde_json::from_str(field).unwrap_or_else(|_| field.into()),
    };
    let row = |line: &str| {
        let fields = names.iter().zip(line.split(','));
        fields
            .map(|(name, field)| ((*name).to_owned(), value(field)))
            .collect()
    };
    lines.map(row).collect()
}

fn jsonl(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn parquet(path: &Path) -> Table {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let value = |field: &Field| match field {
        Field::Null => Value::Null,
        Field::Long(number) => (*number).into(),
        Field::Double(number) => (*number).into(),
        Field::Str(text) => text.clone().into(),
        other => panic!("{other}"),
    };
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    rows.map(|row| {
        row.get_column_iter()
            .map(|(name, field)| (name.clone(), value(field)))
            .collect()
    })
    .collect()
}

fn number(row: &BTreeMap<String, Value>, column: &str) -> u64 {
    row[column].as_u64().unwrap()
}

#[test]
fn every_format_has_the_same_rows() {
    for case in ["6.6/four-us.log", "6.6/hole.log", "6.6/two-runs-appended.log"] {
        let (csvs, jsons, parquets) = (
            exported(case, "csv"),
            exported(case, "json"),
            exported(case, "parquet"),
        );
        let name = Path::new(case).file_name().unwrap().to_str().unwrap();
        for table in TABLES {
            let of_csv = csv(&csvs.path().join(format!("{name}.{table}.csv")));
            assert!(!of_csv.is_empty());
            assert!(
                of_csv == jsonl(&jsons.path().join(format!("{name}.{table}.jsonl"))),
                "{case} {table}"
            );
            assert!(
                of_csv == parquet(&parquets.path().join(format!("{name}.{table}.parquet"))),
                "{case} {table}"
            );
        }
    }
}

const YCSB_TABLES: [&str; 4] = [
    "ycsb-operations",
    "ycsb-percentiles",
    "ycsb-intervals",
    "ycsb-interval-percentiles",
];

const YCSB_CASES: [&str; 3] = [
    "../ycsb/ycsb-0.18.0-SNAPSHOT/status-merged.log",
    "../ycsb/ycsb-0.5.0/basicdb-run-a.log",
    "../ycsb/go-ycsb-v1.0.1/badger-run-a-target.log",
];

/// Normalizes a value: the JSON parser may change the last bit of a double, and only JSON prints whole decimals with a point.
fn alike(table: Table) -> Vec<BTreeMap<String, String>> {
    let value = |value: Value| match value.as_f64() {
        Some(number) => format!("{number:.12e}"),
        None => value.as_str().unwrap_or_default().to_owned(),
    };
    let rows = table.into_iter();
    rows.map(|row| {
        row.into_iter()
            .map(|(name, field)| (name, value(field)))
            .collect()
    })
    .collect()
}

#[test]
fn every_format_has_the_same_rows_of_ycsb() {
    for case in YCSB_CASES {
        let [csvs, jsons, parquets] = ["csv", "json", "parquet"].map(|format| exported(case, format));
        let name = Path::new(case).file_name().unwrap().to_str().unwrap();
        for table in YCSB_TABLES {
            let path =
                |directory: &TempDir, ending: &str| directory.path().join(format!("{name}.{table}.{ending}"));
            let of_csv = csv(&path(&csvs, "csv"));
            assert!(!of_csv.is_empty() || table.contains("interval"), "{case} {table}");
            let of_csv = alike(of_csv);
            assert_eq!(of_csv, alike(jsonl(&path(&jsons, "jsonl"))), "{case} {table}");
            assert_eq!(
                of_csv,
                alike(parquet(&path(&parquets, "parquet"))),
                "{case} {table}"
            );
        }
    }
}

#[test]
fn the_tables_of_ycsb_hold_every_number_of_the_document() {
    for case in YCSB_CASES {
        let directory = exported(case, "json");
        let name = Path::new(case).file_name().unwrap().to_str().unwrap();
        let table = |table: &str| jsonl(&directory.path().join(format!("{name}.{table}.jsonl")));
        let (document, _) = read(case, &[]);
        let run = &document["ycsb_runs"][0];
        let operations = run["operations"].as_array().unwrap();
        let printed = |value: &Value| value.as_str().map(|text| text.parse::<f64>().unwrap());
        let maxima: Vec<_> = operations
            .iter()
            .map(|operation| printed(&operation["max_us"]))
            .collect();
        let rows = table("ycsb-operations");
        assert_eq!(
            rows.iter().map(|row| row["max_us"].as_f64()).collect::<Vec<_>>(),
            maxima,
            "{case}"
        );
        let pairs = |list: &[Value]| {
            list.iter()
                .map(|one| one["percentiles"].as_array().unwrap().len())
                .sum::<usize>()
        };
        assert_eq!(table("ycsb-percentiles").len(), pairs(operations), "{case}");
        let intervals = run["intervals"].as_array().unwrap();
        let of_intervals: usize = intervals
            .iter()
            .map(|one| pairs(one["operations"].as_array().unwrap()))
            .sum();
        assert_eq!(table("ycsb-interval-percentiles").len(), of_intervals, "{case}");
        let rows_count = |one: &Value| one["operations"].as_array().unwrap().len().max(1);
        assert_eq!(
            table("ycsb-intervals").len(),
            intervals.iter().map(rows_count).sum::<usize>(),
            "{case}"
        );
    }
}

#[test]
fn a_ycsb_log_creates_no_act_tables_and_overwrites_none() {
    let directory = exported(YCSB_CASES[0], "csv");
    let files = || fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files(), YCSB_TABLES.len());
    assert_eq!(export(YCSB_CASES[0], "csv", directory.path()), 64);
    assert_eq!(files(), YCSB_TABLES.len());
}

#[test]
fn the_intervals_add_up_to_the_runs_histograms() {
    let directory = exported("6.6/four-us.log", "csv");
    let mut sums = BTreeMap::<(u64, u64), u64>::new();
    for row in csv(&directory.path().join("four-us.log.interval-buckets.csv")) {
        *sums
            .entry((number(&row, "histogram"), number(&row, "bucket")))
            .or_default() += number(&row, "count");
    }
    let (document, _) = read("6.6/four-us.log", &[]);
    let mut expected = BTreeMap::new();
    for histogram in document["runs"][0]["histograms"].as_array().unwrap() {
        let counts = histogram["counts"].as_array().unwrap().iter().zip(0..);
        let used = counts.filter(|(count, _)| count.as_u64() > Some(0));
        expected.extend(used.map(|(count, bucket)| {
            (
                (histogram["ordinal"].as_u64().unwrap(), bucket),
                count.as_u64().unwrap(),
            )
        }));
    }
    assert_eq!(sums, expected);
}

#[test]
fn slices_are_those_of_the_document() {
    let directory = exported("6.6/four-us.log", "json");
    let ours: Vec<(u64, u64)> = jsonl(&directory.path().join("four-us.log.slices.jsonl"))
        .iter()
        .filter(|row| row["name"] == "reads")
        .map(|row| (number(row, "end_s"), number(row, "ops_count")))
        .collect();
    let (document, _) = read("6.6/four-us.log", &["--slice-sec", "10"]);
    let slices = document["runs"][0]["slices"].as_array().unwrap();
    let expected: Vec<(u64, u64)> = slices
        .iter()
        .map(|slice| {
            let reads = &slice["histograms"][0];
            (
                slice["end_s"].as_u64().unwrap(),
                reads["ops_count"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(ours, expected);
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let taken = directory.path().join("four-us.log.slices.csv");
    fs::write(&taken, "mine").unwrap();
    assert_eq!(export("6.6/four-us.log", "csv", directory.path()), 64);
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    assert_eq!(
        fs::read_dir(directory.path()).unwrap().count(),
        1,
        "nothing else stays"
    );
}

#[test]
fn an_unreadable_log_creates_no_tables() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(export("6.6/no-header.log", "parquet", directory.path()), 3);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}
