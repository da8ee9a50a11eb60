//! Register renaming, the compiler's side (REN-1, REN-4 … REN-7): which shared main register is free when.
//!
//! Registers `F..M` of the main file are shared: a write maps the name to a physical register, a release
//! gives it back. This stage places the releases in allocated code and measures the kernel's greatest
//! simultaneous demand.
//!
//! # Where a name is free
//! A warp's lanes may wait on one side of a divergent branch while others run, so a register is free only
//! when no lane of the warp, active or waiting, will read it: liveness in the *linear* view of
//! [`heddle_mir::liveness`], the same as for scalar registers (REN-7). On it:
//! - the last read releases its operand (a mark, REN-5);
//! - a result that nothing reads is released behind its instruction;
//! - a register that is live out of a predecessor but not into a block is released at the block's start. If
//!   last reads lie in both arms of a branch this is their nearest common post-dominator (REN-6), whichever
//!   arms ran;
//! - before an `exit`, what waiting lanes might still need is released on the condition that none wait
//!   (`release` with 1): the warp ends. Where other lanes go on than those that might have needed it, it is
//!   released there.
//!
//! Releasing a name that is not mapped does nothing.
//!
//! # Ablation
//! [`Release::Value`] releases after every value's last read; [`Release::Name`] only where nothing mentions
//! the register any more.
//!
//! # Proof
//! [`super::release_check`] follows every way of a warp on its own.

use cranelift_entity::{EntityRef, SecondaryMap};

use super::CodegenError;
use super::context::Context;
use super::names::Names;
use heddle_isa::{Inst, Op, Operand, PhysReg, Space, Type, VReg};
use heddle_mir::cfg::Cfg;
use heddle_mir::liveness::Liveness;
use heddle_mir::{Block, Function, RegClass};
use heddle_target::Machine;

/// When a name is given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Release {
    /// After the last read of each value.
    #[default]
    Value,
    /// After the last mention of the register's name.
    Name,
}

fn reads(inst: &Inst, i: usize) -> Names {
    inst.srcs[i].as_phys().map_or(Names::default(), |r| Names::of(r, inst.src_words(i)))
}

fn writes(inst: &Inst) -> Names {
    inst.dst.as_phys().map_or(Names::default(), |r| Names::of(r, inst.dst_words()))
}

/// Live main registers at the boundaries of blocks, in the linear view.
struct Live {
    start: SecondaryMap<Block, Names>,
    end: SecondaryMap<Block, Names>,
}

/// Linear liveness of main registers: of a copy of the function in which each aligned quad of main registers
/// is a scalar register.
fn linear(function: &Function, cfg: &Cfg, mode: Release) -> Live {
    let mut shadow = function.clone();
    shadow.vregs.clear();
    shadow.local = SecondaryMap::new();
    for _ in 0..64 {
        shadow.vregs.push(RegClass::scalar(4));
    }
    let quad = |op: &mut Operand| {
        if let Some(PhysReg { space: Space::Main, index }) = op.as_phys() {
            *op = Operand::virt_word(VReg::new(usize::from(index / 4)), index % 4);
        }
    };
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut shadow.blocks[block].insts);
        for mut inst in insts {
            inst.srcs.iter_mut().for_each(quad);
            quad(&mut inst.dst);
            if mode == Release::Name && inst.dst.as_virt().is_some() {
                // Every mention counts as a read, and no write ends anything.
                let ty = match inst.dst_words() {
                    2 => Type::B64,
                    4 => Type::B128,
                    _ => Type::B32,
                };
                shadow.blocks[block].insts.push(Inst::new(Op::Release, ty, Operand::None, [inst.dst]));
                inst.dst = Operand::None;
            }
            shadow.blocks[block].insts.push(inst);
        }
    }
    let live = Liveness::new(&shadow, cfg);
    let mut result = Live { start: SecondaryMap::new(), end: SecondaryMap::new() };
    let names = |list: &mut dyn Iterator<Item = (VReg, u8)>| {
        list.fold(Names::default(), |mut names, (quad, mask)| {
            for w in (0..4).filter(|w| mask >> w & 1 == 1) {
                let i = quad.index() * 4 + w;
                names.insert(i as u8);
            }
            names
        })
    };
    for &block in &function.layout {
        result.start[block] = names(&mut live.live_in(block));
        result.end[block] = names(&mut live.live_out(block));
    }
    result
}

