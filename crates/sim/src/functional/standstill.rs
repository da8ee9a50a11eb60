//! Whether all host threads of a launch have come to a standstill.
//!
//! A thread is *idle* when every warp of its work-groups waits for others and it may begin no more work-groups. Idle threads
//! look again and again whether a warp can go on. When all are idle, and all have looked since the last one became so without
//! finding one, nobody has changed memory and nobody will: a deadlock.

use std::sync::{Mutex, MutexGuard};

use crate::fault::WaitingWarp;

#[derive(Default)]
struct State {
    /// Threads that have work.
    threads: usize,
    /// Those of them that are idle.
    idle: usize,
    /// Moves on whenever one of the two does.
    generation: u64,
    /// Threads that have found nothing in this generation, in which all are idle.
    found_nothing: usize,
    /// What their warps wait for.
    warps: Vec<WaitingWarp>,
}

/// What the host threads of a launch know of each other.
#[derive(Default)]
pub(super) struct Standstill(Mutex<State>);

impl Standstill {
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        state.generation += 1;
        state.found_nothing = 0;
        state.warps.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A thread begins.
    pub fn begin(&self) {
        self.change(|s| s.threads += 1);
    }

    /// A thread has no work any more.
    pub fn end(&self) {
        self.change(|s| s.threads = s.threads.saturating_sub(1));
    }

    /// A thread becomes idle.
    pub fn sleep(&self) {
        self.change(|s| s.idle += 1);
    }

    /// An idle thread goes on.
    pub fn wake(&self) {
        self.change(|s| s.idle = s.idle.saturating_sub(1));
    }

    /// The generation, if all threads are idle in it: asked before a thread looks whether a warp of its own can go on.
    pub fn all_idle(&self) -> Option<u64> {
        let state = self.lock();
        (state.idle == state.threads).then_some(state.generation)
    }

    /// A thread has found nothing since it has been told this generation, once. All warps that wait, if it was the last one.
    pub fn found_nothing(&self, generation: u64, warps: Vec<WaitingWarp>) -> Option<Vec<WaitingWarp>> {
        let mut state = self.lock();
        if state.generation != generation {
            return None;
        }
        state.found_nothing += 1;
        state.warps.extend(warps);
        (state.found_nothing == state.threads).then(|| std::mem::take(&mut state.warps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_must_look_after_the_last_has_become_idle() {
        let s = Standstill::default();
        s.begin();
        s.begin();
        s.sleep();
        assert_eq!(s.all_idle(), None);
        s.sleep();
        let first = s.all_idle().unwrap();
        assert!(s.found_nothing(first, vec![WaitingWarp::default()]).is_none());
        // The second one can go on, and may change memory.
        s.wake();
        s.sleep();
        assert!(s.found_nothing(first, Vec::new()).is_none());
        let second = s.all_idle().unwrap();
        assert!(s.found_nothing(second, Vec::new()).is_none());
        assert_eq!(s.found_nothing(second, vec![WaitingWarp::default()]).map(|w| w.len()), Some(1));
    }

    #[test]
    fn threads_that_have_ended_are_not_waited_for() {
        let s = Standstill::default();
        s.begin();
        s.begin();
        s.sleep();
        s.end();
        let generation = s.all_idle().unwrap();
        assert!(s.found_nothing(generation, Vec::new()).is_some());
    }
}
