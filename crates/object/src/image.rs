//! What an object holds, in memory: what code generation and the assembler make, and the simulator loads.

use heddle_isa::encode::decode;
use heddle_isa::{Inst, SourceLoc};

use crate::INSTRUCTION_BYTES;
use crate::error::ObjectError;
use crate::metadata::ObjectMetadata;

/// A module in the form an object holds; also what the assembler makes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// Metadata.
    pub metadata: ObjectMetadata,
    /// Instruction words.
    pub text: Vec<u128>,
    /// Data section.
    pub data: Vec<u8>,
    /// Source files.
    pub files: Vec<String>,
    /// Position of each instruction; as long as `text`.
    pub lines: Vec<SourceLoc>,
}

impl Image {
    /// Decodes the instructions of a kernel.
    ///
    /// # Errors
    /// The first word that is no instruction.
    pub fn decode(&self, kernel: usize) -> Result<Vec<Inst>, ObjectError> {
        let Some(k) = self.metadata.kernels.get(kernel) else { return Err(ObjectError("no such kernel".into())) };
        let first = k.text_offset as usize / INSTRUCTION_BYTES;
        let count = k.text_size as usize / INSTRUCTION_BYTES;
        (first..first + count)
            .map(|i| {
                let word = self.text.get(i).copied().unwrap_or(0);
                let mut inst =
                    decode(word).map_err(|e| ObjectError(format!("kernel `{}`, instruction {}: {e}", k.name, i - first)))?;
                inst.loc = self.lines.get(i).copied().unwrap_or_default();
                Ok(inst)
            })
            .collect()
    }

    /// Index of a kernel by name; of its versions the one for all launches.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.metadata.kernels.iter().position(|k| k.name == name && !k.rows_fill_warps)
    }
}
