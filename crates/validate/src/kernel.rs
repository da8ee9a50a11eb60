//! Micro-kernels: assembly text, so that no compiler is in between, and their launches.

use heddle_isa::Inst;
use heddle_isa::encode::decode;
use heddle_object::{Image, asm};
use heddle_sim::{DeviceMemory, Hierarchy, Launch, Options, Program, Simulation, Statistics};
use heddle_target::Machine;
use serde_json::json;

/// Bytes of the constant bank that kernels find their arguments at: how often the loop runs, a number of its
/// own, and the addresses of two buffers.
const ARGUMENTS: [(&str, &str, u32, u32); 4] =
    [("n", "value", 8, 4), ("k", "value", 12, 4), ("a", "global", 16, 8), ("b", "global", 24, 8)];

/// A micro-kernel. Its code runs `body` as often as the launch says.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Instructions before the loop, a line each.
    pub before: String,
    /// Instructions of the loop. They leave `s0` alone, which counts.
    pub body: String,
    /// Instructions behind it.
    pub behind: String,
    /// Main registers that a work-item names; 0: 16.
    pub registers: u32,
    /// Local registers of each cluster that a work-item names, as far as the cluster has so many.
    pub local_registers: u32,
    /// Bytes of work-group memory.
    pub local_bytes: u32,
}

impl Kernel {
    /// A loop.
    pub fn of(body: impl Into<String>) -> Kernel {
        Kernel { body: body.into(), ..Kernel::default() }
    }

    /// The same with instructions before the loop.
    pub fn after(self, before: impl Into<String>) -> Kernel {
        Kernel { before: before.into(), ..self }
    }

    /// Its whole text for a machine.
    fn text(&self, machine: &Machine) -> String {
        let argument = |(name, kind, offset, size): &(&str, &str, u32, u32)| json!({ "name": name, "type_name": "", "kind": kind, "offset": offset, "size": size, "align": 4 });
        let clusters = machine.clusters.len();
        let object = json!({
            "version": 1, "machine": machine.name, "clusters": clusters, "kernels": [], "data_relocations": [], "data_align": 1,
        });
        let registers = if self.registers == 0 { 16 } else { self.registers };
        let local: Vec<u32> = machine.clusters.iter().map(|c| c.local_registers.min(self.local_registers)).collect();
        let header = json!({
            "name": "k", "text_offset": 0, "text_size": 0, "args": ARGUMENTS.iter().map(argument).collect::<Vec<_>>(),
            "local_bytes": self.local_bytes, "private_bytes": 0, "main_registers": registers, "fixed_registers": registers,
            "shared_demand": 0, "local_registers": local, "scalar_registers": 8, "predicate_registers": 2,
            "required_work_group": null, "warp_size": machine.warp_size,
        });
        let Kernel { before, body, behind, .. } = self;
        // To the last line and back, so that the end is there when the loop is left.
        format!(
            ".object {object}\n.kernel {header}\n  bra last\nfirst:\n{before}\n  mov.b32 s0, c[0x8]\nloop:\n{body}\n  \
             sub.b32 s0, s0, 1\n  bras s0, loop\n{behind}\n  exit\nlast:\n  bra first\n"
        )
    }
}

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Work-groups.
    pub groups: u32,
    /// Warps of each.
    pub warps: u32,
    /// Times that the loop runs.
    pub times: u32,
    /// The kernel's own number.
    pub number: u32,
    /// Words of the first buffer; zeros behind them.
    pub words: Vec<u32>,
    /// Bytes of both buffers.
    pub bytes: u64,
}

impl Shape {
    /// One work-group of some warps, with small buffers of zeros.
    pub fn warps(warps: u32) -> Shape {
        Shape { groups: 1, warps, times: 1, number: 0, words: Vec::new(), bytes: 1 << 16 }
    }
}

/// What a launch left.
pub struct Done {
    /// What was counted.
    pub statistics: Statistics,
    /// The instructions, in the order of their profile.
    pub code: Vec<Inst>,
    /// Bytes of both buffers afterwards.
    pub buffers: Vec<u8>,
}

impl Done {
    /// Cycles of the launch.
    pub fn cycles(&self) -> u64 {
        self.statistics.cycles().unwrap_or(0)
    }
}

/// Runs a launch on a machine whose caches are empty.
///
/// # Errors
/// Why the machine cannot run it, as a sentence.
pub fn run(machine: &Machine, kernel: &Kernel, shape: &Shape, options: &Options) -> Result<Done, String> {
    let text = kernel.text(machine);
    let image: Image = asm::assemble(&text).map_err(|e| format!("{e}"))?;
    let code: Vec<Inst> = image.text.iter().map(|w| decode(*w).map_err(|e| e.to_string())).collect::<Result<_, _>>()?;
    let program = Program::from_image(&image, 0, machine).map_err(|e| e.to_string())?;
    let items = shape.warps * machine.warp_size;
    if items > machine.sm.max_work_group_size || shape.warps > machine.sm.max_warps {
        return Err(format!("an SM cannot hold a work-group of {} warps", shape.warps));
    }
    let mut memory = DeviceMemory::new(machine.memory.device_bytes);
    let allocate = |memory: &mut DeviceMemory, name| memory.allocate(name, shape.bytes).map_err(|e| e.to_string());
    let (a, b) = (allocate(&mut memory, "a")?, allocate(&mut memory, "b")?);
    let bytes: Vec<u8> = shape.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    if !memory.write(a, &bytes) {
        return Err("the kernel's numbers do not fit its buffer".into());
    }
    let mut launch = Launch::new(&program, [shape.groups * items, 1, 1], [items, 1, 1]);
    launch.work_dim = 1;
    launch.set_argument(8, &shape.times.to_le_bytes());
    launch.set_argument(12, &shape.number.to_le_bytes());
    launch.set_argument(16, &a.to_le_bytes());
    launch.set_argument(24, &b.to_le_bytes());
    let statistics = Simulation::new(&launch, &memory, machine, options).timing(&mut Hierarchy::new(machine));
    let statistics = statistics.map_err(|fault| fault.to_string())?;
    let bytes = |address| memory.read(address, shape.bytes as usize).unwrap_or_default();
    Ok(Done { statistics, code, buffers: [bytes(a), bytes(b)].concat() })
}
