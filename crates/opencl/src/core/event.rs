//! Events: how far a command is, or what a program says of its own.
//!
//! Completion goes from event to event with a list of what is to be done, not by calls inside calls: chains of
//! any length end without a deep stack.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use opencl_sys::*;

use super::callbacks::{self, UserData};
use super::context::Context;
use super::device::Device;
use super::platform;
use super::queue::Queue;
use crate::object::{self, Kind, Object, Ref, lock};

/// Is called when an event has come to a status.
pub type Notify = unsafe extern "C" fn(cl_event, cl_int, *mut std::ffi::c_void);

/// A command's or a user's event.
pub struct Event {
    /// Its context.
    pub context: Ref<Context>,
    /// The command's queue; none for a user's event.
    pub queue: Option<Ref<Queue>>,
    /// Which command.
    pub command_type: cl_command_type,
    state: Mutex<State>,
}

struct State {
    /// From `CL_QUEUED` down to `CL_COMPLETE`, or a negative error.
    status: cl_int,
    times: Times,
    /// Not called yet: at which status, whom.
    callbacks: Vec<(cl_int, Notify, UserData)>,
    waiters: Vec<Waiter>,
}

/// A command that waits for an event.
struct Waiter {
    command: Arc<Command>,
    /// Through its wait list: then a failed event fails the command.
    listed: bool,
}

/// Nanoseconds of the device's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// When the command was enqueued.
    pub queued: u64,
    /// When all it waits for had ended.
    pub submitted: u64,
    /// When it began.
    pub started: u64,
    /// When it ended.
    pub ended: u64,
}

/// What a command does.
pub type Work = Box<dyn FnOnce() -> Result<Done, cl_int> + Send>;

/// What a command did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Nanoseconds on the device, if they are known.
    pub takes: Option<u64>,
    /// Bytes moved.
    pub bytes: u64,
}

/// A command that has not ended.
pub struct Command {
    event: Ref<Event>,
    /// Events that it waits for, and one for its own making.
    pending: AtomicUsize,
    failed: AtomicBool,
    work: Mutex<Option<Work>>,
}

impl Kind for Event {
    const NAME: &'static str = "event";
    const INVALID: cl_int = CL_INVALID_EVENT;
}

impl Event {
    /// The event of a new command.
    pub fn of_command(queue: &Ref<Queue>, command_type: cl_command_type) -> Ref<Event> {
        let times = Times { queued: queue.device.clock.now(), ..Times::default() };
        Object::new(Event {
            context: queue.context.clone(),
            queue: Some(queue.clone()),
            command_type,
            state: Mutex::new(State { status: CL_QUEUED, times, callbacks: Vec::new(), waiters: Vec::new() }),
        })
    }

    /// An event that the program ends.
    pub fn of_user(context: Ref<Context>) -> Ref<Event> {
        Object::new(Event {
            context,
            queue: None,
            command_type: CL_COMMAND_USER,
            state: Mutex::new(State {
                status: CL_SUBMITTED,
                times: Times::default(),
                callbacks: Vec::new(),
                waiters: Vec::new(),
            }),
        })
    }

    /// How far it is.
    pub fn status(&self) -> cl_int {
        lock(&self.state).status
    }

    /// Whether it is complete or has failed.
    pub fn has_ended(&self) -> bool {
        self.status() <= CL_COMPLETE
    }

    /// When its command was enqueued, began and ended.
    pub fn times(&self) -> Times {
        lock(&self.state).times
    }
}

/// Calls the program when an event comes to a status, or has already.
pub fn on_status(event: &Ref<Event>, at: cl_int, notify: Notify, data: UserData) {
    let mut state = lock(&event.state);
    if state.status > at {
        state.callbacks.push((at, notify, data));
        return;
    }
    let status = state.status;
    drop(state);
    // It is told the status that it was set for, though the event may be further; only errors are told as they are.
    call(event, if status < 0 { status } else { at }, notify, data);
}

/// Calls the program about an event, from the thread for it.
fn call(event: &Ref<Event>, status: cl_int, notify: Notify, data: UserData) {
    let event = event.clone();
    callbacks::soon(move || {
        // SAFETY: the program gave the function for this, and its data. The event is alive until it returns.
        unsafe { notify(object::queried_handle(&event), status, data.pointer()) };
    });
}

/// Sets a status before the end, and calls those who want to know.
fn reach(event: &Ref<Event>, status: cl_int, note: impl FnOnce(&mut Times)) {
    let mut state = lock(&event.state);
    if state.status <= status {
        return;
    }
    state.status = status;
    note(&mut state.times);
    if state.callbacks.is_empty() {
        return;
    }
    let (now, later) = std::mem::take(&mut state.callbacks).into_iter().partition(|(at, ..)| *at >= status);
    state.callbacks = later;
    drop(state);
    let now: Vec<(cl_int, Notify, UserData)> = now;
    now.into_iter().for_each(|(at, notify, data)| call(event, at, notify, data));
}

