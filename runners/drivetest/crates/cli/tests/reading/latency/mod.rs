//! `latency` compared with the tables of the original scripts for the same real logs.

mod agreement;
mod case;
mod differences;
