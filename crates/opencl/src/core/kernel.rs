//! Kernels: functions of a built program with their arguments.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

use opencl_sys::{CL_INVALID_KERNEL, cl_int};

use heddle_object::metadata::{ArgumentKind, KernelArgument, KernelHeader};
use heddle_runtime::run::max_work_group_size;

use super::memory::Memory;
use super::program::{Loaded, Program};
use crate::object::{Kind, Object, Ref, lock};

/// A kernel.
pub struct Kernel {
    /// Its program.
    pub program: Ref<Program>,
    /// The code, which stays when the program is built again.
    pub loaded: Arc<Loaded>,
    /// Its number in the code.
    pub number: usize,
    settings: Mutex<Settings<Known>>,
    /// The largest work-group with so many bytes of work-group memory, as it was asked for last.
    largest: Mutex<Option<(u64, u32)>>,
}

/// What a program has set, with the memory kept as `M` says.
#[derive(Clone, Default)]
pub struct Settings<M = Ref<Memory>> {
    /// Arguments; none where it has set nothing yet, or where memory has ended.
    pub arguments: Vec<Option<Setting<M>>>,
    /// Allocations of shared virtual memory that the kernel reaches through pointers in memory: addresses.
    pub indirect: Vec<u64>,
}

/// An argument.
#[derive(Clone)]
pub enum Setting<M = Ref<Memory>> {
    /// A buffer or image.
    Memory(M),
    /// A pointer: shared virtual memory, or null.
    Pointer(u64),
    /// Bytes of work-group memory.
    Local(u32),
    /// A value, or a sampler's bits.
    Value(Vec<u8>),
}

/// Memory as a kernel knows it: a program that has released a buffer has its bytes back, whatever kernels it was
/// an argument of. A launch keeps its memory until it has ended.
type Known = Weak<Object<Memory>>;

impl<M> Setting<M> {
    /// The same with the memory kept in another way, if that is possible.
    fn keep<N>(&self, memory: impl FnOnce(&M) -> Option<N>) -> Option<Setting<N>> {
        Some(match self {
            Setting::Memory(m) => Setting::Memory(memory(m)?),
            Setting::Pointer(address) => Setting::Pointer(*address),
            Setting::Local(bytes) => Setting::Local(*bytes),
            Setting::Value(bytes) => Setting::Value(bytes.clone()),
        })
    }
}

impl Kind for Kernel {
    const NAME: &'static str = "kernel";
    const INVALID: cl_int = CL_INVALID_KERNEL;
}

impl Kernel {
    /// A kernel of an executable.
    pub fn new(program: Ref<Program>, loaded: Arc<Loaded>, number: usize) -> Kernel {
        let arguments = vec![None; loaded.header(number).visible_args().len()];
        Kernel::with(program, loaded, number, Settings { arguments, indirect: Vec::new() })
    }

    /// The same kernel with the same arguments.
    pub fn copy(&self) -> Kernel {
        Kernel::with(self.program.clone(), self.loaded.clone(), self.number, lock(&self.settings).clone())
    }

    fn with(program: Ref<Program>, loaded: Arc<Loaded>, number: usize, settings: Settings<Known>) -> Kernel {
        program.kernels.fetch_add(1, Ordering::Relaxed);
        Kernel { program, loaded, number, settings: Mutex::new(settings), largest: Mutex::default() }
    }

    /// What the object says of it.
    pub fn header(&self) -> &KernelHeader {
        self.loaded.header(self.number)
    }

    /// A parameter.
    pub fn parameter(&self, number: u32) -> Option<&KernelArgument> {
        self.header().visible_args().get(number as usize)
    }

    /// What is set now, with the memory that has not ended.
    pub fn settings(&self) -> Settings {
        let settings = lock(&self.settings);
        let arguments = settings.arguments.iter().map(|a| a.as_ref()?.keep(Weak::upgrade)).collect();
        Settings { arguments, indirect: settings.indirect.clone() }
    }

    /// Sets an argument that there is.
    pub fn set(&self, number: u32, setting: &Setting) {
        let setting = setting.keep(|memory| Some(Arc::downgrade(memory)));
        if let Some(place) = lock(&self.settings).arguments.get_mut(number as usize) {
            *place = setting;
        }
    }

    /// Sets the allocations that the kernel reaches through pointers.
    pub fn set_indirect(&self, indirect: Vec<u64>) {
        lock(&self.settings).indirect = indirect;
    }

    /// Work-group memory of a launch with what is set now, bytes.
    pub fn local_bytes(&self) -> u64 {
        let settings = lock(&self.settings);
        let sizes = settings
            .arguments
            .iter()
            .map(|a| if let Some(Setting::Local(n)) = a { self.loaded.device.granted((*n).into()) } else { 0 });
        u64::from(self.header().local_bytes) + sizes.sum::<u64>()
    }
}

impl Kernel {
    /// Work-items that a work-group may have with what is set now.
    pub fn largest_work_group(&self) -> u32 {
        let bytes = self.local_bytes();
        let mut largest = lock(&self.largest);
        if let Some((_, most)) = largest.filter(|(of, _)| *of == bytes) {
            return most;
        }
        let fits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let most = max_work_group_size(self.header(), &self.loaded.device.machine, fits);
        *largest = Some((bytes, most));
        most
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.kernels.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether an argument is a pointer to memory that all work-groups share.
pub fn is_pointer(parameter: &KernelArgument) -> bool {
    matches!(parameter.kind, ArgumentKind::Global | ArgumentKind::Constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_has_ended_is_no_argument() {
        let memory = Arc::new(1);
        let known = Setting::Memory(memory.clone()).keep(|m| Some(Arc::downgrade(m))).unwrap();
        assert!(matches!(known.keep(Weak::upgrade), Some(Setting::Memory(m)) if *m == 1));
        drop(memory);
        assert!(known.keep(Weak::upgrade).is_none());
        assert!(matches!(Setting::<Weak<i32>>::Local(8).keep(Weak::upgrade), Some(Setting::Local(8))));
    }
}
