//! What a step changes, derived from the columns of its row and from what `State::apply` does with its events.

use super::ast::Condition::{self, Flag, Is, Less, Same};
use super::ast::{BoundName, Expr, Lifetime, Term, Var};
use super::input_class::InputClass;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};
use orchestrion_kernel::control::transition::{DecisionKind, EntryAction, ExitAction};
use orchestrion_kernel::module::{ConclusionKind, Operation, Role, Store};
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Phase, Policy, Trigger};
use std::collections::BTreeMap;

/// What a step changes. All values are computed before any variable is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The variables that are set, each to one of these values.
    pub sets: BTreeMap<Var, Vec<Expr>>,
    /// The lifetimes that end: their variables are reset to the initial values.
    pub resets: Vec<Lifetime>,
}

/// The effects of a row from this phase, for an input of this class.
pub(super) fn effects(policy: &Policy, from: Phase, row: &Transition, class: InputClass) -> Effects {
    let mut step = EffectsBuilder { policy, from, row, class, effects: Effects::default() };
    step.name(Var::Row, row.id);
    step.set(Var::Before, Expr::Of(Var::Phase));
    step.set(Var::CallBefore, Expr::Of(Var::Call));
    step.record_input();
    row.exit.iter().for_each(|action| step.run_exit_action(*action));
    if let Some(rule) = row.conclusion {
        step.name(Var::Conclusion, kind_name(rule.kind));
    }
    step.take_transition();
    row.entry.iter().for_each(|action| step.run_entry_action(*action));
    let Effects { mut sets, resets } = step.effects;
    sets.retain(|var, _| !resets.contains(&var.lifetime()));
    Effects { sets, resets }
}

/// Builds the effects of one step. A later value replaces an earlier one.
struct EffectsBuilder<'a> {
    policy: &'a Policy,
    from: Phase,
    row: &'a Transition,
    class: InputClass,
    effects: Effects,
}

