//! Programs: sources, compiled parts and executables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use opencl_sys::*;

use heddle::build::{BuildFailure, BuildOptions, Builder, Executable, LinkOptions, Linked, Source, Unit};
use heddle::session::SourceText;
use heddle_frontend::spirv::{Binary, SpecConstant, SpecValue};
use heddle_object::Image;
use heddle_object::metadata::KernelHeader;
use heddle_runtime::alike::code_hash;

use super::context::Context;
use super::device::Device;
use crate::object::{Kind, Ref, lock};

/// Is called when a build has ended.
pub type Notify = unsafe extern "C" fn(cl_program, *mut std::ffi::c_void);

/// A program.
pub struct Program {
    /// Its context.
    pub context: Ref<Context>,
    /// Its device.
    pub device: &'static Device,
    /// The source, if it was made of one.
    pub source: Option<Vec<u8>>,
    /// The intermediate language, if it was made of that.
    pub il: Option<Il>,
    /// What messages and debug information call it.
    name: String,
    /// Kernel objects that exist.
    pub kernels: AtomicUsize,
    state: Mutex<State>,
}

/// Intermediate language: SPIR-V.
pub struct Il {
    /// As the program gave it.
    pub bytes: Vec<u8>,
    /// Its specialisation constants.
    constants: Vec<SpecConstant>,
    /// Values that the program has set for them.
    values: Mutex<BTreeMap<u32, Vec<u8>>>,
}

impl Il {
    /// Reads it.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    pub fn new(bytes: &[u8]) -> Result<Il, String> {
        let constants = Binary::read(bytes)?.constants().to_vec();
        Ok(Il { bytes: bytes.to_vec(), constants, values: Mutex::default() })
    }

    /// Bytes of the value of a specialisation constant, if there is one of this number.
    pub fn size_of(&self, id: u32) -> Option<usize> {
        self.constants.iter().find(|c| c.id == id).map(SpecConstant::size)
    }

    /// Sets a specialisation constant for builds from now on.
    pub fn set(&self, id: u32, value: &[u8]) {
        lock(&self.values).insert(id, value.to_vec());
    }

    fn values(&self) -> Vec<(u32, SpecValue)> {
        lock(&self.values).iter().map(|(id, bytes)| (*id, SpecValue::Bytes(bytes.clone()))).collect()
    }
}

/// What building has made so far.
#[derive(Clone, Default)]
pub struct State {
    /// `CL_BUILD_…`.
    pub status: cl_build_status,
    /// The options of the last build.
    pub options: String,
    /// What it said.
    pub log: String,
    /// What there is.
    pub content: Content,
    /// It is built with `-cl-kernel-arg-info`.
    pub argument_info: bool,
}

/// What a program has beside its source.
#[derive(Clone, Default)]
pub enum Content {
    /// Nothing.
    #[default]
    Nothing,
    /// A compiled part, or a library.
    Unit(Arc<Unit>),
    /// Code that can run.
    Executable(Arc<Loaded>),
}

/// Code on the device.
pub struct Loaded {
    /// Its device.
    pub device: &'static Device,
    /// Its number there.
    pub number: u64,
    /// The code.
    pub image: Arc<Image>,
    /// The same as an ELF object, which is the program's binary.
    pub object: Vec<u8>,
    /// What it was built from.
    pub source: SourceText,
    /// The program may ask for the arguments of kernels.
    pub argument_info: bool,
    /// Hashes of the kernels' code, once somebody wants to know.
    pub code_hashes: OnceLock<Vec<String>>,
}

impl Loaded {
    /// A hash of a kernel's code.
    pub fn code_hash(&self, kernel: usize) -> &str {
        let all = || (0..self.image.metadata.kernels.len()).map(|k| code_hash(&self.image, k)).collect();
        self.code_hashes.get_or_init(all).get(kernel).map_or("", String::as_str)
    }

