//! The functions behind `heddle.h` and `prefetch`: accesses with an explicit cache policy, prefetches and cache control (K2, K5, K7).

use heddle_llvm_passes::ir::Value;

use super::Selector;
use super::memory::Caching;
use heddle_isa::{CacheName, CacheOperation, CachePolicy, Inst, MemorySpace, Op, Operand, Type};

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

impl Selector<'_> {
    /// A call of one of the functions that `builtins/heddle.h` declares; false if it is another one.
    pub(super) fn cache_call(&mut self, i: Value, name: &str) -> bool {
        let Some(name) = name.strip_prefix("__heddle_") else { return false };
        let parts: Vec<&str> = name.split('_').collect();
        match (&parts[..], i.operand_count().saturating_sub(1)) {
            (["load", policy, bits], 1) => {
                let (Some(caching), Ok(bits)) = (caching(policy), bits.parse::<u32>()) else { return false };
                let Some(address) = self.global_address(i) else { return true };
                let parts = self.load_value(&address, i.ty(), bits / 8, caching, false);
                self.set(i, parts);
            }
            (["store", policy, bits], 2) => {
                let (Some(caching), Ok(bits)) = (caching(policy), bits.parse::<u32>()) else { return false };
                let Some(address) = self.global_address(i) else { return true };
                let value = i.operand(1);
                let parts = self.parts(value);
                self.store_value(&address, value.ty(), &parts, bits / 8, caching);
            }
            (["prefetch", level], 1) => {
                let (cache, operation) = match *level {
                    "1" => (CacheName::D, CacheOperation::Pf1),
                    "15" => (CacheName::U, CacheOperation::Pf15),
                    "2" => (CacheName::D, CacheOperation::Pf2),
                    _ => return false,
                };
                self.control(i, cache, operation);
            }
            (["cache", "query"], 1) => {
                let state = self.control(i, CacheName::D, CacheOperation::Qry1);
                self.set1(i, state);
            }
            (["cache", "write", "back"], 1) => {
                self.control(i, CacheName::D, CacheOperation::Wb);
            }
            (["cache", "invalidate"], 1) => {
                self.control(i, CacheName::D, CacheOperation::Iv);
            }
            (["cache", "discard"], 1) => {
                self.control(i, CacheName::D, CacheOperation::Rs);
            }
            (["cache", "invalidate", "all"], 0) => {
                let mut inst = Inst::new(Op::CacheControl, Type::None, Operand::None, [Operand::None, Operand::None]);
                inst.mods.space = Some(MemorySpace::Global);
                inst.mods.control = Some((CacheName::D, CacheOperation::Ivall));
                self.push(inst);
            }
            _ => return false,
        }
        true
    }

    /// The first argument, a pointer to global memory.
    fn global_address(&mut self, i: Value) -> Option<super::address::Address> {
        let address = self.address(i.operand(0));
        if matches!(address.space, MemorySpace::Global | MemorySpace::Constant) {
            return Some(address);
        }
        self.error(Some(i), format!("an explicit cache policy on {} memory; heddle.h is about global memory", address.space));
        None
    }

    fn control(&mut self, i: Value, cache: CacheName, operation: CacheOperation) -> Operand {
        match self.global_address(i) {
            Some(address) => self.cache_control(&address, cache, operation, 0),
            None => Operand::Immediate(0),
        }
    }
}
