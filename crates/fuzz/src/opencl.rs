//! Random programs on an OpenCL implementation of the host (PoCL and others), for comparison.
//!
//! The ICD loader (`libOpenCL`) is opened at run time, so that Heddle neither needs it to build nor to run. The implementation lives in a child process,
//! [`serve`]: it brings an LLVM of its own, and a crash or a hang in its compiler must cost one program, not the run. Parent and child exchange one
//! line of JSON a job. A child is replaced after [`JOBS_OF_A_CHILD`] jobs, and with it the folder that it may use as its cache: implementations keep
//! what they compiled.
//!
//! May touch: the host's OpenCL. Knows nothing of the compiler or the simulator.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::error_codes::DLOPEN_RUNTIME_LOAD_FAILED;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_uchar};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::generate::{STRUCT_N, STRUCT_P};
use heddle_runtime::case::{Argument, Case};

/// What the child process is started with (see `heddle-fuzz`).
pub const CHILD: &str = "--opencl-child";
/// Jobs after which a child is replaced.
pub const JOBS_OF_A_CHILD: u32 = 250;
/// How long a child may take for a job.
const PATIENCE: Duration = Duration::from_secs(60);
/// How programs are built.
const BUILD_OPTIONS: &str = "-cl-std=CL3.0 -w";
/// Without optimisation: PoCL takes 0.37 s a program then and 0.62 s with it, and is the better judge.
const UNOPTIMISED: &str = " -cl-opt-disable";

/// An OpenCL device as its platform describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Platform, version of its driver, device.
    pub name: String,
    /// Whether the last work-groups of a launch may be smaller than the others.
    pub non_uniform: bool,
    /// Whether it has work-group functions (OpenCL C 3.0 makes them optional); programs bring some of their own otherwise.
    pub collectives: bool,
}

/// One launch.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    source: String,
    kernel: String,
    global: Vec<usize>,
    local: Vec<usize>,
    arguments: Vec<JobArgument>,
    buffers: BTreeMap<String, Vec<u8>>,
    /// Built with the implementation's optimisation.
    optimise: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum JobArgument {
    Buffer(String),
    Value(Vec<u8>),
    Local(u32),
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Ready(Description),
    Done(BTreeMap<String, Vec<u8>>),
    Failed(String),
}

/// A child process with an OpenCL device.
pub struct Client {
    wanted: String,
    description: Description,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Answer>,
    jobs: u32,
    /// The child's folder for temporary files and caches, removed with it.
    _folder: TempDir,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

impl Process {
    fn start(wanted: &str) -> Result<(Process, Description), String> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        let folder = tempfile::tempdir().map_err(|e| format!("cannot make a temporary folder: {e}"))?;
        let mut command = Command::new(program);
        command.args([CHILD, wanted]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("TMPDIR", folder.path());
        // PoCL: nothing kept on disk, one thread, as there is a child for each of ours.
        command.env("POCL_CACHE_DIR", folder.path()).env("POCL_KERNEL_CACHE", "0");
        command.env("POCL_MAX_PTHREAD_COUNT", "1").env("POCL_CPU_MAX_CU_COUNT", "1");
        let mut child = command.spawn().map_err(|e| format!("cannot start the OpenCL process: {e}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the OpenCL process has no pipes".into());
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // An implementation may print lines of its own.
                if let Ok(answer) = serde_json::from_str::<Answer>(&line) {
                    if sender.send(answer).is_err() {
                        return;
                    }
                }
            }
        });
        let process = Process { child, input, answers, jobs: 0, _folder: folder };
        match process.answers.recv_timeout(PATIENCE) {
            Ok(Answer::Ready(description)) => Ok((process, description)),
            Ok(Answer::Failed(message)) => Err(message),
            Ok(Answer::Done(_)) | Err(_) => Err("OpenCL's libraries end the process that loads them".into()),
        }
    }

    fn run(&mut self, job: &Job) -> Result<Answer, String> {
        self.jobs += 1;
        let line = serde_json::to_string(job).map_err(|e| e.to_string())? + "\n";
        // If the child has ended, waiting for its answer says so.
        let _sent = self.input.write_all(line.as_bytes()).and_then(|()| self.input.flush());
        match self.answers.recv_timeout(PATIENCE) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => Err(format!("no result after {} s", PATIENCE.as_secs())),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                Err(format!("its compiler or the kernel ended the process ({status})"))
            }
        }
    }
}

