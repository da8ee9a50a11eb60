//! Instruction selection: LLVM IR to MIR.
