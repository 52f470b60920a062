//! Locking.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose value stays valid even if a holder panics.
pub fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
