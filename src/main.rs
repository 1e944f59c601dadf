//! The program. Everything it can do is a subcommand in `cli`.

use std::process::ExitCode;

/// Clearly faster than the system's on this load: many small allocations, freed on other threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kith::cli::run()
}
