//! Colours of texts at a terminal. A colour is never the only sign of a meaning.

use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;

/// Whether a stream shows colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours(bool);

/// The meaning of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Green.
    Good,
    /// Red and bold.
    Bad,
    /// Yellow.
    Doubtful,
}

impl Colours {
    /// No colours.
    #[cfg(test)]
    pub const NONE: Self = Self(false);

    /// Returns whether a stream is a terminal with colours that the user has not switched off.
    pub fn of(stream: &impl IsTerminal) -> Self {
        Self(stream.is_terminal() && are_allowed(env::var_os("NO_COLOR"), env::var_os("TERM")))
    }

    /// Colours a text, if the stream shows colours.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "1;31",
            Tone::Doubtful => "33",
        };
        match self.0 {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// Any value of NO_COLOR but an empty one switches colours off. Source: no-color.org.
fn are_allowed(no_color: Option<OsString>, term: Option<OsString>) -> bool {
    no_color.is_none_or(|value| value.is_empty()) && can_redraw(term)
}

/// Returns whether a terminal of this type (TERM) knows escape sequences.
pub fn can_redraw(term: Option<OsString>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_with_a_value_and_a_dumb_terminal_switch_colours_off() {
        let are_allowed = |no_color: Option<&str>, term: Option<&str>| {
            are_allowed(no_color.map(OsString::from), term.map(OsString::from))
        };
        for no_color in [None, Some("")] {
            assert!(are_allowed(no_color, Some("xterm")));
            for term in [None, Some(""), Some("dumb")] {
                assert!(!are_allowed(no_color, term), "{term:?}");
            }
        }
        for no_color in ["0", "1"] {
            assert!(!are_allowed(Some(no_color), Some("xterm")), "{no_color}");
        }
    }

    #[test]
    fn a_text_is_the_same_without_colours() {
        assert_eq!(Colours(true).paint(Tone::Bad, "OVER"), "\x1b[1;31mOVER\x1b[0m");
        assert_eq!(Colours::NONE.paint(Tone::Bad, "OVER"), "OVER");
    }
}
