//! Heddle as a library: compile, load, launch, read statistics.
//!
//! A [`Device`] is a simulated machine with its memory; [`Buffer`]s are in it. A [`Program`] is compiled for
//! a device; its [`Kernel`]s are launched on it with arguments in order, and every launch returns its
//! [`Statistics`]. Everything that can go wrong is an [`Error`]. See the crate's front page for an example;
//! what this module does not offer (images, samplers, several sources with own options) is in
//! [`crate::driver`] and [`heddle_runtime`].

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::driver::{self, CompileError, CompileOptions, Emit};
use heddle_frontend::Diagnostics;
use heddle_object::Image;
use heddle_object::error::ObjectError;
use heddle_object::read;
use heddle_runtime::case::{Argument, Launch};
use heddle_runtime::run::{DeviceState, Mode, Observer, Refusal, Request, RunError, Simulator};
use heddle_sim::memory::OutOfMemory;
use heddle_sim::{DeviceMemory, Fault, Options, Statistics};
use heddle_target::Machine;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The source does not compile; clang's diagnostics are in the message.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// An object cannot be read, or not be loaded on this machine.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The device's memory is used up.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The program has no such kernel.
    #[error("no kernel `{name}`; the program has: {}", .known.join(", "))]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The program's kernels.
        known: Vec<String>,
    },
    /// A buffer of another device.
    #[error("{0} belongs to another device")]
    OtherDevice(String),
    /// Data of another length than the buffer's.
    #[error("a buffer of {expected} elements is written with {given}")]
    Length {
        /// Elements of the buffer.
        expected: usize,
        /// Elements given.
        given: usize,
    },
    /// The launch is not possible: arguments, sizes, or resources that the machine lacks.
    #[error("{0}")]
    Launch(String),
    /// The kernel did something wrong while it ran.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// A temporary file could not be written.
    #[error("cannot write a temporary file: {0}")]
    File(#[from] std::io::Error),
    /// An object file cannot be read.
    #[error("{}: cannot read the object: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

impl From<RunError> for Error {
    fn from(e: RunError) -> Self {
        match e {
            RunError::Input(m) | RunError::Refused(Refusal { message: m, .. }) => Error::Launch(m),
            RunError::Fault(f) => Error::Fault(f),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type of a buffer's elements and of arguments by value: the numbers of OpenCL C.
pub trait Element: sealed::Sealed + Copy {
    /// Bytes of an element.
    const BYTES: usize;
    /// Whether it is a floating-point type.
    const FLOAT: bool;
    /// Appends the element's bytes, lowest first.
    fn put(self, bytes: &mut Vec<u8>);
    /// The element of `BYTES` bytes, lowest first; others are taken as zero.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($t:ty: $float:expr),*) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const BYTES: usize = size_of::<$t>();
            const FLOAT: bool = $float;
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(Self::from_le_bytes([0; size_of::<$t>()]), Self::from_le_bytes)
            }
        }
    )*};
}
elements!(i8: false, u8: false, i16: false, u16: false, i32: false, u32: false, i64: false, u64: false);
elements!(half::f16: true, f32: true, f64: true);

static DEVICES: AtomicU64 = AtomicU64::new(0);

/// A simulated machine with its memory and caches.
pub struct Device {
    number: u64,
    machine: Machine,
    mode: Mode,
    options: Options,
    state: DeviceState,
    buffers: u64,
    printed: Vec<u8>,
}

impl Default for Device {
    /// The built-in default machine.
    fn default() -> Self {
        Device::new(Machine::default_machine())
    }
}

impl Device {
    /// A machine as described, simulated with timing.
    pub fn new(machine: Machine) -> Device {
        let state = DeviceState::new(DeviceMemory::new(machine.memory.device_bytes), &machine);
        let number = DEVICES.fetch_add(1, Ordering::Relaxed);
        let options = Options { translations: crate::build::translations(), ..Options::default() };
        Device { number, machine, mode: Mode::Timing, options, state, buffers: 0, printed: Vec::new() }
    }

