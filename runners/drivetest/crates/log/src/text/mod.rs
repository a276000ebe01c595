//! Bytes to lines, whatever terminals, mailers and editors did to them.

pub mod lines;
