//! The Python package `orchestrion`: the kernel, scenario runs, replays, checks, contexts and experiments.
//!
//! One file for each part, with a function that registers its classes and functions. Another part is a file and a line of
//! [`_native`]. Types and names of this module are private to the package; `orchestrion/__init__.py` lists what is public.
//!
//! Work that takes longer than a decision releases the interpreter lock.

mod call;
mod check;
mod context;
mod encoding;
mod error;
mod event;
mod experiment;
mod experiment_result;
mod input;
mod policy;
mod policy_value;
mod replay;
mod run;
mod state;
mod table;
mod trace;
mod user_claims;
mod verdict;

use pyo3::prelude::*;

/// The module `orchestrion._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    for register in [
        error::register,
        policy::register,
        input::register,
        event::register,
        call::register,
        state::register,
        trace::register,
        run::register,
        replay::register,
        verdict::register,
        check::register,
        context::register,
        experiment::register,
        experiment_result::register,
    ] {
        register(module)?;
    }
    Ok(())
}
