//! The first cause of the differences between two traces.

use super::side::ReadStep;
use crate::changed_decision::{ChangedDecision, PathStep};
use crate::comparison::compare_pair;
use crate::format::Header;
use crate::replay::Difference;
use orchestrion_kernel::Phase;
use orchestrion_kernel::network::NetworkInput;

/// Where two traces differ first, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The kind.
    pub kind: CauseKind,
    /// The numbers of the steps in A and in B; `None` where a trace has no further step, or no step differs.
    pub steps: [Option<u64>; 2],
    /// The phase in which both conversations were.
    pub from: Option<Phase>,
    /// The first part that differs: `recorded` in A, `replayed` in B.
    pub difference: Option<Difference>,
    /// The networks that both inputs create, if these differ.
    pub networks: Option<Box<[NetworkInput; 2]>>,
    /// The decision on the path of control, where it differs: `recorded` in A, `current` in B.
    pub decision: Option<ChangedDecision>,
}

/// Why two traces differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// Another input. The cause is outside of the kernel.
    Input,
    /// The same input at another time, and another decision. The cause is outside of the kernel.
    Time,
    /// The same input, and another decision under another policy.
    Policy,
    /// The same input, and another decision of another version of the kernel, under the same policy.
    Kernel,
    /// The same input, and another decision by the same kernel under the same policy: one of the traces is not what this kernel decides.
    Recording,
    /// The policies differ, and no step does.
    UnusedPolicy,
}

impl Cause {
    /// Determines the cause of the first change from the next step of both traces. Before it, both conversations had the same steps.
    pub(super) fn new([a, b]: [Option<&ReadStep>; 2], from: Phase, headers: &[Header; 2]) -> Self {
        let compared = compare_pair(a.map(|step| &**step), b.map(|step| &**step));
        let (difference, networks) =
            compared.map_or((None, None), |compared| (Some(compared.difference), compared.networks));
        let is_same_input = a.zip(b).is_some_and(|(a, b)| a.plain.input == b.plain.input);
        let time = |step: Option<&ReadStep>| step.map(|step| step.at_ms);
        let kind = if !is_same_input {
            CauseKind::Input
        } else if headers[0].policy != headers[1].policy {
            CauseKind::Policy
        } else if headers[0].kernel != headers[1].kernel || headers[0].table != headers[1].table {
            CauseKind::Kernel
        } else if time(a) != time(b) {
            CauseKind::Time
        } else {
            CauseKind::Recording
        };
        let path = |step: Option<&ReadStep>| {
            step.map_or(PathStep::End, |step| {
                let result = step.refused.as_deref().map_or(Ok(step.events.as_slice()), Err);
                PathStep::from_step(step.n, result)
            })
        };
        let (recorded, current) = (path(a), path(b));
        let decision = (is_same_input && !recorded.is_same(&current)).then_some(ChangedDecision {
            from,
            recorded,
            current,
        });
        let number = |step: Option<&ReadStep>| step.map(|step| step.n);
        Self { kind, steps: [number(a), number(b)], from: Some(from), difference, networks, decision }
    }

    /// Returns the cause of traces with equal steps, if their policies differ.
    pub(super) fn of_policies(headers: &[Header; 2]) -> Option<Self> {
        (headers[0].policy != headers[1].policy).then_some(Self {
            kind: CauseKind::UnusedPolicy,
            steps: [None, None],
            from: None,
            difference: None,
            networks: None,
            decision: None,
        })
    }
}