/// What waiting lanes need while each block runs: registers live into the other side of a divergent branch,
/// or into the block where its lanes meet. A write in the block is masked and does not end them, and the name
/// may hold other values of the active lanes meanwhile.
fn held(function: &Function, cfg: &Cfg, live: &Live) -> SecondaryMap<Block, Names> {
    let mut held: SecondaryMap<Block, Names> = SecondaryMap::new();
    for d in cfg.divergent_branches(function) {
        let joined = d.reconverge.map_or(Names::default(), |j| live.start[j]);
        let sides = [(d.fall_through, joined.or(live.start[d.taken])), (d.taken, joined)];
        for (from, names) in sides {
            for b in cfg.region(from, d.reconverge).ones().map(Block::new) {
                held[b] = held[b].or(names);
            }
        }
    }
    held
}

/// What may still be mapped where a warp goes on with other lanes because those that ran have ended: an exit
/// leaves what waiting lanes might need, and they need not be those that do wait.
fn left_by_exits(function: &Function, cfg: &Cfg, live: &Live, held: &SecondaryMap<Block, Names>) -> SecondaryMap<Block, Names> {
    let mut left: SecondaryMap<Block, Names> = SecondaryMap::new();
    for d in cfg.divergent_branches(function) {
        for (from, next) in [(d.fall_through, Some(d.taken)), (d.taken, d.reconverge)] {
            let Some(next) = next else { continue };
            for b in cfg.region(from, d.reconverge).ones().map(Block::new) {
                if function.blocks[b].insts.last().is_some_and(|i| i.op == Op::Exit) {
                    left[next] = left[next].or(live.end[b]).or(held[b]);
                }
            }
        }
    }
    left
}

/// What may stay mapped while the other side of a divergent branch runs, of lanes that have come to the block where lanes meet:
/// a register that they do not read any more is released there, when all have come.
fn left_where_lanes_meet(function: &Function, cfg: &Cfg, live: &Live) -> SecondaryMap<Block, Names> {
    let mut left: SecondaryMap<Block, Names> = SecondaryMap::new();
    for d in cfg.divergent_branches(function) {
        let Some(meet) = d.reconverge else { continue };
        let first = cfg.region(d.fall_through, d.reconverge);
        let come = cfg.edges[meet].preds.iter().filter(|p| first.contains(p.index()));
        let names = come.fold(Names::default(), |names, p| names.or(live.end[*p]));
        for b in cfg.region(d.taken, d.reconverge).ones().map(Block::new) {
            left[b] = left[b].or(names);
        }
    }
    left
}

/// Instructions that release a set; `condition`: only if no lane waits.
fn releases(mut names: Names, condition: bool, like: &Inst) -> Vec<Inst> {
    let mut code = Vec::new();
    while let Some(first) = names.first() {
        let run = (0..4).take_while(|w| names.has((first + w).min(255))).count() as u32;
        let (ty, words) = match run {
            4 if first % 4 == 0 => (Type::B128, 4),
            2..=4 if first % 2 == 0 => (Type::B64, 2),
            _ => (Type::B32, 1),
        };
        let reg = Operand::phys(Space::Main, first as u8);
        let mut inst = Inst::new(Op::Release, ty, Operand::None, [reg]);
        inst.imm = i32::from(condition);
        inst.loc = like.loc;
        names = names.without(inst.srcs[0].as_phys().map_or(Names::default(), |r| Names::of(r, words)));
        code.push(inst);
    }
    code
}

/// Share of a warp's time in which it holds at most what [`Function::shared_typical`] says. An average would
/// make more warps resident, which then spend their time waiting for each other's registers: measured by
/// `bench rename`.
const TYPICAL: f64 = 0.9;