    /// The header of a kernel by its number.
    pub fn header(&self, kernel: usize) -> &KernelHeader {
        &self.image.metadata.kernels[kernel]
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.device.state().unload(self.number);
    }
}

/// How far a build came, for the code of its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Its options are wrong.
    Options,
    /// The program is.
    Program,
}

static PROGRAMS: AtomicU64 = AtomicU64::new(0);

impl Kind for Program {
    const NAME: &'static str = "program";
    const INVALID: cl_int = CL_INVALID_PROGRAM;
    const OUTLIVES_REFERENCES: bool = true;
}

impl Program {
    /// A program with this source and content.
    pub fn new(context: Ref<Context>, device: &'static Device, source: Option<Vec<u8>>, content: Content) -> Program {
        let number = PROGRAMS.fetch_add(1, Ordering::Relaxed) + 1;
        Program {
            context,
            device,
            source,
            il: None,
            name: format!("program-{number}.cl"),
            kernels: AtomicUsize::new(0),
            state: Mutex::new(State { status: CL_BUILD_NONE, content, ..State::default() }),
        }
    }

    /// A program of intermediate language.
    pub fn of_il(context: Ref<Context>, device: &'static Device, il: Il) -> Program {
        let program = Program::new(context, device, None, Content::Nothing);
        let name = Path::new(&program.name).with_extension("spv").display().to_string();
        Program { il: Some(il), name, ..program }
    }

    /// What building has made so far.
    pub fn state(&self) -> State {
        lock(&self.state).clone()
    }

    /// The executable, if the program is built.
    pub fn executable(&self) -> Option<Arc<Loaded>> {
        let state = lock(&self.state);
        match (&state.content, state.status) {
            (Content::Executable(loaded), CL_BUILD_SUCCESS) => Some(loaded.clone()),
            _ => None,
        }
    }

    /// Compiles and links the source; a binary is only loaded.
    ///
    /// # Errors
    /// The log says what is wrong.
    pub fn build(&self, options: &str) -> Result<(), Failed> {
        self.begin(options);
        if self.il.is_some() {
            let loaded = self.compiled(options, &[]).and_then(|unit| self.linked_alone(&unit));
            return self.ended(loaded);
        }
        let Some(source) = &self.source else {
            // Made of a binary.
            let mut state = lock(&self.state);
            let executable = matches!(state.content, Content::Executable(_));
            state.status = if executable { CL_BUILD_SUCCESS } else { CL_BUILD_ERROR };
            return if executable { Ok(()) } else { Err(Failed::Program) };
        };
        let text = Source { name: &self.name, text: source, headers: &[] };
        let files = vec![(self.name.clone(), String::from_utf8_lossy(source).into_owned())];
        let loaded = BuildOptions::parse(options).map_err(BuildFailure::from).and_then(|parsed| {
            let source = SourceText { files, options: parsed.words(), bitcode: None };
            self.load(self.device.builder.build(&text, &parsed)?, source)
        });
        self.ended(loaded)
    }

    /// Compiles the source, with headers by the names that it includes them by.
    ///
    /// # Errors
    /// The log says what is wrong.
    pub fn compile(&self, options: &str, headers: &[(String, Ref<Program>)]) -> Result<(), Failed> {
        self.begin(options);
        let unit = self.compiled(options, headers);
        self.ended(unit.map(|unit| (unit.log.clone(), Content::Unit(Arc::new(unit)))))
    }

    /// The source or the intermediate language, compiled.
    fn compiled(&self, options: &str, headers: &[(String, Ref<Program>)]) -> Result<Unit, BuildFailure> {
        let texts: Vec<(&str, &[u8])> =
            headers.iter().map(|(n, p)| (n.as_str(), p.source.as_deref().unwrap_or_default())).collect();
        let text = self.il.as_ref().map(|il| &il.bytes[..]).or(self.source.as_deref()).unwrap_or_default();
        let source = Source { name: &self.name, text, headers: &texts };
        let values = self.il.as_ref().map(Il::values).unwrap_or_default();
        self.device.builder.compile_source(&source, &BuildOptions::parse(options)?.specialised(values))
    }