impl Client {
    /// Starts a child with the first device whose name contains `wanted` (any, if empty).
    ///
    /// # Errors
    /// Why there is none: no ICD loader, no platform, no such device.
    pub fn start(wanted: &str) -> Result<Client, String> {
        let (process, description) = Process::start(wanted)?;
        Ok(Client { wanted: wanted.into(), description, process: Some(process) })
    }

    /// The device.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Runs a case's first launch, built with the implementation's optimisation or without. Returns the buffers' contents.
    ///
    /// # Errors
    /// What the implementation reports, or that it crashed or hung.
    pub fn run(&mut self, source: &str, case: &Case, optimise: bool) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let job = Job { optimise, ..job(source, case)? };
        let mut process = match self.process.take().filter(|p| p.jobs < JOBS_OF_A_CHILD) {
            Some(p) => p,
            None => Process::start(&self.wanted)?.0,
        };
        // After an error of its transport the child is not used again.
        let answer = process.run(&job)?;
        self.process = Some(process);
        match answer {
            Answer::Done(buffers) => Ok(buffers),
            Answer::Failed(message) => Err(message),
            Answer::Ready(_) => Err("the OpenCL process answers out of turn".into()),
        }
    }
}

fn job(source: &str, case: &Case) -> Result<Job, String> {
    let launch = case.launches.first().ok_or("the case has no launch")?;
    let sizes = |v: &[u64]| v.iter().map(|n| *n as usize).collect::<Vec<_>>();
    let arguments = launch.arguments()?.into_iter().map(|a| match a {
        Argument::Buffer { name, offset: 0 } => Ok(JobArgument::Buffer(name)),
        Argument::Value { bytes, .. } => Ok(JobArgument::Value(bytes)),
        Argument::Local(bytes) => Ok(JobArgument::Local(bytes)),
        other => Err(format!("an argument that only Heddle takes: {other:?}")),
    });
    let contents = |(name, b): (&String, &heddle_runtime::case::Buffer)| Ok((name.clone(), b.contents(&case.folder)?.data));
    Ok(Job {
        source: source.into(),
        kernel: launch.kernel.clone(),
        global: sizes(&launch.global),
        local: sizes(launch.local.as_deref().unwrap_or(&[])),
        arguments: arguments.collect::<Result<_, String>>()?,
        buffers: case.buffers.iter().map(contents).collect::<Result<_, String>>()?,
        optimise: false,
    })
}

/// The child process: says which device it has, then answers jobs until its input ends.
///
/// # Errors
/// Standard input or output fails.
pub fn serve(wanted: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    let mut say = |answer: &Answer| -> std::io::Result<()> {
        let line = serde_json::to_string(answer).map_err(std::io::Error::other)?;
        writeln!(out, "{line}")?;
        out.flush()
    };
    let (context, queue, options) = match open(wanted) {
        Ok((context, queue, description)) => {
            let options = format!("{BUILD_OPTIONS}{}", if description.collectives { "" } else { " -DNO_COLLECTIVES" });
            say(&Answer::Ready(description))?;
            (context, queue, options)
        }
        Err(message) => return say(&Answer::Failed(message)),
    };
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str::<Job>(&line?) {
            Ok(job) => {
                let options = format!("{options}{}", if job.optimise { "" } else { UNOPTIMISED });
                launch(&context, &queue, &job, &options).map_or_else(Answer::Failed, Answer::Done)
            }
            Err(e) => Answer::Failed(e.to_string()),
        };
        say(&answer)?;
    }
    Ok(())
}

