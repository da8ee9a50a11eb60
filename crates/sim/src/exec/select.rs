//! The choice of the function that executes an instruction, and the operations that are no accesses and no loops over lanes of
//! `heddle-lanes`: those that read other lanes, and fences.

use super::copy::blend;
use super::{Decoded, Execute, Lanes, access, texture};
use heddle_isa::{CrossLane, Inst, Meaning, MemoryAction};
use heddle_lanes::LaneLoop;

fn take_first<const ROWS: u16, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let lane = (l.mask.trailing_zeros() as usize).min(N - 1);
    for k in 0..ROWS {
        let v = l.row(d.src[0] + k)[lane];
        *l.row_mut(d.dst + k) = [v; N];
    }
}

fn ballot<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let v = l.predicate(d, 0) & l.mask;
    *l.row_mut(d.dst) = [v as u32; N];
    *l.row_mut(d.dst + 1) = [(v >> 32) as u32; N];
}

fn shuffle<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let (values, places) = (*l.row(d.src[0]), *l.row(d.src[1]));
    let active = l.active(d);
    let value = |place: u32| values[place as usize % N];
    if d.scalar {
        *l.row_mut(d.dst) = [value(places[0]); N];
    } else {
        blend(l.row_mut(d.dst), &places.map(value), active);
    }
}

/// The operations whose meaning is a function of one lane's operands.
fn lanewise<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let active = l.active(d);
    // SAFETY: rows are numbered by `Program::load`, within the file that `prepare` allocated.
    unsafe { d.lane_loop.run(&mut l.rows, &mut l.predicates, active, &d.operands) }
}

/// What executes an instruction: the function, and the loop for it to run where that is [`lanewise`]. `None` if it has a type or
/// modifiers without a meaning.
pub(super) fn select<const N: usize>(inst: &Inst) -> Option<(Execute<N>, LaneLoop<N>)> {
    let run: Execute<N> = match LaneLoop::select(inst) {
        Meaning::Lane(lane_loop) => return lane_loop.map(|lane_loop| (lanewise::<N> as Execute<N>, lane_loop)),
        Meaning::CrossLane(CrossLane::First) => match inst.ty.words() {
            1 => take_first::<1, N>,
            2 => take_first::<2, N>,
            _ => return None,
        },
        Meaning::CrossLane(CrossLane::Ballot) => ballot,
        Meaning::CrossLane(CrossLane::Shuffle) => shuffle,
        Meaning::Memory(MemoryAction::Load) => access::select_load(inst)?,
        Meaning::Memory(MemoryAction::Store) => access::select_store(inst)?,
        Meaning::Memory(MemoryAction::Atomic) => access::select_atomic(inst)?,
        Meaning::Memory(MemoryAction::Fence) => fence,
        Meaning::Memory(MemoryAction::ReadImage) => texture::select_read(inst)?,
        Meaning::Memory(MemoryAction::WriteImage) => texture::select_write(inst)?,
        Meaning::Memory(MemoryAction::CacheControl) => access::select_control(inst),
        // What ends a block is the front end's; the others change no value.
        Meaning::Control => |_, _| (),
        Meaning::Pseudo => return None,
    };
    Some((run, LaneLoop::NONE))
}

/// Memory is in program order within a warp, and the host's atomics order the rest.
fn fence<const N: usize>(l: &mut Lanes<N>, _: &Decoded<N>) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    if let Some(checker) = l.checker {
        checker.borrow_mut().fence();
    }
}
