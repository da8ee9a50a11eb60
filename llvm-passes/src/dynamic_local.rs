//! Work-group memory whose size the launch says.
//!
//! # Problem
//! `extern __shared__ float s[];` of CUDA and HIP is a variable in local memory without a definition: its size comes with the
//! launch, and all such variables of a kernel have one address. Here memory of that kind comes in as an argument, as a
//! `__local` pointer does in OpenCL C.
//!
//! # Algorithm
//! Once everything is inlined, a kernel that uses such variables gets one more parameter, a pointer to local memory with the
//! first one's name, which stands for all of them. Constant expressions that have them become instructions.
//!
//! # Reference
//! CUDA C++ Programming Guide, "Shared Memory" (`__shared__`).

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMTypeRef;
use inkwell::module::Module;

use crate::error::PassError;
use crate::ir::build::{Builder, UNNAMED, context_of};
use crate::ir::signature::with_parameters;
use crate::ir::{self, Value, address_space, function, is_kernel};

/// Gives kernels a parameter in the place of local variables that are declared only.
///
/// # Errors
/// A constant expression of a kind that clang does not make.
pub fn lower(module: &Module) -> Result<(), PassError> {
    let declared = |g: &Value| g.address_space() == address_space::LOCAL && g.is_declaration();
    let variables: Vec<Value> = module.get_globals().map(Value::of).filter(declared).collect();
    if variables.is_empty() {
        return Ok(());
    }
    for kernel in function::bodies(module).into_iter().filter(|f| is_kernel(*f)) {
        let mut found = Found { variables: &variables, first: None, users: Vec::new() };
        ir::blocks(kernel).iter().flat_map(|b| b.instructions()).for_each(|i| found.look_at(i));
        if let Some(first) = found.first {
            replace(module, kernel, first, &found)?;
        }
    }
    Ok(())
}

/// The uses of variables in a kernel.
struct Found<'a> {
    variables: &'a [Value],
    /// The variable that is met first.
    first: Option<Value>,
    /// Instructions that have one among their operands, or in constants there.
    users: Vec<Value>,
}

impl Found<'_> {
    fn look_at(&mut self, instruction: Value) {
        if let Some(variable) = instruction.operands().find_map(|o| self.within(o, &mut HashSet::new())) {
            self.first.get_or_insert(variable);
            self.users.push(instruction);
        }
    }

    /// The variable that a constant is or has in it.
    fn within(&self, constant: Value, seen: &mut HashSet<Value>) -> Option<Value> {
        if self.variables.contains(&constant) {
            return Some(constant);
        }
        if constant.constant_opcode().is_none() || !seen.insert(constant) {
            return None;
        }
        constant.operands().find_map(|o| self.within(o, seen))
    }
}

/// Gives a kernel the parameter, and puts it in the place of the variables.
fn replace(module: &Module, kernel: Value, first: Value, found: &Found) -> Result<(), PassError> {
    let name = first.name();
    let mut types: Vec<LLVMTypeRef> = ir::params(kernel).into_iter().map(Value::ty).collect();
    types.push(first.ty());
    let kernel = with_parameters(module, kernel, &mut types);
    let Some(parameter) = ir::params(kernel).pop() else { return Ok(()) };
    // SAFETY: a live parameter, whose new name is copied.
    unsafe { LLVMSetValueName2(parameter.0, name.as_ptr().cast(), name.len()) };
    let rebuild = Rebuild { found, parameter };
    let context = context_of(module);
    for user in &found.users {
        for n in 0..user.operand_count() {
            let operand = user.operand(n);
            if found.within(operand, &mut HashSet::new()).is_none() {
                continue;
            }
            // A phi's value is made where its edge begins.
            let before = match user.opcode() {
                LLVMPHI => user.incoming().nth(n as usize).map_or(*user, |(_, block)| block.terminator()),
                _ => *user,
            };
            let builder = Builder::before(context, before);
            let value = rebuild.constant(&builder, operand)?;
            // SAFETY: a live instruction, and a value of the operand's type that is defined before it.
            unsafe { LLVMSetOperand(user.0, n, value.0) };
        }
    }
    Ok(())
}

/// Makes instructions of constants.
struct Rebuild<'a> {
    found: &'a Found<'a>,
    /// What stands for the variables.
    parameter: Value,
}

impl Rebuild<'_> {
    fn constant(&self, b: &Builder, constant: Value) -> Result<Value, PassError> {
        if self.found.variables.contains(&constant) {
            return Ok(self.parameter);
        }
        if self.found.within(constant, &mut HashSet::new()).is_none() {
            return Ok(constant);
        }
        let mut operands = constant.operands().map(|o| Ok(self.constant(b, o)?.0)).collect::<Result<Vec<_>, PassError>>()?;
        let opcode = constant.constant_opcode();
        // SAFETY: a live constant expression with operands of the same types as before, in a kernel that the builder stands in.
        let result = unsafe {
            match (opcode, operands.split_first_mut()) {
                (Some(LLVMGetElementPtr), Some((base, indices))) => {
                    let element = LLVMGetGEPSourceElementType(constant.0);
                    let count = indices.len() as u32;
                    match LLVMIsInBounds(constant.0) != 0 {
                        true => LLVMBuildInBoundsGEP2(b.0, element, *base, indices.as_mut_ptr(), count, UNNAMED),
                        false => LLVMBuildGEP2(b.0, element, *base, indices.as_mut_ptr(), count, UNNAMED),
                    }
                }
                (Some(cast @ (LLVMAddrSpaceCast | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMTrunc)), Some((of, []))) => {
                    LLVMBuildCast(b.0, cast, *of, constant.ty(), UNNAMED)
                }
                (Some(sum @ (LLVMAdd | LLVMSub)), Some((left, [right]))) => LLVMBuildBinOp(b.0, sum, *left, *right, UNNAMED),
                _ => {
                    let text = constant.text();
                    return Err(PassError::Llvm(format!("local memory whose size the launch says, in the constant `{text}`")));
                }
            }
        };
        Ok(Value(result))
    }
}