/// Opens the first device that can compile and whose description contains `wanted`.
fn open(wanted: &str) -> Result<(Context, CommandQueue, Description), String> {
    let platforms = get_platforms().map_err(|e| match e.0 {
        DLOPEN_RUNTIME_LOAD_FAILED => {
            "there is no OpenCL ICD loader (libOpenCL); on Debian: apt-get install ocl-icd-libopencl1 pocl-opencl-icd".into()
        }
        _ => format!("the OpenCL ICD loader finds no platform: {e}"),
    })?;
    let mut seen = Vec::new();
    for platform in platforms {
        // A platform may be there without a device.
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let device = Device::new(id);
            let text = |r: opencl3::Result<String>| r.unwrap_or_else(|_| "?".into());
            let name = format!("{} {}, {}", text(platform.name()), text(device.driver_version()), text(device.name()));
            if !name.contains(wanted) || !device.compiler_available().unwrap_or(false) {
                seen.push(name);
                continue;
            }
            let description = Description {
                name,
                non_uniform: device.non_uniform_work_group_support().unwrap_or(false),
                collectives: device.work_group_collective_functions_support().unwrap_or(false),
            };
            let context = Context::from_device(&device).map_err(|e| format!("{}: no context: {e}", description.name))?;
            // SAFETY: the device is one of the context's.
            let queue = unsafe { CommandQueue::create_with_properties(&context, id, 0, 0) };
            let queue = queue.map_err(|e| format!("{}: no command queue: {e}", description.name))?;
            return Ok((context, queue, description));
        }
    }
    Err(match (seen.is_empty(), wanted.is_empty()) {
        (true, _) => "the OpenCL platforms have no device".into(),
        (false, true) => format!("no OpenCL device has a compiler: {}", seen.join("; ")),
        (false, false) => format!("no OpenCL device is called `{wanted}`; there are: {}", seen.join("; ")),
    })
}

fn launch(context: &Context, queue: &CommandQueue, job: &Job, options: &str) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let program = Program::create_and_build_from_source(context, &job.source, options)?;
    let kernel = Kernel::create(&program, &job.kernel).map_err(|e| e.to_string())?;
    let mut buffers = BTreeMap::new();
    for (name, bytes) in &job.buffers {
        // SAFETY: no host pointer is handed over.
        let buffer = unsafe { Buffer::<cl_uchar>::create(context, CL_MEM_READ_WRITE, bytes.len().max(1), std::ptr::null_mut()) };
        let mut buffer = buffer.map_err(|e| e.to_string())?;
        // SAFETY: the buffer has room for the bytes, and the call waits for the copy.
        unsafe { queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, bytes, &[]) }.map_err(|e| e.to_string())?;
        buffers.insert(name.as_str(), buffer);
    }
    let mut execute = ExecuteKernel::new(&kernel);
    for a in &job.arguments {
        // SAFETY: kinds and sizes are those of the kernel's parameters; the implementation checks sizes.
        unsafe {
            match a {
                JobArgument::Buffer(name) => {
                    execute.set_arg(buffers.get(name.as_str()).ok_or_else(|| format!("no buffer `{name}`"))?)
                }
                JobArgument::Local(bytes) => execute.set_arg_local_buffer(*bytes as usize),
                JobArgument::Value(bytes) => match bytes[..] {
                    [a] => execute.set_arg(&a),
                    [a, b] => execute.set_arg(&u16::from_le_bytes([a, b])),
                    [a, b, c, d] => execute.set_arg(&u32::from_le_bytes([a, b, c, d])),
                    [a, b, c, d, e, f, g, h] => execute.set_arg(&u64::from_le_bytes([a, b, c, d, e, f, g, h])),
                    _ => match (<[u8; STRUCT_N]>::try_from(&bytes[..]), <[u8; STRUCT_P]>::try_from(&bytes[..])) {
                        (Ok(whole), _) => execute.set_arg(&whole),
                        (_, Ok(tight)) => execute.set_arg(&tight),
                        _ => return Err(format!("an argument of {} bytes", bytes.len())),
                    },
                },
            };
        }
    }
    execute.set_global_work_sizes(&job.global);
    if !job.local.is_empty() {
        execute.set_local_work_sizes(&job.local);
    }
    // SAFETY: the program stays within its buffers; it is made so.
    unsafe { execute.enqueue_nd_range(queue) }.map_err(|e| format!("launch: {e}"))?;
    queue.finish().map_err(|e| format!("run: {e}"))?;
    let mut result = BTreeMap::new();
    for (name, bytes) in &job.buffers {
        let mut data = vec![0u8; bytes.len()];
        if let Some(buffer) = buffers.get(name.as_str()) {
            // SAFETY: as above.
            unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut data, &[]) }.map_err(|e| e.to_string())?;
        }
        result.insert(name.clone(), data);
    }
    Ok(result)
}
