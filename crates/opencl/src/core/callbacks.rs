//! The thread that calls the program back about events: no lock of the driver is held there, and a program may
//! hold its own locks while it enqueues. Calls happen in the order in which they were asked for.

use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

type Call = Box<dyn FnOnce() + Send>;

static CALLS: OnceLock<Option<Sender<Call>>> = OnceLock::new();

/// Calls soon, from the thread for it.
pub fn soon(call: impl FnOnce() + Send + 'static) {
    let sender = CALLS.get_or_init(|| {
        let (sender, receiver) = channel::<Call>();
        let thread = std::thread::Builder::new().name("heddle callbacks".into());
        thread.spawn(move || receiver.into_iter().for_each(|call| call())).ok().map(|_| sender)
    });
    let call: Call = Box::new(call);
    match sender {
        Some(sender) => {
            if let Err(unsent) = sender.send(call) {
                unsent.0();
            }
        }
        // No thread is to be had: better here than not at all.
        None => call(),
    }
}

/// A pointer of the program that goes back to it unread.
#[derive(Clone, Copy)]
pub struct UserData(pub *mut std::ffi::c_void);

// SAFETY: the driver never reads what is behind it; the specification lets callbacks come from any thread.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// The pointer. (A method, so that closures capture the whole.)
    pub fn pointer(self) -> *mut std::ffi::c_void {
        self.0
    }
}
