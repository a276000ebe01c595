//! What writes to drives, through the real program: `prep`, `storage` and `index`, in the foreground and detached, and
//! what all of them must leave alone.
//!
//! One program for all: each more would be linked anew.

#![allow(clippy::unwrap_used, reason = "a test whose bench cannot be set up fails")]

mod detached;
#[path = "../support/drive.rs"]
mod drive;
mod gate;
mod prep;
mod storage;
