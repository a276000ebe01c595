//! `drivetest prep` through the real program: its writes, reports, state and refusals.

mod bench;
mod faults;
mod reports;
mod resumed;
mod steady;
mod written;