/// Places the releases of a function and notes its demand.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    place(function, context.machine, context.options.release);
    Ok(())
}

/// Places the releases of a function whose registers from [`Function::fixed_registers`] on are shared, and
/// notes its demand.
pub fn place(function: &mut Function, machine: &Machine, mode: Release) {
    let Some(fixed) = function.fixed_registers else { return };
    let shared = Names::from(fixed);
    let cfg = Cfg::new(function);
    let live = linear(function, &cfg, mode);
    let held = held(function, &cfg, &live);
    let left = left_by_exits(function, &cfg, &live, &held);
    let lingering = left_where_lanes_meet(function, &cfg, &live);
    let mut demand = 0;
    // Time by registers held.
    let mut time = [0.0f64; 257];
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.blocks[block].insts);
        let issue = issue_times(machine, &insts);
        let frequency = f64::from(function.blocks[block].frequency);
        let waiting = held[block].and(shared);
        let lingering = lingering[block].and(shared);
        let mut after = live.end[block].and(shared).or(waiting);
        let mut reversed: Vec<Inst> = Vec::with_capacity(insts.len() + 4);
        for (mut inst, i) in insts.into_iter().zip(issue).rev() {
            let written = writes(&inst).and(shared);
            let mut behind = written.without(after);
            let mut read = Names::default();
            for i in (0..inst.srcs.len()).rev() {
                let names = reads(&inst, i).and(shared);
                let dead = names.without(after).without(written).without(read);
                if !dead.is_empty() && dead == names {
                    inst.release |= 1 << i;
                } else {
                    behind = behind.or(dead);
                }
                read = read.or(names);
            }
            if inst.op == Op::Exit && !after.is_empty() {
                // The waiting lanes' registers, if there are none.
                reversed.push(inst.clone());
                let like = inst.clone();
                reversed.extend(releases(after, true, &like).into_iter().rev());
            } else {
                reversed.extend(releases(behind, false, &inst).into_iter().rev());
                reversed.push(inst.clone());
            }
            let guarded = inst.guard.is_some() || mode == Release::Name;
            demand = demand.max(after.or(read).or(written).or(lingering).count());
            after = if guarded { after.or(written) } else { after.without(written) }.or(read).or(waiting);
            time[after.count() as usize] += frequency * i;
        }
        let arriving = cfg.edges[block].preds.iter().fold(Names::default(), |n, p| n.or(live.end[*p])).and(shared);
        demand = demand.max(arriving.count());
        let like = reversed.last().cloned().unwrap_or_else(|| Inst::new(Op::Nop, Type::None, Operand::None, []));
        reversed.extend(
            releases(arriving.or(left[block].and(shared)).without(live.start[block]).without(waiting), false, &like)
                .into_iter()
                .rev(),
        );
        reversed.reverse();
        function.blocks[block].insts = reversed;
    }
    function.shared_demand = demand;
    let mut left = TYPICAL * time.iter().sum::<f64>();
    function.shared_typical = time
        .iter()
        .position(|t| {
            left -= t;
            left <= 0.0
        })
        .map_or(demand, |n| demand.min(n as u32));
}

/// Cycles that a warp alone spends before each instruction issues, from the one before: issue in order,
/// operands by their latencies.
fn issue_times(machine: &Machine, insts: &[Inst]) -> Vec<f64> {
    let mut ready: rustc_hash::FxHashMap<PhysReg, u32> = Default::default();
    let mut cycle = 0;
    let mut times = Vec::with_capacity(insts.len());
    for inst in insts {
        let mut at = cycle + 1;
        for i in 0..inst.srcs.len() {
            if let Some(reg) = inst.srcs[i].as_phys() {
                at = at.max(ready.get(&reg).copied().unwrap_or(0));
            }
        }
        if let Some(reg) = inst.dst.as_phys() {
            for w in 0..inst.dst_words().max(1) {
                ready.insert(PhysReg { space: reg.space, index: reg.index.wrapping_add(w) }, at + machine.latency(inst.class()));
            }
        }
        times.push(f64::from(at - cycle));
        cycle = at;
    }
    times
}
