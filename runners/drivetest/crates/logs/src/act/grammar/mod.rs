//! The grammar of ACT's logs: what each line is, in every version family.

pub mod bucket_line;
pub mod error_messages;
pub mod family;
pub mod family_a;
pub mod line;