    /// An executable of one part.
    fn linked_alone(&self, unit: &Unit) -> Result<(String, Content), BuildFailure> {
        let source = self.recorded_source(&[unit])?;
        match self.device.builder.link(&[unit], &LinkOptions::default())? {
            Linked::Executable(executable) => self.load(executable, source),
            Linked::Library(_) => Err(BuildFailure::Internal("linking made a library, and no program".into())),
        }
    }

    /// Links compiled programs and libraries; this program becomes the result.
    ///
    /// # Errors
    /// The log says what is wrong.
    pub fn link(&self, options: &str, units: &[Arc<Unit>], argument_info: bool) -> Result<(), Failed> {
        self.begin(options);
        lock(&self.state).argument_info = argument_info;
        let parts: Vec<&Unit> = units.iter().map(|u| &**u).collect();
        let linked =
            LinkOptions::parse(options).map_err(BuildFailure::from).and_then(|parsed| self.device.builder.link(&parts, &parsed));
        self.ended(linked.and_then(|linked| match linked {
            Linked::Library(unit) => Ok((unit.log.clone(), Content::Unit(Arc::new(unit)))),
            Linked::Executable(executable) => {
                let source = self.recorded_source(&parts)?;
                self.load(executable, source)
            }
        }))
    }

    /// Linked code before Heddle's part, which recorded launches are built from again, and how far it is optimised.
    fn recorded_source(&self, parts: &[&Unit]) -> Result<SourceText, BuildFailure> {
        if self.device.session.options().record.is_none() {
            return Ok(SourceText::default());
        }
        let bitcode = Some(self.device.builder.linked_bitcode(parts)?);
        Ok(SourceText { files: Vec::new(), options: Builder::linked_options(parts), bitcode })
    }

    fn begin(&self, options: &str) {
        let mut state = lock(&self.state);
        state.status = CL_BUILD_IN_PROGRESS;
        state.options = options.into();
        state.argument_info = options.contains("-cl-kernel-arg-info");
        state.log.clear();
    }

    /// Makes an executable of an object.
    fn load(&self, executable: Executable, source: SourceText) -> Result<(String, Content), BuildFailure> {
        let Executable { object, log, .. } = executable;
        let mut loaded = load(self.device, object, source).map_err(BuildFailure::Internal)?;
        loaded.argument_info = lock(&self.state).argument_info;
        Ok((log, Content::Executable(Arc::new(loaded))))
    }

    fn ended(&self, result: Result<(String, Content), BuildFailure>) -> Result<(), Failed> {
        let mut state = lock(&self.state);
        let (failed, earlier) = match result {
            Ok((log, content)) => {
                state.status = CL_BUILD_SUCCESS;
                state.log = log;
                (None, std::mem::replace(&mut state.content, content))
            }
            Err(failure) => {
                state.status = CL_BUILD_ERROR;
                state.log = failure.log();
                let failed = if matches!(failure, BuildFailure::Options(_)) { Failed::Options } else { Failed::Program };
                (Some(failed), std::mem::take(&mut state.content))
            }
        };
        drop(state);
        // It takes the device's lock.
        drop(earlier);
        failed.map_or(Ok(()), Err)
    }
}

/// Loads an object.
///
/// # Errors
/// A sentence: it is none, or for another machine.
pub fn load(device: &'static Device, object: Vec<u8>, source: SourceText) -> Result<Loaded, String> {
    let image = heddle_object::read::parse(&object).map_err(|e| e.to_string())?;
    for kernel in 0..image.metadata.kernels.len() {
        heddle_sim::Program::from_image(&image, kernel, &device.machine).map_err(|e| e.to_string())?;
    }
    Ok(Loaded {
        device,
        number: device.next_image(),
        image: Arc::new(image),
        object,
        source,
        argument_info: false,
        code_hashes: OnceLock::new(),
    })
}
