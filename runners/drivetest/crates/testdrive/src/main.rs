//! The drive as a program: commands on standard input, a JSON line for each on standard output, gone at its end.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use drivetest_testdrive::command::carry_out;
use drivetest_testdrive::{Shape, TestDrive};
use serde_json::{Value, json};

/// Mount a drive of known truth, and do to its requests what standard input says.
#[derive(Parser)]
struct Args {
    /// An empty directory; the drive is the file 'drive' in it
    mount_point: PathBuf,
    /// Size of the drive
    #[arg(long, value_name = "N", default_value_t = 256)]
    size_mib: u64,
    /// Choose the requests that delays befall anew
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let shape = Shape {
        size_bytes: args.size_mib << 20,
        seed: args.seed,
    };
    let told = TestDrive::mount(&args.mount_point, shape)
        .map_err(|error| error.to_string())
        .and_then(|drive| serve(&drive).map_err(|error| format!("standard output: {error}")));
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("testdrive: {text}");
            ExitCode::FAILURE
        }
    }
}

fn serve(drive: &TestDrive) -> io::Result<()> {
    tell(&json!({"drive": drive.path()}))?;
    for line in io::stdin().lock().lines() {
        let told = carry_out(drive, &line?).unwrap_or_else(|error| json!({"error": error.to_string()}));
        tell(&told)?;
    }
    tell(&json!(drive.truth()))
}

fn tell(told: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{told}")?;
    out.flush()
}
