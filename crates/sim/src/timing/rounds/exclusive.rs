//! A lock that threads wait for without sleeping, since it is held for less time than waking takes.

use std::sync::{Mutex, MutexGuard, TryLockError};

/// What one thread at a time has.
pub(super) struct Exclusive<T>(pub(super) Mutex<T>);

// SAFETY: what is locked up here are clusters and what the threads share of them. A cluster's SMs hold
// pointers into their own work-groups' memory, and references to the `RefCell` of the cluster's caches; both
// are used only through the cluster, so only by the thread that holds the lock. The levels that all share and
// the host's writes are in the one `Service`: either in the shared state, and used under its lock, or taken out of
// it in its box, and used only by the thread that has taken it, until that puts it back.
unsafe impl<T> Sync for Exclusive<T> {}
// SAFETY: as above: what is behind the pointers and references goes to another thread only with the lock.
unsafe impl<T> Send for Exclusive<T> {}

impl<T> Exclusive<T> {
    /// Waits until no other thread has it, which nearly always is soon.
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        let mut taken = None;
        wait(|| {
            taken = match self.0.try_lock() {
                Ok(guard) => Some(guard),
                Err(TryLockError::Poisoned(e)) => Some(e.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            taken.is_some()
        });
        taken.unwrap_or_else(|| self.0.lock().unwrap_or_else(|e| e.into_inner()))
    }
}

/// Waits for something that nearly always happens soon; lets other threads run if it does not.
pub(super) fn wait(mut ready: impl FnMut() -> bool) {
    let mut turns = 0u32;
    while !ready() {
        turns += 1;
        if turns < 4096 {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}
