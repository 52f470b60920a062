//! The reports of modules that agree to everything, for benches.

use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Stance};
use orchestrion_kernel::plan::Plan;
use orchestrion_kernel::{Score, Text};

/// Returns the report of a module that agrees. The planner drafts this plan, and every task succeeds.
#[must_use]
pub fn agreeing_report(operation: Operation, plan: &Plan) -> Report {
    let text = Text::from("as agreed");
    match operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Summarize => Report::Summary { text, forgets: None },
        Operation::Classify => Report::Classification { tags: vec![text], similarity: Score::ZERO },
        Operation::DraftPlan => Report::Plan(plan.clone()),
        Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
            Report::Argument {
                argument: Argument { stance: Stance::Pro, confidence: Score::ONE },
                text,
                plan: None,
            }
        }
        Operation::RunTask { .. } | Operation::UndoTask { .. } => {
            Report::Exit { code: 0, text, number: None }
        }
        Operation::Approve => Report::Approval { approved: true, text },
        Operation::Diagnose => Report::NoRepair { text },
        Operation::StoreMemory { .. } => Report::Stored { held: true },
        Operation::DeliverAudit => Report::Delivered,
    }
}