    /// Simulate in this mode from now on: with timing, or results only, which is faster.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Device {
        self.mode = mode;
        self
    }

    /// Simulate with these options from now on: checks, limits, host threads. If they name no place for translations, the
    /// device goes on to use the one that the environment names.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Device {
        let translations = options.translations.or(self.options.translations);
        self.options = Options { translations, ..options };
        self
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What kernels have printed since the last call, also those that ended with a fault.
    pub fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }

    /// A buffer with these contents. Its memory is free again when the device is dropped.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn buffer<T: Element>(&mut self, contents: &[T]) -> Result<Buffer<T>, Error> {
        let buffer = self.zeros(contents.len())?;
        self.write(&buffer, contents)?;
        Ok(buffer)
    }

    /// A buffer of zeros.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn zeros<T: Element>(&mut self, elements: usize) -> Result<Buffer<T>, Error> {
        let name = format!("buffer {}", self.buffers);
        let bytes = (elements as u64).saturating_mul(T::BYTES as u64);
        let address = self.state.memory.allocate(&name, bytes)?;
        self.buffers += 1;
        Ok(Buffer { device: self.number, name, address, elements, element: PhantomData })
    }

    /// The contents of a buffer.
    ///
    /// # Errors
    /// [`Error::OtherDevice`].
    pub fn read<T: Element>(&self, buffer: &Buffer<T>) -> Result<Vec<T>, Error> {
        self.owns(buffer.device, &buffer.name)?;
        let bytes = self.state.memory.read(buffer.address, buffer.elements * T::BYTES).unwrap_or_default();
        Ok(bytes.chunks_exact(T::BYTES).map(T::get).collect())
    }

    /// Gives a buffer new contents.
    ///
    /// # Errors
    /// [`Error::OtherDevice`], [`Error::Length`].
    pub fn write<T: Element>(&mut self, buffer: &Buffer<T>, contents: &[T]) -> Result<(), Error> {
        self.owns(buffer.device, &buffer.name)?;
        if contents.len() != buffer.elements {
            return Err(Error::Length { expected: buffer.elements, given: contents.len() });
        }
        let mut bytes = Vec::with_capacity(contents.len() * T::BYTES);
        contents.iter().for_each(|e| e.put(&mut bytes));
        // The allocation has this size.
        let _fits = self.state.memory.write(buffer.address, &bytes);
        self.state.host_wrote(buffer.address, bytes.len() as u64);
        Ok(())
    }

    fn owns(&self, device: u64, what: &str) -> Result<(), Error> {
        if device == self.number { Ok(()) } else { Err(Error::OtherDevice(what.into())) }
    }
}

/// Memory of a device, with elements of one type.
#[derive(Clone, Debug)]
pub struct Buffer<T> {
    device: u64,
    name: String,
    address: u64,
    elements: usize,
    element: PhantomData<T>,
}

impl<T> Buffer<T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.elements
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.elements == 0
    }
}

/// Work-group memory as an argument: bytes of a `__local` pointer's array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalMemory(pub u32);

/// What a kernel can be given: a [`Buffer`], a number, an array of numbers (a vector or structure by value),
/// [`LocalMemory`].
pub trait KernelArgument {
    /// The argument as the runtime takes it, and if it is a buffer, its device and name.
    #[doc(hidden)]
    fn argument(&self) -> (Argument, Option<(u64, &str)>);
}

impl<T> KernelArgument for Buffer<T> {
    fn argument(&self) -> (Argument, Option<(u64, &str)>) {
        (Argument::Pointer { address: self.address }, Some((self.device, &self.name)))
    }
}

impl KernelArgument for LocalMemory {
    fn argument(&self) -> (Argument, Option<(u64, &str)>) {
        (Argument::Local(self.0), None)
    }
}

impl<T: Element> KernelArgument for T {
    fn argument(&self) -> (Argument, Option<(u64, &str)>) {
        let mut bytes = Vec::with_capacity(T::BYTES);
        self.put(&mut bytes);
        (Argument::Value { bytes, float: Some(T::FLOAT) }, None)
    }
}

impl<T: Element, const N: usize> KernelArgument for [T; N] {
    fn argument(&self) -> (Argument, Option<(u64, &str)>) {
        let mut bytes = Vec::with_capacity(N * T::BYTES);
        self.iter().for_each(|e| e.put(&mut bytes));
        (Argument::Value { bytes, float: Some(T::FLOAT) }, None)
    }
}

/// Sizes of a launch: the global size, and if wanted a work-group size and an offset, in one to three
/// dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NdRange {
    global: Vec<u64>,
    local: Option<Vec<u64>>,
    offset: Option<Vec<u64>>,
}

impl NdRange {
    /// This many work-items in each dimension; the runtime chooses the work-group size.
    pub fn new(global: &[u64]) -> NdRange {
        NdRange { global: global.into(), local: None, offset: None }
    }

    /// With work-groups of this size. Those at the end may be smaller.
    #[must_use]
    pub fn local(self, local: &[u64]) -> NdRange {
        NdRange { local: Some(local.into()), ..self }
    }

    /// With global ids from here.
    #[must_use]
    pub fn offset(self, offset: &[u64]) -> NdRange {
        NdRange { offset: Some(offset.into()), ..self }
    }
}

impl From<u64> for NdRange {
    fn from(n: u64) -> Self {
        NdRange::new(&[n])
    }
}

