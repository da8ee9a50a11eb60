//! The functions behind `heddle.h` and `prefetch`: accesses with an explicit cache policy, prefetches and
//! cache control (K2, K5, K7).

use crate::Selector;
use crate::address::Address;
use crate::lower::memory::{self, Caching};
use heddle_isa::{CacheName, CacheOperation, CachePolicy, Inst, MemorySpace, Op, Operand, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::Bank;

/// Policies of explicit loads and stores by the name in `heddle.h`.
fn caching(name: &str) -> Option<Caching> {
    Some(match name {
        "ca" | "wb" => CachePolicy::Default.into(),
        "cg" => CachePolicy::Cg.into(),
        "cs" => CachePolicy::Cs.into(),
        "cv" => CachePolicy::Cv.into(),
        "wt" => CachePolicy::Wt.into(),
        "uniform" => Caching { policy: CachePolicy::Default, uniform: true },
        _ => return None,
    })
}

/// A call of one of the functions that `builtins/heddle.h` declares; false if it is another one.
pub(crate) fn cache_call(s: &mut Selector, i: Value, name: &str) -> bool {
    let Some(name) = name.strip_prefix("__heddle_") else { return false };
    let parts: Vec<&str> = name.split('_').collect();
    match (&parts[..], i.operand_count().saturating_sub(1)) {
        (["load", policy, bits], 1) => {
            let (Some(caching), Ok(bits)) = (caching(policy), bits.parse::<u32>()) else { return false };
            let Some(address) = global_address(s, i) else { return true };
            s.uniform_loads.by_program |= caching.uniform;
            let parts = memory::load_value(&mut s.out, &address, &s.cx.leaves(i), bits / 8, caching, Bank::Vector);
            s.values.set(i, parts);
        }
        (["store", policy, bits], 2) => {
            let (Some(caching), Ok(bits)) = (caching(policy), bits.parse::<u32>()) else { return false };
            let Some(address) = global_address(s, i) else { return true };
            let value = i.operand(1);
            let parts = s.parts(value);
            memory::store_value(&mut s.out, &address, &s.cx.leaves(value), &parts, bits / 8, caching);
        }
        (["prefetch", level], 1) => {
            let (cache, operation) = match *level {
                "1" => (CacheName::D, CacheOperation::Pf1),
                "15" => (CacheName::U, CacheOperation::Pf15),
                "2" => (CacheName::D, CacheOperation::Pf2),
                _ => return false,
            };
            control(s, i, cache, operation);
        }
        (["cache", "query"], 1) => {
            let state = control(s, i, CacheName::D, CacheOperation::Qry1);
            s.values.set1(i, state);
        }
        (["cache", "write", "back"], 1) => {
            control(s, i, CacheName::D, CacheOperation::Wb);
        }
        (["cache", "invalidate"], 1) => {
            control(s, i, CacheName::D, CacheOperation::Iv);
        }
        (["cache", "discard"], 1) => {
            control(s, i, CacheName::D, CacheOperation::Rs);
        }
        (["cache", "invalidate", "all"], 0) => {
            let mut inst = Inst::new(Op::CacheControl, Type::None, Operand::None, [Operand::None, Operand::None]);
            inst.mods.space = Some(MemorySpace::Global);
            inst.mods.control = Some((CacheName::D, CacheOperation::Ivall));
            s.out.push(inst);
        }
        _ => return false,
    }
    true
}

/// The first argument, a pointer to global memory.
fn global_address(s: &mut Selector, i: Value) -> Option<Address> {
    let address = s.address(i.operand(0));
    if matches!(address.space, MemorySpace::Global | MemorySpace::Constant) {
        return Some(address);
    }
    s.report.error(Some(i), format!("an explicit cache policy on {} memory; heddle.h is about global memory", address.space));
    None
}

/// Cache control at the place that the first argument points to.
fn control(s: &mut Selector, i: Value, cache: CacheName, operation: CacheOperation) -> Operand {
    match global_address(s, i) {
        Some(address) => memory::cache_control(&mut s.out, &address, cache, operation, 0),
        None => Operand::Immediate(0),
    }
}
