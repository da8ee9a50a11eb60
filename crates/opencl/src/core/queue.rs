//! Command queues, in order and out of order.

use std::cell::Cell;
use std::sync::{Mutex, Weak};

use opencl_sys::*;

use super::context::Context;
use super::device::Device;
use super::event::{Command, Event, Work};
use crate::object::{Kind, Object, Ref, lock};

/// A command queue.
pub struct Queue {
    /// Its context.
    pub context: Ref<Context>,
    /// Its device.
    pub device: &'static Device,
    /// Number of the queue, for traces.
    pub number: u64,
    /// The properties as given to `clCreateCommandQueueWithProperties`, with the zero at the end; else none.
    pub array: Option<Vec<cl_queue_properties>>,
    properties: Mutex<cl_command_queue_properties>,
    state: Mutex<State>,
}

/// Commands that may not have ended. Those that have not are kept alive by what they wait for.
#[derive(Default)]
struct State {
    /// In order: the last command; out of order: all since the last barrier, and that.
    commands: Vec<Weak<Object<Event>>>,
    /// Out of order: what all later commands wait for.
    barrier: Option<Weak<Object<Event>>>,
    /// Commands are looked through for ended ones when there are as many.
    clean_at: usize,
}

/// What a command waits for beside its wait list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// What its queue's order says.
    Queue,
    /// All earlier commands of the queue.
    After,
    /// The same, and all later commands wait for it.
    Barrier,
    /// Its wait list, and later commands wait for it.
    ListedBarrier,
}

impl Kind for Queue {
    const NAME: &'static str = "command queue";
    const INVALID: cl_int = CL_INVALID_COMMAND_QUEUE;
}

impl Queue {
    /// A queue.
    pub fn new(
        context: Ref<Context>,
        device: &'static Device,
        properties: cl_command_queue_properties,
        array: Option<Vec<cl_queue_properties>>,
    ) -> Queue {
        let number = device.next_queue();
        Queue { context, device, number, array, properties: Mutex::new(properties), state: Mutex::default() }
    }

    /// Its properties.
    pub fn properties(&self) -> cl_command_queue_properties {
        *lock(&self.properties)
    }

    /// Sets or clears properties (`clSetCommandQueueProperty`); returns what they were.
    pub fn set_properties(&self, which: cl_command_queue_properties, on: bool) -> cl_command_queue_properties {
        let mut properties = lock(&self.properties);
        let before = *properties;
        *properties = if on { before | which } else { before & !which };
        before
    }

    /// Whether commands are executed out of order.
    pub fn is_out_of_order(&self) -> bool {
        self.properties() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0
    }

    /// Whether events tell times.
    pub fn is_profiling(&self) -> bool {
        self.properties() & CL_QUEUE_PROFILING_ENABLE != 0
    }

    /// Commands that have not ended.
    pub fn unended(&self) -> Vec<Ref<Event>> {
        lock(&self.state).commands.iter().filter_map(Weak::upgrade).filter(|e| !e.has_ended()).collect()
    }
}

/// Puts a command into a queue. `listed` is its wait list.
pub fn enqueue(queue: &Ref<Queue>, command_type: cl_command_type, listed: &[Ref<Event>], order: Order, work: Work) -> Ref<Event> {
    let event = Event::of_command(queue, command_type);
    let before = {
        let mut state = lock(&queue.state);
        let before = state.before(queue.is_out_of_order(), order);
        state.add(&event, queue.is_out_of_order(), order);
        before
    };
    Command::enqueue(queue.device, &event, listed, &before, work);
    event
}

impl State {
    /// What a new command waits for.
    fn before(&self, out_of_order: bool, order: Order) -> Vec<Ref<Event>> {
        let unended = |e: &Weak<Object<Event>>| e.upgrade().filter(|e| !e.has_ended());
        match (out_of_order, order) {
            (false, _) | (true, Order::After | Order::Barrier) => self.commands.iter().filter_map(unended).collect(),
            (true, Order::Queue | Order::ListedBarrier) => self.barrier.iter().filter_map(unended).collect(),
        }
    }

    fn add(&mut self, event: &Ref<Event>, out_of_order: bool, order: Order) {
        let event = std::sync::Arc::downgrade(event);
        if !out_of_order {
            self.commands.clear();
        } else {
            if matches!(order, Order::Barrier | Order::ListedBarrier) {
                self.barrier = Some(event.clone());
            }
            if self.commands.len() >= self.clean_at {
                self.commands.retain(|e| e.upgrade().is_some_and(|e| !e.has_ended()));
                self.clean_at = (2 * self.commands.len()).max(64);
            }
        }
        self.commands.push(event);
    }
}

/// Whether all events have ended. It is asked after each command, so it goes on where it stopped the last time.
fn all_ended(events: &[Ref<Event>]) -> impl Fn() -> bool {
    let ended = Cell::new(0);
    move || {
        let more = events[ended.get()..].iter().take_while(|e| e.has_ended()).count();
        ended.set(ended.get() + more);
        ended.get() == events.len()
    }
}

/// Executes commands until all of a queue have ended.
pub fn finish(queue: &Ref<Queue>) {
    let unended = queue.unended();
    queue.device.scheduler.wait(queue.device, all_ended(&unended));
}

/// Executes commands until events have ended. False if one of them failed.
pub fn wait_for(device: &'static Device, events: &[Ref<Event>]) -> bool {
    device.scheduler.wait(device, all_ended(events));
    events.iter().all(|e| e.status() >= 0)
}
