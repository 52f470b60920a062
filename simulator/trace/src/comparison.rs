//! Compares a golden trace with a new run of its scenario.
//!
//! Kernel version, transition table and the digest of the scenario's text are no part of the comparison: they change without a changed
//! decision, as by a comment in the scenario.

use crate::changed_decision::{ChangedDecision, PathStep};
use crate::ending::{EndingFold, RequestEnding};
use crate::layers::DifferenceKind;
use crate::replay::{Difference, compare_steps};
use crate::{Header, Reader, Step, TraceError};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{Input, Phase, State};
use std::io::BufRead;

/// The differences between a golden trace and a new run.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The headers of both.
    pub golden: Header,
    /// See [`Comparison::golden`].
    pub current: Header,
    /// The first step that differs.
    pub first: Option<ComparedStep>,
    /// The number of steps that differ, including those that only one of the two has.
    pub changed_steps: u64,
    /// The number of steps of the new run.
    pub steps: u64,
    /// The first transition or refusal that differs.
    pub decision: Option<ChangedDecision>,
    /// The endings in the golden trace.
    pub golden_endings: Vec<RequestEnding>,
    /// The endings of the new run.
    pub current_endings: Vec<RequestEnding>,
}

/// A step that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedStep {
    /// The part of the step that differs.
    pub part: ComparedPart,
    /// The difference: `recorded` is the golden trace, `replayed` the new run.
    pub difference: Difference,
    /// The networks that both inputs create, if these differ.
    pub networks: Option<Box<[NetworkInput; 2]>>,
}

/// The part of a step that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedPart {
    /// The time of the input, the input itself, or its existence: the scenario changed.
    Input,
    /// The decision about the same input.
    Decision,
    /// Nothing but texts.
    Text,
}

impl Comparison {
    /// Whether the steps and the policy are the same.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.first.is_none()
            && self.golden.policy == self.current.policy
            && self.golden.conversation == self.current.conversation
    }
}

/// Compares a golden trace with a new run of its scenario.
///
/// # Errors
/// [`TraceError`] if a line of either trace cannot be read.
pub fn compare<A: BufRead, B: BufRead>(
    mut golden: Reader<A>,
    mut current: Reader<B>,
) -> Result<Comparison, TraceError> {
    let (golden_header, current_header) = (golden.header().clone(), current.header().clone());
    let initial = State::new(golden_header.conversation.clone()).control().phase();
    let (mut first, mut changed_steps, mut steps) = (None, 0, 0);
    let (mut golden_path, mut current_path) = (Vec::new(), Vec::new());
    let (mut golden_endings, mut current_endings) = (EndingFold::default(), EndingFold::default());
    loop {
        let pair = (golden.next().transpose()?, current.next().transpose()?);
        if pair == (None, None) {
            break;
        }
        if let Some(compared) = compare_pair(pair.0.as_ref(), pair.1.as_ref()) {
            changed_steps += 1;
            first.get_or_insert(compared);
        }
        let add = |step: &Step, path: &mut Vec<PathStep>, endings: &mut EndingFold| {
            let result = step.refused.as_deref().map_or(Ok(step.events.as_slice()), Err);
            let decided = PathStep::from_step(step.n, result);
            // A write of the scenario changes no path: the paths stay comparable if one is inserted.
            path.extend(Some(decided).filter(|decided| !matches!(decided, PathStep::Accepted { .. })));
            endings.apply(&step.events);
        };
        if let Some(step) = &pair.0 {
            add(step, &mut golden_path, &mut golden_endings);
        }
        if let Some(step) = &pair.1 {
            steps += 1;
            add(step, &mut current_path, &mut current_endings);
        }
    }
    Ok(Comparison {
        golden: golden_header,
        current: current_header,
        first,
        changed_steps,
        steps,
        decision: first_change(initial, golden_path, current_path),
        golden_endings: golden_endings.finish(),
        current_endings: current_endings.finish(),
    })
}

/// Returns the first difference of two steps.
pub(crate) fn compare_pair(golden: Option<&Step>, current: Option<&Step>) -> Option<ComparedStep> {
    let input = |step: u64, subject: &str, recorded: String, replayed: String| {
        let difference = Difference { step, subject: subject.to_owned(), recorded, replayed };
        Some(ComparedStep { part: ComparedPart::Input, difference, networks: None })
    };
    let text = |step: &Step| serde_json::to_string(&step.input).unwrap_or_else(|error| error.to_string());
    let (golden, current) = match (golden, current) {
        (None, None) => return None,
        (Some(golden), None) => {
            return input(golden.n, "the input", text(golden), "no further step".to_owned());
        }
        (None, Some(current)) => {
            return input(current.n, "the input", "no further step".to_owned(), text(current));
        }
        (Some(golden), Some(current)) => (golden, current),
    };
    if golden.input != current.input {
        let compared = input(golden.n, "the input", text(golden), text(current))?;
        return Some(ComparedStep { networks: created_networks(&golden.input, &current.input), ..compared });
    }
    if golden.at_ms != current.at_ms {
        let time = |step: &Step| format!("{} ms", step.at_ms);
        return input(golden.n, "the time of the input", time(golden), time(current));
    }
    let (kind, difference) = compare_steps(golden, current)?;
    let part = match kind {
        DifferenceKind::Decisions => ComparedPart::Decision,
        DifferenceKind::Texts => ComparedPart::Text,
    };
    Some(ComparedStep { part, difference, networks: None })
}

/// Returns the networks that two inputs create, if both do.
fn created_networks(golden: &Input, current: &Input) -> Option<Box<[NetworkInput; 2]>> {
    let (Input::Network(golden), Input::Network(current)) = (golden, current) else { return None };
    let are_created =
        matches!((&**golden, &**current), (NetworkInput::Create { .. }, NetworkInput::Create { .. }));
    are_created.then(|| Box::new([(**golden).clone(), (**current).clone()]))
}

/// Returns the first decision in which two paths differ.
fn first_change(mut from: Phase, golden: Vec<PathStep>, current: Vec<PathStep>) -> Option<ChangedDecision> {
    let (mut golden, mut current) = (golden.into_iter(), current.into_iter());
    loop {
        let (recorded, current) =
            (golden.next().unwrap_or(PathStep::End), current.next().unwrap_or(PathStep::End));
        match (&recorded, recorded.is_same(&current)) {
            (_, false) => return Some(ChangedDecision { from, recorded, current }),
            (PathStep::End, true) => return None,
            (PathStep::Transition { row, .. }, true) => from = row.transition().to,
            (PathStep::Accepted { .. } | PathStep::Refused { .. }, true) => {}
        }
    }
}
