//! The progress of an upload: a bar at a terminal, else one line for each file.

use std::env;
use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::print_status;
use crate::render::colours::can_redraw;
use crate::size;

const TEMPLATE: &str = "{msg}: {bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta} left";

/// The upload of a file.
pub struct UploadProgress {
    name: String,
    bar: Option<ProgressBar>,
    is_announced: bool,
}

impl UploadProgress {
    /// Starts with the first bytes.
    pub fn start(name: &str) -> Self {
        let is_live = io::stderr().is_terminal() && can_redraw(env::var_os("TERM"));
        let style = ProgressStyle::with_template(TEMPLATE).ok().filter(|_| is_live);
        let bar = style.map(|style| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style);
            bar.set_message(name.to_owned());
            bar
        });
        let name = name.to_owned();
        Self {
            name,
            bar,
            is_announced: false,
        }
    }

    /// Shows how many bytes of the file were sent.
    pub fn show(&mut self, sent: u64, size: u64) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(size);
                bar.set_position(sent);
            }
            None if !self.is_announced => {
                print_status(&format!("{}: uploading {}\n", self.name, size::exact_text(size)));
            }
            None => {}
        }
        self.is_announced = true;
    }
}

impl Drop for UploadProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