impl EffectsBuilder<'_> {
    fn choose(&mut self, var: Var, values: Vec<Expr>) {
        self.effects.sets.insert(var, values);
    }

    fn set(&mut self, var: Var, value: Expr) {
        self.choose(var, vec![value]);
    }

    fn name(&mut self, var: Var, name: &'static str) {
        self.set(var, Expr::Name(name));
    }

    fn number(&mut self, var: Var, number: u32) {
        self.set(var, Expr::Number(number));
    }

    fn flag(&mut self, var: Var, on: bool) {
        self.set(var, Expr::Test(if on { Condition::True } else { Condition::False }));
    }

    fn increment(&mut self, var: Var) {
        self.set(var, Expr::OneMore(var));
    }

    fn record_input(&mut self) {
        self.name(
            Var::Input,
            match self.row.on {
                Trigger::Step | Trigger::Write | Trigger::Network | Trigger::Tick | Trigger::Resume => {
                    "no_input"
                }
                Trigger::SessionStart | Trigger::SessionEnd | Trigger::UserMessage => "user_input",
                Trigger::Reply => "reply",
                Trigger::CallFailed => "call_failed",
                Trigger::Cancel if self.row.ignores_cancel() => "late_cancel",
                Trigger::Cancel => "cancel",
            },
        );
        match self.row.on {
            Trigger::SessionStart => self.flag(Var::Session, true),
            Trigger::SessionEnd => self.flag(Var::Session, false),
            Trigger::UserMessage => {
                self.effects.resets.extend([Lifetime::Request, Lifetime::Plan]);
                self.name(Var::Request, "running");
            }
            Trigger::Reply => self.record_reply(),
            Trigger::CallFailed => {
                self.end_call();
                if self.from == Phase::RunningTasks {
                    self.flag(Var::Failed, true);
                    if self.class == InputClass::OutcomeUnknown {
                        self.flag(Var::OutcomeUnknown, true);
                    }
                }
            }
            Trigger::Cancel if self.row.ignores_cancel() => {}
            Trigger::Cancel => {
                self.name(Var::Call, "no_call");
                self.flag(Var::Cancelled, true);
            }
            Trigger::Step | Trigger::Write | Trigger::Network | Trigger::Tick | Trigger::Resume => {}
        }
    }

    /// Ends the pending call. A compensation is over then, whether it succeeded or not.
    fn end_call(&mut self) {
        self.name(Var::Call, "no_call");
        if self.from == Phase::RollbackActive {
            self.set(Var::Undoable, Expr::OneLess(Var::Undoable));
        }
    }

    fn record_reply(&mut self) {
        self.end_call();
        if self.from == Phase::Planning {
            self.adopt_plan();
        }
        if let Phase::Round(_) = self.from {
            self.increment(Var::Argued);
        }
        if self.from == Phase::AdditionalRounds {
            self.increment(Var::Additional);
        }
        match self.class {
            InputClass::LocksMatch => self.flag(Var::Verified, true),
            InputClass::PlanRevised | InputClass::Repaired => self.adopt_plan(),
            InputClass::Agrees | InputClass::Objects | InputClass::Vetoes => {
                self.name(Var::Security, self.class.name());
                self.flag(Var::Reviewed, true);
                if self.class == InputClass::Vetoes {
                    self.flag(Var::Vetoed, true);
                }
            }
            InputClass::Approves => self.flag(Var::Approved, true),
            InputClass::Declines => self.flag(Var::Approved, false),
            InputClass::Exits => self.flag(Var::Failed, true),
            InputClass::Succeeds => {
                self.increment(Var::Task);
                let last = Same(Term::Next(Var::Task), Term::Limit(BoundName::Tasks));
                self.set(Var::Succeeded, Expr::Test(last));
            }
            InputClass::Any
            | InputClass::LockDiffers
            | InputClass::CompactionDue
            | InputClass::CompactionNotDue
            | InputClass::PlanKept
            | InputClass::NoRepair
            | InputClass::OutcomeKnown
            | InputClass::OutcomeUnknown => {}
        }
        // This was the last argument before the next phase scores the consensus.
        let scores = |next: &Transition| {
            next.from.contains(self.row.to) && next.exit.contains(&ExitAction::ScoreConsensus)
        };
        if TRANSITIONS.iter().any(scores) {
            self.choose(Var::Consensus, cells(self.policy).map(Expr::Name).collect());
        }
    }

    /// Adopts a plan that is not yet reviewed, scored or approved.
    fn adopt_plan(&mut self) {
        self.name(Var::Input, "new_plan");
        for var in [Var::Reviewed, Var::ScoreCurrent, Var::Approved, Var::Succeeded] {
            self.flag(var, false);
        }
    }

    fn run_exit_action(&mut self, action: ExitAction) {
        match action {
            ExitAction::ScoreConsensus => {
                self.set(Var::Scored, Expr::Of(Var::Consensus));
                self.flag(Var::ScoreCurrent, true);
            }
            ExitAction::Decide(kind) => self.decide_plan(kind),
            ExitAction::FinalAnswer => self.increment(Var::FinalAnswers),
            // Ratings and reports are not modelled.
            ExitAction::UpdateRatings | ExitAction::ReportExecution | ExitAction::AbandonAudit => {}
        }
    }

    fn decide_plan(&mut self, kind: DecisionKind) {
        let is_scored_here = self.row.exit.contains(&ExitAction::ScoreConsensus);
        let score = if is_scored_here { Var::Consensus } else { Var::Scored };
        let reached = || Expr::Name("ConsensusReached");
        let label = match kind {
            DecisionKind::Veto => Expr::Name("VETO"),
            DecisionKind::Reject => Expr::Name("REJECT"),
            DecisionKind::Outdate => Expr::Name("OUTDATED"),
            DecisionKind::Proceed if self.policy.rules.below_threshold_label => {
                let below = Box::new(Expr::Name("ProceedBelowThreshold"));
                Expr::If(Condition::is(score, "above"), Box::new(reached()), below)
            }
            DecisionKind::Proceed => reached(),
        };
        self.set(Var::Decision, label);
        self.set(Var::DecidedOn, Expr::Of(score));
        let named = if self.policy.rules.named_objections { objection() } else { Condition::False };
        self.set(Var::ObjectionNamed, Expr::Test(named));
    }

    /// The changes that `State::apply` makes when the phase changes.
    fn take_transition(&mut self) {
        let (from, to) = (self.from, self.row.to);
        if from != to {
            self.name(Var::Phase, to.name());
        }
        if !from.is_quiescent() && to.is_quiescent() {
            self.name(Var::Request, "ended");
        }
        if let Phase::Round(_) = to {
            if from == Phase::Planning {
                self.number(Var::Pass, 1);
            }
            if matches!(from, Phase::MultiPassCheck | Phase::ResolvingDecision) {
                self.increment(Var::Pass);
                self.number(Var::Argued, 1);
                if !self.policy.additional_debaters.is_empty() {
                    self.number(Var::Additional, 0);
                }
                self.name(Var::Security, "no_argument");
                self.flag(Var::Reviewed, false);
                self.flag(Var::Outdated, false);
                self.name(Var::Scored, "unscored");
                self.flag(Var::ScoreCurrent, false);
            }
        }
        if from == Phase::Failure || to == Phase::RollbackActive {
            self.number(Var::Task, 0);
            self.flag(Var::Failed, false);
        }
        if to == Phase::StoringMemory && from != to {
            self.effects.resets.push(Lifetime::Plan);
        }
        if to == Phase::Blocked {
            self.flag(Var::Blocked, true);
        }
        // Facts may change before the next step reads this.
        let reads_outdated = |next: &Transition| {
            next.from.contains(to) && next.switch.is_on(self.policy) && next.when.reads_outdated()
        };
        if TRANSITIONS.iter().any(reads_outdated) {
            self.choose(Var::Outdated, vec![Expr::Of(Var::Outdated), Expr::Test(Condition::True)]);
        }
    }

    fn run_entry_action(&mut self, action: EntryAction) {
        match action {
            EntryAction::Call(operation) => {
                self.name(Var::Call, operation_name(operation));
                if operation == Operation::DeliverAudit {
                    self.increment(Var::Attempts);
                }
                if operation.arguing_role() == Some(Role::Security) {
                    self.flag(Var::Outdated, false);
                }
            }
            EntryAction::CallAdditionalDebater => self.name(Var::Call, "ArgueAdditional"),
            EntryAction::StartTask => {
                self.name(Var::Call, "RunTask");
                self.flag(Var::Ran, true);
                // The task may have an effect with a compensation, and may have been started before.
                self.choose(Var::Undoable, vec![Expr::Of(Var::Undoable), Expr::OneMore(Var::Undoable)]);
                if self.from != self.row.to {
                    self.flag(Var::Succeeded, false);
                }
            }
            EntryAction::CountRepair => match self.policy.bounds.repairs {
                Bound::AtMost(_) => self.increment(Var::Repairs),
                Bound::Unbounded => {}
            },
            EntryAction::UndoNext => {
                self.flag(Var::RolledBack, true);
                // A compensation that ends in this step is still counted: values are computed before any is set.
                let ended = u32::from(self.from == self.row.to);
                let is_left = Less(Term::Number(ended), Term::Of(Var::Undoable));
                let (undo, none) = (Box::new(Expr::Name("UndoTask")), Box::new(Expr::Name("no_call")));
                self.set(Var::Call, Expr::If(is_left, undo, none));
            }
            EntryAction::RecordMemory => {
                self.increment(Var::Memories);
                let conclusion = self.row.conclusion.map(|rule| Expr::Name(kind_name(rule.kind)));
                let typed = self.policy.rules.typed_kinds;
                let outcome = Expr::Name(kind_name(ConclusionKind::Outcome));
                let kind = conclusion.unwrap_or(Expr::Of(Var::Conclusion));
                self.set(Var::Stored, if typed { kind } else { outcome });
            }
            EntryAction::StoreMemory(store) => {
                let (name, number) = match store {
                    Store::Local => ("StoreLocal", 1),
                    Store::Cloud => ("StoreCloud", 2),
                };
                self.name(Var::Call, name);
                self.number(Var::Stores, number);
            }
            EntryAction::RecordAudit => self.increment(Var::Audits),
        }
    }
}

