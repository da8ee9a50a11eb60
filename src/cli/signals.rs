//! Signals for `heddle exec` go on to the program that it runs. Those that end a program end the launches of
//! `heddle run`, of which what has been counted is then reported.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use heddle_sim::Interrupt;

/// The process that gets them; 0 before it has begun.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// The last signal that came before it had begun.
static PENDING: AtomicI32 = AtomicI32::new(0);

/// Signals by which others speak to a program.
const SIGNALS: [libc::c_int; 6] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// Passes a signal on. What the terminal sends (Ctrl-C) the program gets anyway: it is in the same group.
extern "C" fn pass(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the system calls this with a valid `info`, as SA_SIGINFO asks for.
    let from_kernel = !info.is_null() && unsafe { (*info).si_code } == SI_KERNEL;
    let program = PROGRAM.load(Ordering::SeqCst);
    if program == 0 {
        PENDING.store(signal, Ordering::SeqCst);
    } else if !from_kernel {
        // SAFETY: `kill` may be called from a handler, and changes nothing of this process.
        unsafe { libc::kill(program, signal) };
    }
}

/// `si_code` of signals that the kernel itself sends, as for keys of a terminal.
const SI_KERNEL: libc::c_int = 0x80;

/// From now on signals are for a program that will begin soon.
pub fn hold() {
    for signal in SIGNALS {
        handle(signal, pass as *const (), libc::SA_SIGINFO);
    }
}

/// The program has begun: it gets what was held, and signals from now on.
pub fn pass_to(program: u32) {
    let program = i32::try_from(program).unwrap_or(0);
    PROGRAM.store(program, Ordering::SeqCst);
    let held = PENDING.swap(0, Ordering::SeqCst);
    if program > 0 && held > 0 {
        // SAFETY: as in `pass`.
        unsafe { libc::kill(program, held) };
    }
}

/// A signal has this handler from now on. One that was ignored stays so, as `nohup` wants.
fn handle(signal: libc::c_int, handler: *const (), flags: libc::c_int) {
    // SAFETY: the structure is plain data for which zero is a valid value; the handlers of this module, which are functions
    // of the form that `flags` says, only access atomics and call `kill`.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let known = libc::sigaction(signal, std::ptr::null(), &mut before) == 0;
        if known && before.sa_sigaction == libc::SIG_IGN {
            return;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = flags | libc::SA_RESTART;
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// How often a signal asked launches to end, and which one.
static ASKED: AtomicU64 = AtomicU64::new(0);
static ASKED_BY: AtomicI32 = AtomicI32::new(0);

/// Notes the wish. The next signal ends the program, as without a handler.
extern "C" fn note(signal: libc::c_int) {
    ASKED_BY.store(signal, Ordering::Relaxed);
    ASKED.fetch_add(1, Ordering::Relaxed);
}

/// From now on the first Ctrl-C, or SIGTERM, asks launches to end.
pub fn interrupt() -> Interrupt {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        handle(signal, note as *const (), libc::SA_RESETHAND);
    }
    Interrupt::by(&ASKED)
}

/// The exit status of a program that such a signal ended, as shells give it: 130 for Ctrl-C, 143 for SIGTERM.
pub fn status() -> u8 {
    u8::try_from(128 + ASKED_BY.load(Ordering::Relaxed)).unwrap_or(u8::MAX)
}
