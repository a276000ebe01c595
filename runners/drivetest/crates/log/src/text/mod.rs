//! Bytes to lines, whatever terminals, mailers and editors did to them.

pub mod anchor;
pub mod decode;
pub mod ends;
pub mod flood;
pub mod lines;
pub mod marks;
pub mod notes;
pub mod prefix;
pub mod stream;
pub mod stripped;
