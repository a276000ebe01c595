//! Keeps tests that fork apart from tests that let go of a lock.
//!
//! A child has a copy of every descriptor of this process until it becomes its program, also of those that another test has
//! at that moment: a lock that the test lets go of is still held then, for milliseconds on a busy machine.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static FORKS: RwLock<()> = RwLock::new(());

/// No test forks while this lives.
pub(crate) fn none() -> RwLockReadGuard<'static, ()> {
    FORKS.read().unwrap_or_else(PoisonError::into_inner)
}

/// For a fork, until the child has become its program: no test lets go of a lock meanwhile.
pub(crate) fn one() -> RwLockWriteGuard<'static, ()> {
    FORKS.write().unwrap_or_else(PoisonError::into_inner)
}