/// The name of an operation in the exported models.
const fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::VerifyIdentity => "VerifyIdentity",
        Operation::LoadContext => "LoadContext",
        Operation::Summarize => "Summarize",
        Operation::Classify => "Classify",
        Operation::DraftPlan => "DraftPlan",
        Operation::Argue(_) => "Argue",
        Operation::ArgueAdditional { .. } => "ArgueAdditional",
        Operation::ReviewRevision => "ReviewRevision",
        Operation::Approve => "Approve",
        Operation::RunTask { .. } => "RunTask",
        Operation::Diagnose => "Diagnose",
        Operation::UndoTask { .. } => "UndoTask",
        Operation::StoreMemory { store: Store::Local, .. } => "StoreLocal",
        Operation::StoreMemory { store: Store::Cloud, .. } => "StoreCloud",
        Operation::DeliverAudit => "DeliverAudit",
    }
}

/// The name of a conclusion kind in the exported models.
const fn kind_name(kind: ConclusionKind) -> &'static str {
    match kind {
        ConclusionKind::Outcome => "as_outcome",
        ConclusionKind::Blocked => "as_blocked",
        ConclusionKind::RolledBack => "as_rolled_back",
        ConclusionKind::Aborted => "as_aborted",
    }
}

/// Security's latest argument is about the current plan and against it.
pub(super) fn objection() -> Condition {
    Condition::all([Flag(Var::Reviewed), Is(Var::Security, vec!["objects", "vetoes"])])
}

/// The non-empty cells into which the policy's thresholds divide the consensus.
fn cells(policy: &Policy) -> impl Iterator<Item = &'static str> {
    let thresholds = &policy.thresholds;
    let below = (thresholds.proceed_from > orchestrion_kernel::Score::ZERO).then_some("below");
    let between = (thresholds.proceed_from < thresholds.redebate_below).then_some("between");
    [below, between, Some("above")].into_iter().flatten()
}
