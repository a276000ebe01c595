//! Input files: opened, decompressed, hashed, and read as logs within fixed limits.

mod archive;
mod attachments;
mod background;
mod content;
mod decompress;
mod digest;
mod limits;
pub mod options;
mod prefetch;
pub mod read_log;
mod source;
