//! Who executes commands, and when.
//!
//! The simulated device executes one command at a time, in the order in which they became ready. A thread of
//! the program that waits executes them itself: a launch that is waited for costs no change of threads. What
//! nobody waits for is executed by the device's own thread, once the program flushes its queue or asks how
//! far a command is; it is made when that first happens. (A launch of several work-groups has the simulator
//! make threads of its own, which it keeps.)

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::device::Device;
use super::event::Command;
use crate::object::lock;

/// Commands that are ready.
#[derive(Default)]
pub struct Scheduler {
    ready: Mutex<Ready>,
    changed: Condvar,
    /// Commands that have not ended, also those that wait.
    unended: AtomicUsize,
}

#[derive(Default)]
struct Ready {
    commands: VecDeque<Arc<Command>>,
    /// Somebody executes a command.
    running: bool,
    /// Threads that wait for a change.
    sleeping: usize,
    /// The device's own thread is to execute what is ready, and what becomes ready, until all have ended.
    flushed: bool,
    /// There is such a thread.
    worker: bool,
}

/// So many commands are left for whoever waits for them; with more the device's own thread begins.
const PATIENCE: usize = 256;

impl Scheduler {
    /// A command is enqueued.
    pub fn command_enqueued(&self) {
        self.unended.fetch_add(1, Ordering::Relaxed);
    }

    /// A command has ended.
    pub fn command_ended(&self) {
        self.unended.fetch_sub(1, Ordering::Relaxed);
    }

    /// Commands that have been enqueued and have not ended.
    pub fn unended(&self) -> u64 {
        self.unended.load(Ordering::Relaxed) as u64
    }

    /// Adds commands that wait for nothing. `flushed`: nobody may come to wait for them.
    pub fn add(&'static self, commands: Vec<Arc<Command>>, flushed: bool) {
        let mut ready = lock(&self.ready);
        ready.commands.extend(commands);
        // Also if there are none: who waits for a user's event has its change.
        if ready.sleeping > 0 {
            self.changed.notify_all();
        }
        if flushed || ready.commands.len() > PATIENCE {
            self.start(ready);
        }
    }

    /// Has the device's own thread execute what is enqueued, as it becomes ready.
    pub fn flush(&'static self) {
        self.start(lock(&self.ready));
    }

    fn start(&'static self, mut ready: MutexGuard<Ready>) {
        if self.unended.load(Ordering::Relaxed) == 0 || ready.flushed {
            return;
        }
        ready.flushed = true;
        if !ready.worker {
            let thread = std::thread::Builder::new().name("heddle device".into());
            ready.worker = thread.spawn(|| self.work()).is_ok();
        }
        if ready.sleeping > 0 {
            self.changed.notify_all();
        }
    }

    /// The device's own thread.
    fn work(&'static self) {
        let Some(device) = super::platform::device_if_made() else { return };
        let mut ready = lock(&self.ready);
        loop {
            let next = if ready.flushed && !ready.running { ready.commands.pop_front() } else { None };
            match next {
                Some(command) => {
                    ready.running = true;
                    drop(ready);
                    ready = self.execute(command, device);
                }
                None => ready = self.sleep(ready),
            }
        }
    }

    /// Executes commands until a condition holds, which ends of commands bring about. The condition must not
    /// wait for anything.
    pub fn wait(&self, device: &'static Device, until: impl Fn() -> bool) {
        let mut ready = lock(&self.ready);
        while !until() {
            let next = if ready.running { None } else { ready.commands.pop_front() };
            match next {
                Some(command) => {
                    ready.running = true;
                    drop(ready);
                    ready = self.execute(command, device);
                }
                None => ready = self.sleep(ready),
            }
        }
    }

    fn execute(&self, command: Arc<Command>, device: &'static Device) -> MutexGuard<'_, Ready> {
        command.execute(device);
        let mut ready = lock(&self.ready);
        ready.running = false;
        ready.flushed &= self.unended.load(Ordering::Relaxed) > 0;
        if ready.sleeping > 0 {
            self.changed.notify_all();
        }
        ready
    }

    fn sleep<'a>(&self, mut ready: MutexGuard<'a, Ready>) -> MutexGuard<'a, Ready> {
        ready.sleeping += 1;
        ready = self.changed.wait(ready).unwrap_or_else(PoisonError::into_inner);
        ready.sleeping -= 1;
        ready
    }
}
