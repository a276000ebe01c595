//! Repairs of text that a terminal, a mailer, a logger or an editor changed.

pub mod ansi;
pub mod header_anchor;
pub mod line_prefix;
pub mod noise_limit;
pub mod prefix_stripper;
pub mod repairs;
