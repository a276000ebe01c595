//! How the commands that lab scripts read give their answer: one line of JSON, or a sentence when there is none.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Exit status when nothing can be told.
const EXIT_UNANSWERED: u8 = 3;

/// Prints an answer as one line of JSON and returns `status`, or what an answer that nobody can read deserves.
pub fn tell(answer: &impl serde::Serialize, status: ExitCode) -> ExitCode {
    match print(answer) {
        Ok(()) => status,
        Err(error) => cannot(&format_args!("standard output: cannot write the answer: {error}")),
    }
}

fn print(answer: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(answer)?;
    line.push('\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

/// Says why there is no answer.
pub fn cannot(sentence: &impl Display) -> ExitCode {
    // With standard error gone too, the exit status is all that is left to tell.
    let _unsaid = writeln!(io::stderr(), "drivetest: {sentence}");
    ExitCode::from(EXIT_UNANSWERED)
}