impl<const D: usize> From<[u64; D]> for NdRange {
    fn from(global: [u64; D]) -> Self {
        NdRange::new(&global)
    }
}

static PROGRAMS: AtomicU64 = AtomicU64::new(0);

/// Compiled code, ready to be loaded.
#[derive(Debug)]
pub struct Program {
    number: u64,
    image: Image,
}

impl Program {
    /// Compiles OpenCL C for a device's machine.
    ///
    /// # Errors
    /// [`Error::Compile`].
    pub fn compile(device: &Device, source: &str) -> Result<Program, Error> {
        Program::compile_with(device, source, &CompileOptions::default())
    }

    /// Compiles OpenCL C with options: optimisation level, clang's arguments, techniques on and off.
    ///
    /// # Errors
    /// [`Error::Compile`].
    pub fn compile_with(device: &Device, source: &str, options: &CompileOptions) -> Result<Program, Error> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("kernel.cl");
        std::fs::write(&path, source)?;
        Program::compile_files(device, &[path], options)
    }

    /// Compiles and links files: OpenCL C, LLVM IR and bitcode.
    ///
    /// # Errors
    /// [`Error::Compile`].
    pub fn compile_files(device: &Device, files: &[PathBuf], options: &CompileOptions) -> Result<Program, Error> {
        let mut options = options.clone();
        options.frontend.diagnostics = Diagnostics::Keep;
        Program::from_object(&driver::compile(files, Emit::Obj, &options, device.machine())?.output)
    }

    /// Reads an object that `heddle build` wrote.
    ///
    /// # Errors
    /// [`Error::Object`].
    pub fn from_object(bytes: &[u8]) -> Result<Program, Error> {
        Ok(Program { number: PROGRAMS.fetch_add(1, Ordering::Relaxed), image: read::parse(bytes)? })
    }

    /// Reads an object file that `heddle build` wrote.
    ///
    /// # Errors
    /// [`Error::Object`]; [`Error::Unreadable`].
    pub fn from_object_file(path: &Path) -> Result<Program, Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::Unreadable { path: path.into(), error })?;
        Program::from_object(&bytes)
    }

    /// Names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.image.metadata.launchable().map(|k| k.name.as_str())
    }

    /// A kernel.
    ///
    /// # Errors
    /// [`Error::NoKernel`].
    pub fn kernel(&self, name: &str) -> Result<Kernel<'_>, Error> {
        match self.image.kernel(name) {
            Some(_) => Ok(Kernel { program: self, name: name.into() }),
            None => Err(Error::NoKernel { name: name.into(), known: self.kernels().map(Into::into).collect() }),
        }
    }
}

/// A kernel of a program.
#[derive(Clone, Debug)]
pub struct Kernel<'p> {
    program: &'p Program,
    name: String,
}

impl Kernel<'_> {
    /// Runs the kernel to its end.
    ///
    /// # Errors
    /// [`Error::Launch`] if the arguments do not fit the kernel's parameters or the machine cannot run
    /// work-groups of this size; [`Error::Fault`] for what the kernel does wrong: buffers then hold what it
    /// wrote until then.
    pub fn launch(
        &self,
        device: &mut Device,
        range: impl Into<NdRange>,
        arguments: &[&dyn KernelArgument],
    ) -> Result<Statistics, Error> {
        let range = range.into();
        let spec = Launch {
            kernel: self.name.clone(),
            global: range.global,
            local: range.local,
            offset: range.offset,
            repeat: 1,
            args: Vec::new(),
        };
        spec.validate_sizes().map_err(|m| Error::Launch(format!("kernel `{}`: {m}", self.name)))?;
        let mut values = Vec::new();
        for a in arguments {
            let (argument, buffer) = a.argument();
            if let Some((owner, name)) = buffer {
                device.owns(owner, name)?;
            }
            values.push(argument);
        }
        let image = &self.program.image;
        let data = device.state.load(self.program.number, image)?;
        let request = Request::by_address(&spec, self.program.number, &values, data);
        let simulator = Simulator { machine: &device.machine, mode: device.mode, options: &device.options };
        let launched = device.state.launch(image, &request, &simulator, &mut Printed(&mut device.printed))?;
        let statistics = launched.statistics;
        Ok(statistics)
    }
}

/// Keeps what kernels print.
struct Printed<'a>(&'a mut Vec<u8>);

impl Observer for Printed<'_> {
    fn begins(&mut self, _kernel: &str, _work_groups: u64) -> Box<dyn Fn(u64) + Sync> {
        Box::new(|_| {})
    }
    fn printed(&mut self, text: &[u8]) {
        self.0.extend_from_slice(text);
    }
}
