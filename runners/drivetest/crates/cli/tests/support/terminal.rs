//! A pseudo-terminal and its screen.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part; a terminal that fails fails the test"
)]

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::{Command, Stdio};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::drive::skip;

/// As many rows as a log of a few seconds has.
const ROWS: u16 = 200;

/// Control-S stops the output of a terminal, Control-Q continues it.
const STOP: u8 = 0x13;
const CONTINUE: u8 = 0x11;

/// A terminal of 200 rows.
pub struct Terminal {
    pub columns: u16,
    /// Variables of the command. It also gets TERM=xterm, and no NO_COLOR.
    pub env: Vec<(&'static str, &'static str)>,
    pub stdout: Target,
}

/// Where the standard output of a command goes. Its standard error always goes to the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Terminal,
    Pipe,
}

/// The output of a command that ended.
pub struct Shown {
    columns: u16,
    /// Everything that was written to the terminal.
    pub bytes: Vec<u8>,
    /// Standard output, if it was a pipe.
    pub piped: String,
    pub status: Option<i32>,
}

impl Default for Terminal {
    fn default() -> Self {
        Self {
            columns: 200,
            env: Vec::new(),
            stdout: Target::Terminal,
        }
    }
}

impl Terminal {
    /// Runs a command to its end. None, with a message, if there are no pseudo-terminals here.
    pub fn run(&self, command: Command) -> Option<Shown> {
        self.run_stopped(command, None)
    }

    /// Like [`Terminal::run`]. The terminal shows nothing until `wait` returns.
    pub fn run_stopped(&self, mut command: Command, wait: Option<&dyn Fn()>) -> Option<Shown> {
        // Close on exec: a child of another test would keep the terminal open.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let Ok(master) = openpt(flags) else {
            skip("no pseudo-terminal here");
            return None;
        };
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        let size = Winsize {
            ws_row: ROWS,
            ws_col: self.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&slave, size).unwrap();
        command.env_remove("NO_COLOR").env("TERM", "xterm");
        command.envs(self.env.iter().copied()).stdin(Stdio::null());
        command.stdout(match self.stdout {
            Target::Terminal => Stdio::from(slave.try_clone().unwrap()),
            Target::Pipe => Stdio::piped(),
        });
        let mut keyboard = File::from(master.try_clone().unwrap());
        if wait.is_some() {
            keyboard.write_all(&[STOP]).unwrap();
        }
        let child = command.stderr(Stdio::from(slave)).spawn().unwrap();
        // Closes the last descriptors here, so that reading ends with the child.
        drop(command);
        let reader = thread::spawn(move || read_to_hangup(File::from(master)));
        if let Some(wait) = wait {
            wait();
            keyboard.write_all(&[CONTINUE]).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        Some(Shown {
            columns: self.columns,
            bytes: reader.join().unwrap(),
            piped: String::from_utf8(output.stdout).unwrap(),
            status: output.status.code(),
        })
    }
}

/// Reads until no process has the terminal open, which is an error of reading.
fn read_to_hangup(mut terminal: File) -> Vec<u8> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4_096]);
    while let Ok(length @ 1..) = terminal.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..length]);
    }
    bytes
}

impl Shown {
    /// Returns the screen at the end, as text.
    pub fn screen(&self) -> String {
        let [rows, columns] = [ROWS, self.columns].map(|length| NonZeroU16::new(length).unwrap());
        let mut parser = vt100::Parser::new(rows, columns, 0);
        parser.process(&self.bytes);
        parser.screen().contents()
    }
}
