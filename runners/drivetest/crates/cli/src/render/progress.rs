//! Live progress on standard error. A thread of its own draws it, so that a terminal that does not read never delays a
//! run.

use std::env;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use drivetest_load::clock::Instant;
use drivetest_load::progress::{ProgressView, Snapshot};
use drivetest_logs::judge::profile::Limit;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::process::{getpgrp, setpriority_process};
use rustix::termios::tcgetpgrp;

use super::colours::{Colours, can_redraw};
use super::progress_text::ProgressText;

/// Period of drawing.
const DRAW_PERIOD: Duration = Duration::from_secs(1);

/// Maximum delay of the end of a run by a terminal that does not read. With the lowest priority on a busy host, the last
/// drawing takes a second or more; without it, the summary would follow the progress on its line.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Lowest priority, so that drawing takes no processor time from the load.
const GIVE_WAY: i32 = 19;

/// The progress of a run at the terminal of standard error. Dropping it draws the last snapshot and clears it.
#[derive(Debug)]
pub struct TerminalProgress {
    bar: ProgressBar,
    latest: Arc<Mutex<Option<Snapshot>>>,
    /// Dropping this ends the thread.
    life: Option<Sender<()>>,
    /// Disconnected when the thread has ended.
    ended: Receiver<()>,
}

impl TerminalProgress {
    /// Starts the thread. None if standard error is no terminal that can redraw lines, or if no thread can be started.
    pub fn start(title: &'static str, limits: Vec<Limit>) -> Option<Box<dyn ProgressView>> {
        if !io::stderr().is_terminal() || !can_redraw(env::var_os("TERM")) {
            return None;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // An empty message draws nothing.
        bar.set_style(ProgressStyle::with_template("{msg}").ok()?);
        let colours = Colours::of(&io::stderr());
        let text = ProgressText {
            title,
            limits,
            colours,
        };
        let ((life, alive), (end, ended)) = (mpsc::channel(), mpsc::channel());
        let latest = Arc::default();
        let (drawn, shown) = (bar.clone(), Arc::clone(&latest));
        let thread = Builder::new().name("progress".to_owned());
        let started = thread.spawn(move || {
            draw_until_end(&drawn, &shown, &text, &alive);
            drop(end);
        });
        started.ok()?;
        let life = Some(life);
        Some(Box::new(Self {
            bar,
            latest,
            life,
            ended,
        }))
    }
}

impl ProgressView for TerminalProgress {
    fn show(&self, snapshot: Snapshot) {
        *locked(&self.latest) = Some(snapshot);
    }

    fn around_output(&self, write: &mut dyn FnMut()) {
        self.bar.suspend(write);
    }
}

impl Drop for TerminalProgress {
    fn drop(&mut self) {
        self.life.take();
        // Disconnected or not: the run ends.
        let _ = self.ended.recv_timeout(END_LIMIT);
    }
}

/// Locks the latest snapshot. No code panics while it holds the lock.
fn locked(latest: &Mutex<Option<Snapshot>>) -> MutexGuard<'_, Option<Snapshot>> {
    latest.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw_until_end(
    bar: &ProgressBar,
    latest: &Mutex<Option<Snapshot>>,
    text: &ProgressText,
    alive: &Receiver<()>,
) {
    // On Linux, this changes the priority of the calling thread only. With the usual priority it also works.
    let _ = setpriority_process(None, GIVE_WAY);
    let mut is_over = false;
    while !is_over {
        is_over = alive.recv_timeout(DRAW_PERIOD) != Err(RecvTimeoutError::Timeout);
        let snapshot = locked(latest).clone();
        if let Some(snapshot) = snapshot.filter(|_| is_in_foreground()) {
            bar.set_message(text.of(&snapshot, Instant::now()));
        }
    }
    bar.finish_and_clear();
}

/// Returns whether this process may draw. A job in the background would draw into the shell, or would be stopped.
fn is_in_foreground() -> bool {
    // An error means that the terminal is not the one of this session, so that no job control applies.
    tcgetpgrp(io::stderr()).map_or(true, |group| group == getpgrp())
}
