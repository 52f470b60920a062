//! The conditions of triggers and guards.

use super::ast::Condition::{self, Flag, Is, Less, Same};
use super::ast::{BoundName, Term, Var};
use super::input_class::InputClass;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Policy, Trigger};

/// The condition under which `decide` accepts inputs of this trigger, independently of the table.
pub(super) fn admission_condition(trigger: Trigger) -> Condition {
    let pending = || !Condition::is(Var::Call, "no_call");
    match trigger {
        Trigger::SessionStart => !Flag(Var::Session),
        Trigger::SessionEnd | Trigger::UserMessage => Flag(Var::Session),
        Trigger::Reply | Trigger::CallFailed => pending(),
        Trigger::Step => !pending(),
        Trigger::Cancel | Trigger::Write | Trigger::Network | Trigger::Tick | Trigger::Resume => {
            Condition::True
        }
    }
}

/// The condition of a guard for an input of this class.
pub(super) fn guard_condition(policy: &Policy, guard: Guard, class: InputClass) -> Condition {
    let is_class = |expected| if class == expected { Condition::True } else { Condition::False };
    let vetoed = || match policy.rules.sticky_veto {
        true => Flag(Var::Vetoed),
        false => Condition::is(Var::Security, "vetoes"),
    };
    let passes_left = || Less(Term::Of(Var::Pass), Term::Limit(BoundName::Passes));
    let more_tasks = || {
        Condition::all([
            is_class(InputClass::Succeeds),
            Less(Term::Next(Var::Task), Term::Limit(BoundName::Tasks)),
        ])
    };
    match guard {
        Guard::Always => Condition::True,
        Guard::LocksMatch => is_class(InputClass::LocksMatch),
        Guard::CompactionDue => is_class(InputClass::CompactionDue),
        Guard::PlanRevised => {
            Condition::any([is_class(InputClass::PlanRevised), is_class(InputClass::Repaired)])
        }
        Guard::MoreDebaters => Less(Term::Next(Var::Additional), Term::Limit(BoundName::AdditionalDebaters)),
        Guard::Approved => is_class(InputClass::Approves),
        Guard::Vetoed => vetoed(),
        Guard::AnotherPass => Condition::all([passes_left(), Is(Var::Consensus, vec!["below", "between"])]),
        Guard::BelowProceed => Is(Var::Scored, vec!["unscored", "below"]),
        Guard::Outdated => Flag(Var::Outdated),
        Guard::OutdatedPassesLeft => Condition::all([Flag(Var::Outdated), passes_left()]),
        Guard::OutdatedApproved => Condition::all([Flag(Var::Outdated), is_class(InputClass::Approves)]),
        Guard::OutdatedMoreTasks => Condition::all([Flag(Var::Outdated), more_tasks()]),
        Guard::MoreTasks => more_tasks(),
        // The plan of the exported model is a sequence.
        Guard::TasksRunning | Guard::TaskCanStart => Condition::False,
        Guard::AllSucceeded => Same(Term::Of(Var::Task), Term::Limit(BoundName::Tasks)),
        Guard::RepairsExhausted => match policy.bounds.repairs {
            Bound::AtMost(_) => !Less(Term::Of(Var::Repairs), Term::Limit(BoundName::Repairs)),
            Bound::Unbounded => Condition::False,
        },
        Guard::RepairCleared => {
            Condition::all([!vetoed(), Flag(Var::Reviewed), Is(Var::Consensus, vec!["between", "above"])])
        }
        Guard::OutcomeUnknown => is_class(InputClass::OutcomeUnknown),
        Guard::MoreStores => Condition::is(Var::Call, "StoreLocal"),
        Guard::AttemptsLeft => Less(Term::Of(Var::Attempts), Term::Limit(BoundName::Attempts)),
    }
}
