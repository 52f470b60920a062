//! Faults of the kernel, and who detects each: semantic ones, written by hand, and systematic [`mutants`].
//!
//! Data flow: [`list`] reads the faults, [`switch`] writes each behind a switch into a source text, [`workspace`] copies the
//! workspace with them, [`program`] builds the copy and runs programs of it, [`suite`] runs the tests, checks and replays of the
//! [`judges`] with one fault at a time, [`results`] keeps what they find for a later run, and [`table`] reports it.

pub mod judges;
pub mod list;
pub mod mutants;
pub mod program;
pub mod results;
pub mod suite;
pub mod switch;
pub mod table;
pub mod workspace;

use std::error::Error;
use std::process::ExitCode;

/// The exit code of a program of this crate: 0 if as much is detected as must be, 1 if not, 2 after an error, which it prints.
pub fn exit_code(result: Result<bool, Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
