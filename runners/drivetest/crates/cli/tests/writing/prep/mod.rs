//! `drivetest prep` through the real program: what it writes, tells, keeps and refuses.

mod bench;
mod faults;
mod resumed;
mod steady;
mod told;
mod written;
