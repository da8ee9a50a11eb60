//! The `heddle` command.

mod cli;

use std::process::ExitCode;

/// The simulator's threads allocate and free each other's requests and answers all the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
