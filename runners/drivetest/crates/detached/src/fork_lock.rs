//! Separates tests that fork from tests that release a lock.
//!
//! Until a child executes its program, it has a copy of every descriptor of this process, also of other tests. A lock that
//! another test releases in that time stays taken, for milliseconds on a busy machine.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static FORKS: RwLock<()> = RwLock::new(());

/// Blocks forks of other tests while the guard lives.
pub(crate) fn hold_forks() -> RwLockReadGuard<'static, ()> {
    FORKS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks releases of locks in other tests while the guard lives. Hold it until the child has executed its program.
pub(crate) fn begin_fork() -> RwLockWriteGuard<'static, ()> {
    FORKS.write().unwrap_or_else(PoisonError::into_inner)
}
