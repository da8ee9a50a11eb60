//! Private and local memory: where a kernel's variables are, and what they need together.

use heddle_isa::MemorySpace;
use heddle_llvm_passes::ir::layout::Layout;
use heddle_llvm_passes::ir::{Value, address_space};
use heddle_llvm_passes::memory;
use heddle_mir::Function;
use heddle_object::metadata::{MOST_LOCAL_BYTES, MOST_PRIVATE_BYTES, Redzone};
use inkwell::llvm_sys::LLVMOpcode::*;
use rustc_hash::FxHashMap;

use crate::address::Address;
use crate::lower::copies;
use crate::{Selector, constants, select};

/// Bytes of local memory that are kept free where the null pointer needs an address of its own.
const NULL_BYTES: u32 = 16;

/// What the variables in private and local memory need, which may be more than an address can reach.
pub(crate) struct Storage {
    /// Byte offsets of variables in local memory that have been met.
    local_offsets: FxHashMap<Value, u32>,
    private_bytes: u64,
    local_bytes: u64,
    /// Leave bytes behind each variable that nothing may access.
    redzones: bool,
}

impl Storage {
    /// With nothing in it.
    pub fn new(redzones: bool) -> Storage {
        Storage { local_offsets: FxHashMap::default(), private_bytes: 0, local_bytes: 0, redzones }
    }

    /// Makes room for a variable; its byte address.
    fn allocate(&mut self, f: &mut Function, space: MemorySpace, bytes: u64, align: u32) -> u32 {
        let (used, all) = match space {
            MemorySpace::Local => (&mut f.local_bytes, &mut self.local_bytes),
            _ => (&mut f.private_bytes, &mut self.private_bytes),
        };
        let at = used.checked_next_multiple_of(align).unwrap_or(0);
        *all = all.checked_next_multiple_of(align.into()).unwrap_or(u64::MAX).saturating_add(bytes);
        *used = at.wrapping_add(bytes as u32);
        // Too much memory is an error anyway.
        if self.redzones && *all < u64::from(u32::MAX / 2) {
            let zone = Redzone::behind(space, *used);
            *all = all.next_multiple_of(4) + u64::from(zone.end - zone.start);
            *used = zone.end;
            f.redzones.push(zone);
        }
        at
    }

    /// The byte address of a variable in local memory. What [`place_local_variables`] has not met gets its place here.
    pub fn local_variable(&mut self, f: &mut Function, layout: &Layout, variable: Value) -> u32 {
        if let Some(offset) = self.local_offsets.get(&variable) {
            return *offset;
        }
        let ty = variable.variable_type();
        let align = variable.alignment().max(layout.alignment(ty));
        let bytes = layout.checked_size(ty).unwrap_or(u64::MAX);
        let offset = self.allocate(f, MemorySpace::Local, bytes, align);
        self.local_offsets.insert(variable, offset);
        offset
    }
}

/// Whether there is the memory that the kernel's variables need; an error where there is not.
pub(crate) fn check_memory(s: &mut Selector) -> bool {
    let sizes = [
        ("private memory a work-item", s.storage.private_bytes, MOST_PRIVATE_BYTES),
        ("local memory a work-group", s.storage.local_bytes, MOST_LOCAL_BYTES),
    ];
    let mut fits = true;
    for (what, bytes, most) in sizes.into_iter().filter(|(_, bytes, most)| *bytes > u64::from(*most)) {
        s.report.kernel_error(format!("kernel `{}` needs {bytes} bytes of {what}; at most {most} are possible", s.out.f.name));
        fits = false;
    }
    fits
}

/// Gives the kernel's variables in local memory their places, the most aligned first: then nothing stays free between those whose sizes are
/// multiples of their alignments.
/// Those that are aligned alike keep the order of their first use.
pub(crate) fn place_local_variables(s: &mut Selector) {
    let blocks = s.cx.uniformity.cfg().blocks.iter();
    let instructions = blocks.flat_map(|b| b.instructions()).filter(|i| !i.is_debug());
    let mut variables: Vec<Value> = Vec::new();
    for operand in instructions.flat_map(|i| i.operands()) {
        constants::variables_of(operand, &mut |v| {
            if v.address_space() == address_space::LOCAL && !v.is_declaration() && !variables.contains(&v) {
                variables.push(v);
            }
        });
    }
    let alignment = |v: &Value| v.alignment().max(s.cx.layout.alignment(v.variable_type()));
    variables.sort_by_key(|v| std::cmp::Reverse(alignment(v)));
    for variable in variables {
        s.storage.local_variable(&mut s.out.f, s.cx.layout, variable);
    }
}

/// Keeps offset 0 of local memory free if the kernel could take it for the null pointer: where local pointers
/// are compared or leave their space.
pub(crate) fn reserve_null(s: &mut Selector) {
    let tells = |i: Value| {
        matches!(i.opcode(), LLVMICmp | LLVMAddrSpaceCast | LLVMPtrToInt | LLVMStore)
            && i.operand(0).is_pointer()
            && i.operand(0).address_space() == address_space::LOCAL
    };
    let constants = |i: Value| i.operands().any(|o| o.is_constant() && constants::leaves_local(o));
    let blocks = &s.cx.uniformity.cfg().blocks;
    if blocks.iter().flat_map(|b| b.instructions()).any(|i| tells(i) || constants(i)) {
        s.storage.local_bytes = NULL_BYTES.into();
        s.out.f.local_bytes = NULL_BYTES;
    }
}

/// Private variables get their addresses; by-value structures that are written get their copies.
pub(crate) fn entry_code(s: &mut Selector) {
    s.out.current = s.out.f.layout[0];
    let blocks = s.cx.uniformity.cfg().blocks.clone();
    for i in blocks.iter().flat_map(|b| b.instructions()).filter(|i| i.opcode() == LLVMAlloca) {
        select::locate(s, i);
        let Some(count) = constants::sign_extended(i.operand(0)) else {
            s.report.error(Some(i), "an array whose size is not a constant is not supported");
            continue;
        };
        let ty = i.allocated_type();
        let align = i.alignment().max(s.cx.layout.alignment(ty)).max(1);
        let bytes = s.cx.layout.checked_size(ty).unwrap_or(u64::MAX).saturating_mul(count as u64);
        let at = s.storage.allocate(&mut s.out.f, MemorySpace::Private, bytes, align);
        s.addresses.set(i, Address::zero(MemorySpace::Private, at as i32));
    }
    for p in s.cx.params.clone() {
        if s.arguments.by_value.contains_key(&p) && !memory::only_loaded(p) {
            copy_by_value(s, p);
        }
    }
}

/// Copies a structure argument to private memory, where the kernel's stores go.
fn copy_by_value(s: &mut Selector, p: Value) {
    let Some(argument) = s.arguments.by_value.get(&p).copied() else { return };
    let at = s.storage.allocate(&mut s.out.f, MemorySpace::Private, argument.size.into(), argument.align.max(4));
    let from = s.address(p);
    s.addresses.forget(p);
    if let Some(b) = s.arguments.by_value.get_mut(&p) {
        b.copy = Some(at);
    }
    let to = s.address(p);
    copies::copy_bytes(&mut s.out, (&to, &from), argument.size, argument.align.min(16), copies::MOST_WORDS);
}
