//! The context of a call in a trace, as a problem.

use crate::cli::{files, output};
use miette::{Result, miette};
use orchestrion_kernel::context::{ContextError, TokenizerUnavailable};
use orchestrion_report::text::sanitize;
use orchestrion_scenario::policy_file::NamedEnum;
use orchestrion_selection::{NamedProblem, TracePoint, TracePointError};
use orchestrion_trace::TRACE_PREFIX;
use std::io::Read;
use std::path::Path;

/// Options that select a context of a trace.
#[derive(Debug, clap::Args)]
pub(super) struct TraceOptions {
    /// Use the state after this step of the trace.
    #[arg(long, value_name = "STEP")]
    step: Option<u64>,
    /// Select the module, when the problem is a trace [default: the module of the pending call].
    #[arg(long, value_name = "MODULE")]
    module: Option<String>,
    /// Count tokens with this tokenizer, when the problem is a trace: bytes, cl100k_base or o200k_base [default: that of the
    /// policy].
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,
}

impl TraceOptions {
    /// Returns the name of the first option that is given.
    pub(super) fn first_option(&self) -> Option<&'static str> {
        let options = [
            ("step", self.step.is_some()),
            ("module", self.module.is_some()),
            ("tokenizer", self.tokenizer.is_some()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

/// Whether a file is a trace, by its extension or its first line.
pub(super) fn is_trace(path: &Path) -> bool {
    let mut start = Vec::new();
    let mut read = || orchestrion_files::open(path)?.take(TRACE_PREFIX.len() as u64).read_to_end(&mut start);
    path.extension().is_some_and(|extension| extension == "ndjson")
        || read().is_ok_and(|_| start == TRACE_PREFIX.as_bytes())
}

/// Reads the problem of a context.
pub(super) fn read(path: &Path, options: &TraceOptions, budget: Option<u64>) -> Result<NamedProblem> {
    let reader = files::open_trace(path).map_err(|error| miette!("{error}"))?;
    let Some(step) = options.step else {
        return Err(miette!(
            help = format!(
                "name a step that calls a module, such as --step 9; list the steps with: orchestrion show {}",
                output::quoted(path)
            ),
            "missing option --step: the problem is a trace"
        ));
    };
    let budget = budget.map(|budget| {
        u32::try_from(budget).map_err(|_| {
            miette!(
                help = "choose a smaller --budget",
                "budget too large: expected at most {} tokens, found {budget}",
                u32::MAX
            )
        })
    });
    let point = TracePoint {
        step,
        module: options.module.as_deref().map(parse_name).transpose()?,
        budget: budget.transpose()?,
        tokenizer: options.tokenizer.as_deref().map(parse_name).transpose()?,
    };
    NamedProblem::from_trace(reader, point).map_err(|error| {
        let file = if matches!(error, TracePointError::Trace(_)) {
            String::new()
        } else {
            format!("{}: ", sanitize(&path.display().to_string()))
        };
        miette!(help = help(&error), "{file}{error}")
    })
}

fn parse_name<T: NamedEnum>(name: &str) -> Result<T> {
    T::parse(name).map_err(|(message, help)| miette!(help = help, "{message}"))
}

fn help(error: &TracePointError) -> String {
    match error {
        TracePointError::Trace(_) => "the trace must be valid up to that step".to_owned(),
        TracePointError::NoSuchStep { steps: 0, .. } => {
            "record a trace with: orchestrion run SCENARIO".to_owned()
        }
        TracePointError::NoSuchStep { .. } => "list the steps with: orchestrion show TRACE".to_owned(),
        TracePointError::NoPendingCall { previous_call: Some(step), .. } => {
            format!("name the module with --module, or a step that calls one, such as --step {step}")
        }
        TracePointError::NoPendingCall { previous_call: None, .. } => {
            "name the module with --module".to_owned()
        }
        TracePointError::NoContext(_) => "name another module with --module".to_owned(),
        TracePointError::Reserved { .. } => "choose a larger --budget".to_owned(),
        TracePointError::Context { error: ContextError::OverBudget(_), .. } => {
            "raise --budget; it includes the reserved tokens".to_owned()
        }
        TracePointError::Context { error: ContextError::TokenizerUnavailable(_), .. } => {
            TokenizerUnavailable::HELP.to_owned()
        }
        TracePointError::Context { .. } => "this is a bug of the optimizer; please report it".to_owned(),
    }
}
