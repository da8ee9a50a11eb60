//! Ctrl-C while Heddle works.
//!
//! The interpreter's own handler of SIGINT only notes the signal, for when Python code runs again. While launches, and clang,
//! run, a handler stands before it that also moves a counter on, which ends them; it then calls the other one. So what a signal means
//! is still the program's choice (`signal.signal`), and a launch that nobody interrupts pays two system calls.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use heddle::frontend::Stop;
use heddle::sim::Interrupt;
use pyo3::prelude::*;

use crate::errors::Interrupted;

/// Signals seen.
static COUNTER: AtomicU64 = AtomicU64::new(0);
/// The handler that was there before, as `sigaction` has it.
static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
/// Launches that run, and what to put back after the last.
static RUNNING: Mutex<(usize, Option<libc::sigaction>)> = Mutex::new((0, None));

extern "C" fn handle(signal: libc::c_int) {
    COUNTER.fetch_add(1, Ordering::Relaxed);
    let before = BEFORE.load(Ordering::Relaxed);
    if before != libc::SIG_DFL && before != libc::SIG_IGN {
        // SAFETY: it is the address of a handler that was installed for this signal without SA_SIGINFO, so it has this type.
        let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(before) };
        handler(signal);
    }
}

/// From its making until it goes, SIGINT ends launches.
pub struct Watch(Interrupt);

impl Watch {
    /// Begins.
    pub fn new() -> Watch {
        let mut running = RUNNING.lock().unwrap_or_else(|e| e.into_inner());
        running.0 += 1;
        if running.0 == 1 {
            running.1 = install();
        }
        Watch(Interrupt::by(&COUNTER))
    }

    /// For the simulator's options.
    pub fn interrupt(&self) -> Interrupt {
        self.0
    }

    /// For the front end's options.
    pub fn stop(&self) -> Stop {
        let interrupt = self.0;
        Stop::when(move || interrupt.requested())
    }

    /// Raises what the signal's handler raises, if there has been one.
    ///
    /// # Errors
    /// The handler's, or [`Interrupted`] if it has raised nothing.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        if self.0.requested() {
            py.check_signals()?;
            return Err(Interrupted::new_err("interrupted"));
        }
        Ok(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(|e| e.into_inner());
        running.0 -= 1;
        if running.0 == 0
            && let Some(before) = running.1.take()
        {
            // SAFETY: puts back what `install` found, unless somebody has installed another one since.
            unsafe {
                let mut now: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(libc::SIGINT, std::ptr::null(), &mut now) == 0 && now.sa_sigaction == handler_address() {
                    libc::sigaction(libc::SIGINT, &before, std::ptr::null_mut());
                }
            }
        }
    }
}

fn handler_address() -> libc::sighandler_t {
    handle as *const () as libc::sighandler_t
}

/// Puts the handler before the one that is there. `None`: none is there that could be called afterwards, so the signal keeps
/// its meaning (it ends the process, or nothing happens).
fn install() -> Option<libc::sigaction> {
    // SAFETY: the structures are plain data for which zero is a valid value, and the handler does what handlers may do: it
    // changes an atomic and calls the handler that was there.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGINT, std::ptr::null(), &mut before) != 0 {
            return None;
        }
        let plain = before.sa_flags & libc::SA_SIGINFO == 0;
        if [libc::SIG_DFL, libc::SIG_IGN, handler_address()].contains(&before.sa_sigaction) || !plain {
            return None;
        }
        BEFORE.store(before.sa_sigaction, Ordering::Relaxed);
        let mut action = before;
        action.sa_sigaction = handler_address();
        (libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut()) == 0).then_some(before)
    }
}