/// Ends an event, and with it the waiting of commands; those of them whose wait list has failed end as well.
/// False if it had ended before.
fn end(device: &'static Device, event: Ref<Event>, status: cl_int, started_and_ended: Option<(u64, u64)>) -> bool {
    let by_command = event.queue.is_some();
    let mut ends = false;
    let mut work = VecDeque::from([(event, status, started_and_ended)]);
    let mut ready = Vec::new();
    while let Some((event, status, times)) = work.pop_front() {
        let mut state = lock(&event.state);
        if state.status <= CL_COMPLETE {
            continue;
        }
        ends = true;
        if event.queue.is_some() {
            device.scheduler.command_ended();
        }
        state.status = status;
        if let Some((started, ended)) = times {
            state.times.started = started;
            state.times.ended = ended;
        }
        let callbacks = std::mem::take(&mut state.callbacks);
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        for (at, notify, data) in callbacks {
            call(&event, if status < 0 { status } else { at }, notify, data);
        }
        for Waiter { command, listed } in waiters {
            command.failed.fetch_or(listed && status < 0, Ordering::Relaxed);
            if command.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                match command.failed.load(Ordering::Relaxed) {
                    true => {
                        drop(lock(&command.work).take());
                        let now = device.clock.now();
                        work.push_back((command.event.clone(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, Some((now, now))));
                    }
                    false => ready.push(command),
                }
            }
        }
    }
    for command in &ready {
        command.submit(device);
    }
    // Nobody may come to wait for what a user's event has held back.
    device.scheduler.add(ready, !by_command);
    ends
}

/// Ends a user's event. False if it had ended before.
pub fn end_user_event(device: &'static Device, event: Ref<Event>, status: cl_int) -> bool {
    end(device, event, status, None)
}

impl Command {
    /// A command that waits for events: those of its wait list, and those that come before it in its queue.
    pub fn enqueue(device: &'static Device, event: &Ref<Event>, listed: &[Ref<Event>], before: &[Ref<Event>], work: Work) {
        device.scheduler.command_enqueued();
        let command = Arc::new(Command {
            event: event.clone(),
            pending: AtomicUsize::new(1),
            failed: AtomicBool::new(false),
            work: Mutex::new(Some(work)),
        });
        let all = listed.iter().map(|e| (e, true)).chain(before.iter().map(|e| (e, false)));
        for (event, listed) in all {
            let mut state = lock(&event.state);
            if state.status > CL_COMPLETE {
                command.pending.fetch_add(1, Ordering::Relaxed);
                state.waiters.push(Waiter { command: command.clone(), listed });
            } else if state.status < 0 && listed {
                command.failed.store(true, Ordering::Relaxed);
            }
        }
        if command.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            if command.failed.load(Ordering::Relaxed) {
                let now = device.clock.now();
                end(device, event.clone(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, Some((now, now)));
            } else {
                command.submit(device);
                device.scheduler.add(vec![command], false);
            }
        }
    }

    /// Nothing is waited for any more.
    fn submit(&self, device: &'static Device) {
        reach(&self.event, CL_SUBMITTED, |t| t.submitted = device.clock.now());
    }

    /// Executes it and ends its event.
    pub fn execute(self: Arc<Self>, device: &'static Device) {
        let begin = device.clock.now();
        reach(&self.event, CL_RUNNING, |t| t.started = begin);
        let work = lock(&self.work).take();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.map_or(Ok(Done::default()), |w| w())));
        let (status, done) = match result {
            Ok(Ok(done)) => (CL_COMPLETE, done),
            Ok(Err(code)) => (code, Done::default()),
            Err(_) => (CL_OUT_OF_RESOURCES, Done::default()),
        };
        let (started, ended) = device.clock.execution(begin, done.takes);
        platform::command_ended(&self.event, done.bytes, started, ended);
        end(device, self.event.clone(), status, Some((started, ended)));
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // A user's event that nobody ended: what waits for it never runs, and must not hang.
        let mut waiters: Vec<Waiter> = std::mem::take(&mut self.waiters);
        let Some(device) = platform::device_if_made().filter(|_| !waiters.is_empty()) else { return };
        for Waiter { command, .. } in waiters.drain(..) {
            // Before it may run: another event may end meanwhile.
            command.failed.store(true, Ordering::Relaxed);
            if command.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                drop(lock(&command.work).take());
                end(device, command.event.clone(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, None);
            }
        }
    }
}
