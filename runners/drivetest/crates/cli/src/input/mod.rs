//! Input files and archives of logs: opened, decompressed, hashed, and read within limits (`bomb_limits`).

mod archive;
mod attachments;
mod background;
mod bomb_limits;
mod content;
mod decompress;
mod digest;
pub mod options;
mod prefetch;
pub mod read_log;
mod source;
