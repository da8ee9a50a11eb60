//! Machine-layer stages from SSA MIR to allocated code.
