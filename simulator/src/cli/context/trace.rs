//! A context of a trace as a problem.

use super::ProblemArgs;
use crate::cli::files;
use miette::{Result, miette};
use orchestrion_kernel::context::{ContextError, TokenizerUnavailable};
use orchestrion_report::show::sanitize;
use orchestrion_scenario::policy_file::NamedEnum;
use orchestrion_selection::{NamedProblem, TracePoint, TracePointError};
use orchestrion_trace::TRACE_PREFIX;
use orchestrion_yaml::nearest;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Whether a file is a trace: it says so in its name or in its first line.
pub(super) fn is_trace(path: &Path) -> bool {
    let mut start = Vec::new();
    // What can be read only once is left to whoever reads it.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let read = || File::open(path)?.take(TRACE_PREFIX.len() as u64).read_to_end(&mut start);
    path.extension().is_some_and(|extension| extension == "ndjson")
        || is_file && { read }().is_ok_and(|_| start == TRACE_PREFIX.as_bytes())
}

/// The problem that the options of a verb mean.
pub(super) fn read(about: &ProblemArgs) -> Result<NamedProblem> {
    let reader = files::open_trace(&about.problem).map_err(|error| miette!("{error}"))?;
    let Some(step) = about.step else {
        return Err(miette!(
            help = format!(
                "name the step after which a module is asked, as in --step 9; they are listed by: orchestrion show {}",
                files::quoted(&about.problem)
            ),
            "which step of the trace is meant is not said"
        ));
    };
    let budget = about.budget.map(|budget| {
        u32::try_from(budget).map_err(|_| {
            miette!(
                help = format!("expected at most {}, as in a policy", u32::MAX),
                "a budget of {budget} tokens is too large for a conversation"
            )
        })
    });
    let moment = TracePoint {
        step,
        module: about.module.as_deref().map(one_of).transpose()?,
        budget: budget.transpose()?,
        tokenizer: about.tokenizer.as_deref().map(one_of).transpose()?,
    };
    NamedProblem::from_trace(reader, moment).map_err(|error| {
        let place = if matches!(error, TracePointError::Trace(_)) {
            String::new()
        } else {
            format!("{}: ", sanitize(&about.problem.display().to_string()))
        };
        miette!(help = help(&error), "{place}{error}")
    })
}

fn one_of<T: NamedEnum>(name: &str) -> Result<T> {
    T::ALL.iter().copied().find(|known| known.name() == name).ok_or_else(|| {
        let names: Vec<&str> = T::ALL.iter().map(|known| known.name()).collect();
        let near = nearest(name, names.iter().copied());
        let unknown = T::unknown(&name.escape_debug().to_string());
        miette!(help = format!("{near}the names are {}", names.join(", ")), "{unknown}")
    })
}

fn help(error: &TracePointError) -> String {
    match error {
        TracePointError::Trace(_) => "up to that step the trace must be whole".to_owned(),
        TracePointError::NoSuchStep { steps: 0, .. } => {
            "record a trace with: orchestrion run SCENARIO".to_owned()
        }
        TracePointError::NoSuchStep { steps, .. } => format!("expected a number from 1 to {steps}"),
        TracePointError::NobodyAsked { before: Some(before), .. } => {
            format!("name the module with --module, or a step that asks one, as --step {before}")
        }
        TracePointError::NobodyAsked { before: None, .. } => "name the module with --module".to_owned(),
        TracePointError::Reserved { reserved, .. } => {
            format!("the policy reserves {reserved} tokens for the answer; name a larger --budget")
        }
        TracePointError::Context { error: ContextError::OverBudget(_), .. } => {
            "raise --budget; it includes the reserved tokens".to_owned()
        }
        TracePointError::Context { error: ContextError::TokenizerUnavailable(_), .. } => {
            TokenizerUnavailable::HELP.to_owned()
        }
        TracePointError::Context { .. } => "report this as a bug of the optimizer".to_owned(),
    }
}
