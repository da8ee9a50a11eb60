//! ELF objects: the file a compilation leaves and the simulator loads.
pub mod metadata;
