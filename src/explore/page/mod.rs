//! Pages of `heddle sweep`, `compare` and `ablate`: one file each, with its figures inside. They are made of
//! [`heddle_report::html::blocks`].

pub mod ablate;
pub mod compare;
pub mod pareto;
