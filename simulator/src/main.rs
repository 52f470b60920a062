//! The program `orchestrion`.

use std::process::ExitCode;

fn main() -> ExitCode {
    orchestrion::cli::main()
}
