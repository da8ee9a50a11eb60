//! Heddle: an out-of-tree GPU target for LLVM.
//!
//! OpenCL C goes through clang to LLVM IR; inkwell-driven passes analyse and rewrite the IR; a machine layer
//! selects, clusters, schedules, allocates and encodes; a simulator of the same machine runs the object and
//! says what it cost. The modules stand in order of the data flow: [`frontend`], [`isel`], [`mir`],
//! [`codegen`], [`object`], [`runtime`], [`sim`], [`report`]; [`isa`] and [`target`] are what they share.
//! [`explore`] runs many points of machines, options and cases.
//!
//! # As a library
//!
//! [`library`] compiles, loads and launches in a few lines:
//!
//! ```
//! use heddle::{Device, Program};
//!
//! let mut device = Device::default();
//! let source = "__kernel void scale(__global float *a, float f) { a[get_global_id(0)] *= f; }";
//! let program = Program::compile(&device, source)?;
//! let a = device.buffer(&[1.0f32, 2.0, 3.0, 4.0])?;
//! let statistics = program.kernel("scale")?.launch(&mut device, 4, &[&a, &2.5f32])?;
//! assert_eq!(device.read(&a)?, [2.5, 5.0, 7.5, 10.0]);
//! assert_eq!((statistics.work_items, statistics.warps), (4, 1));
//! println!("{} instructions, {} cycles", statistics.instructions, statistics.cycles().unwrap_or(0));
//! # Ok::<(), heddle::Error>(())
//! ```
//!
//! Every error is a value that says what is wrong and where:
//!
//! ```
//! use heddle::{Device, Error, Program};
//!
//! let mut device = Device::default();
//! let error = Program::compile(&device, "__kernel void k(__global int *a) { a[0] = b; }").unwrap_err();
//! assert!(error.to_string().contains("kernel.cl:1:43: error: use of undeclared identifier 'b'"), "{error}");
//!
//! let program = Program::compile(&device, "__kernel void k(__global int *a, int i) { a[i] = 1; }")?;
//! let a = device.zeros::<i32>(16)?;
//! let kernel = program.kernel("k")?;
//! // An argument too few, a work-group that no SM can take, and an access outside the buffer.
//! assert!(matches!(kernel.launch(&mut device, 1, &[&a]), Err(Error::Launch(_))));
//! assert!(matches!(kernel.launch(&mut device, heddle::NdRange::new(&[4096]).local(&[4096]), &[&a, &0]), Err(Error::Launch(_))));
//! let Err(Error::Fault(fault)) = kernel.launch(&mut device, 1, &[&a, &1000]) else { panic!("it is out of bounds") };
//! println!("{fault}");
//! assert!(matches!(program.kernel("other"), Err(Error::NoKernel { .. })));
//! # Ok::<(), Error>(())
//! ```

pub mod build;
pub mod debug;
pub mod driver;
pub mod explore;
mod hash;
pub mod library;
pub mod options;
pub mod session;

pub use heddle_codegen as codegen;
pub use heddle_frontend as frontend;
pub use heddle_isa as isa;
pub use heddle_isel as isel;
pub use heddle_mir as mir;
pub use heddle_object as object;
pub use heddle_report as report;
pub use heddle_runtime as runtime;
pub use heddle_sim as sim;
pub use heddle_target as target;

pub use heddle_runtime::run::Mode;
pub use heddle_sim::Statistics;
pub use heddle_target::Machine;
pub use library::{Buffer, Device, Element, Error, Kernel, KernelArgument, LocalMemory, NdRange, Program};
