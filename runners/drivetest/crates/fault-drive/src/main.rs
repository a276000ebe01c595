//! The fault drive as a program: reads commands from standard input and prints one JSON line for each.
//!
//! The drive is unmounted at the end of standard input.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use drivetest_fault_drive::command::execute;
use drivetest_fault_drive::{DriveOptions, FaultDrive};
use serde_json::{Value, json};

/// Mount a simulated drive, and inject faults as commanded on standard input
#[derive(Parser)]
struct Args {
    /// An empty directory; the drive is the file 'drive' in it
    mount_point: PathBuf,
    /// Size of the drive
    #[arg(long, value_name = "N", default_value_t = 256)]
    size_mib: u64,
    /// Select which requests are delayed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let options = DriveOptions {
        size_bytes: args.size_mib << 20,
        seed: args.seed,
    };
    let result = FaultDrive::mount(&args.mount_point, options)
        .map_err(|error| error.to_string())
        .and_then(|drive| serve(&drive).map_err(|error| format!("standard output: {error}")));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("fault-drive: {text}");
            ExitCode::FAILURE
        }
    }
}

fn serve(drive: &FaultDrive) -> io::Result<()> {
    print(&json!({"drive": drive.path()}))?;
    for line in io::stdin().lock().lines() {
        let response = execute(drive, &line?).unwrap_or_else(|error| json!({"error": error.to_string()}));
        print(&response)?;
    }
    print(&json!(drive.ground_truth()))
}

fn print(value: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}
