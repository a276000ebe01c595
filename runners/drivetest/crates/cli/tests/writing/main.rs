//! The commands that write to drives, through the real program: `prep`, `storage` and `index`, in the foreground and in the
//! background, and the devices that they must not touch.
//!
//! One test program for all, because each program costs another link.

#![allow(clippy::unwrap_used, reason = "a test whose bench cannot be set up fails")]

mod detached;
#[path = "../support/drive.rs"]
mod drive;
mod gate;
mod prep;
mod storage;
