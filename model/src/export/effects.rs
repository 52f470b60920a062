//! What may come, what a guard asks of it, and what a row does: the kernel's meaning, told over the variables.

use super::ast::Condition::{self, Flag, Is, Less, Same};
use super::ast::{BoundName, Expr, Lifetime, Term, Var};
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::table::Transition;
use orchestrion_kernel::module::Role;
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Phase, Policy, Trigger};
use std::collections::BTreeMap;

/// How an input may read, as far as control can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputClass {
    /// Nothing in it matters.
    Any,
    /// Both locks match.
    LocksMatch,
    /// A lock does not match.
    LockDiffers,
    /// So much is known that it is to be compacted. Control cannot tell when.
    CompactionDue,
    /// It is not.
    CompactionNotDue,
    /// An argument that leaves the plan as it was.
    PlanKept,
    /// An argument that brings a new plan.
    PlanRevised,
    /// Security argues for the plan.
    Agrees,
    /// Security argues against it, less surely than a veto.
    Objects,
    /// Security argues against it, surely enough for a veto.
    Vetoes,
    /// The approver says yes.
    Approves,
    /// The approver says no.
    Declines,
    /// A task ended with exit code 0.
    Succeeds,
    /// A task ended with another one.
    Exits,
    /// A diagnosis with a repaired plan.
    Repaired,
    /// A diagnosis without.
    NoRepair,
    /// A call failed in one of the ways after which nothing is in doubt.
    OutcomeKnown,
    /// A call failed, and nobody knows whether it happened.
    FateUnknown,
}

impl InputClass {
    /// Its name, by which steps are told apart.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::LocksMatch => "locks_match",
            Self::LockDiffers => "lock_differs",
            Self::CompactionDue => "compaction_due",
            Self::CompactionNotDue => "compaction_not_due",
            Self::PlanKept => "plan_kept",
            Self::PlanRevised => "plan_revised",
            Self::Agrees => "agrees",
            Self::Objects => "objects",
            Self::Vetoes => "vetoes",
            Self::Approves => "approves",
            Self::Declines => "declines",
            Self::Succeeds => "succeeds",
            Self::Exits => "exits",
            Self::Repaired => "repaired",
            Self::NoRepair => "no_repair",
            Self::OutcomeKnown => "fate_known",
            Self::FateUnknown => "fate_unknown",
        }
    }
}

/// Every way in which an input of this kind may read in this state.
pub(super) const fn input_classes(phase: Phase, trigger: Trigger) -> &'static [InputClass] {
    match (trigger, phase) {
        (Trigger::Step, Phase::IdentityVerified) => {
            &[InputClass::CompactionDue, InputClass::CompactionNotDue]
        }
        (Trigger::Reply, Phase::VerifyingIdentity) => &[InputClass::LocksMatch, InputClass::LockDiffers],
        (Trigger::Reply, Phase::Round(Role::Solution | Role::Optimizer)) => {
            &[InputClass::PlanKept, InputClass::PlanRevised]
        }
        (Trigger::Reply, Phase::Round(Role::Security) | Phase::PlanReview | Phase::RepairReview) => {
            &[InputClass::Agrees, InputClass::Objects, InputClass::Vetoes]
        }
        (Trigger::Reply, Phase::PlanApproval | Phase::RepairApproval) => {
            &[InputClass::Approves, InputClass::Declines]
        }
        (Trigger::Reply, Phase::RunningTasks) => &[InputClass::Succeeds, InputClass::Exits],
        (Trigger::Reply, Phase::SelfHealingActive) => &[InputClass::Repaired, InputClass::NoRepair],
        (Trigger::CallFailed, _) => &[InputClass::OutcomeKnown, InputClass::FateUnknown],
        _ => &[InputClass::Any],
    }
}

/// What `decide` admits whatever the table says.
pub(super) fn admitted(trigger: Trigger) -> Condition {
    let waiting = || !Condition::is(Var::Asked, "nobody");
    match trigger {
        Trigger::SessionStart => !Flag(Var::Session),
        Trigger::SessionEnd | Trigger::UserMessage => Flag(Var::Session),
        Trigger::Reply | Trigger::CallFailed => waiting(),
        Trigger::Step => !waiting(),
        Trigger::Cancel | Trigger::Write | Trigger::Resume => Condition::True,
    }
}

/// What a guard asks of the variables, once it is known what came.
pub(super) fn guard(policy: &Policy, guard: Guard, letter: InputClass) -> Condition {
    let came = |expected| if letter == expected { Condition::True } else { Condition::False };
    let vetoed = || match policy.rules.sticky_veto {
        true => Flag(Var::Vetoed),
        false => Condition::is(Var::Security, "vetoes"),
    };
    match guard {
        Guard::Always => Condition::True,
        Guard::LocksMatch => came(InputClass::LocksMatch),
        Guard::CompactionDue => came(InputClass::CompactionDue),
        Guard::PlanRevised => Condition::any([came(InputClass::PlanRevised), came(InputClass::Repaired)]),
        Guard::Approved => came(InputClass::Approves),
        Guard::Vetoed => vetoed(),
        Guard::AnotherPass => Condition::all([
            Less(Term::Of(Var::Pass), Term::Limit(BoundName::Passes)),
            Is(Var::Consensus, vec!["below", "between"]),
        ]),
        Guard::BelowProceed => Is(Var::Scored, vec!["unscored", "below"]),
        Guard::MoreTasks => Condition::all([
            came(InputClass::Succeeds),
            Less(Term::Next(Var::Task), Term::Limit(BoundName::Tasks)),
        ]),
        Guard::AllSucceeded => Same(Term::Of(Var::Task), Term::Limit(BoundName::Tasks)),
        Guard::RepairsExhausted => match policy.bounds.repairs {
            Bound::AtMost(_) => !Less(Term::Of(Var::Repairs), Term::Limit(BoundName::Repairs)),
            Bound::Unbounded => Condition::False,
        },
        Guard::RepairCleared => {
            Condition::all([!vetoed(), Flag(Var::Read), Is(Var::Consensus, vec!["between", "above"])])
        }
        Guard::OutcomeUnknown => came(InputClass::FateUnknown),
        Guard::MoreStores => Condition::is(Var::Asked, "RememberLocal"),
        Guard::AttemptsLeft => Less(Term::Of(Var::Tries), Term::Limit(BoundName::Attempts)),
    }
}

/// What a step changes: values to set, each read before anything is set, and what is forgotten. Of several values one is
/// drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The variables that are set.
    pub sets: BTreeMap<Var, Vec<Expr>>,
    /// The variables of these spans that go back to their initial values.
    pub forgets: Vec<Lifetime>,
}

/// What a row does from this state when this came.
pub(super) fn effects(policy: &Policy, from: Phase, row: &Transition, letter: InputClass) -> Effects {
    let mut step = Writer { policy, from, row, letter, effects: Effects::default() };
    step.name(Var::Row, row.id);
    step.set(Var::Before, Expr::Of(Var::Phase));
    step.set(Var::WasAsked, Expr::Of(Var::Asked));
    step.record();
    step.work();
    step.conclude();
    step.moved();
    if !row.ignores_cancel() {
        step.enter();
    }
    let Effects { mut sets, forgets } = step.effects;
    sets.retain(|var, _| !forgets.contains(&var.span()));
    Effects { sets, forgets }
}

/// Writes the effects of one step. What is written later stands.
struct Writer<'a> {
    policy: &'a Policy,
    from: Phase,
    row: &'a Transition,
    letter: InputClass,
    effects: Effects,
}

impl Writer<'_> {
    fn choose(&mut self, var: Var, from: Vec<Expr>) {
        self.effects.sets.insert(var, from);
    }

    fn set(&mut self, var: Var, to: Expr) {
        self.choose(var, vec![to]);
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

    fn count(&mut self, var: Var) {
        self.set(var, Expr::OneMore(var));
    }

    fn record(&mut self) {
        self.name(
            Var::Came,
            match self.row.on {
                Trigger::Step | Trigger::Write | Trigger::Resume => "nothing",
                Trigger::SessionStart | Trigger::SessionEnd | Trigger::UserMessage => "word",
                Trigger::Reply => "answer",
                Trigger::CallFailed => "no_answer",
                Trigger::Cancel if self.row.ignores_cancel() => "late_cancel",
                Trigger::Cancel => "cancel",
            },
        );
        match self.row.on {
            Trigger::SessionStart => self.flag(Var::Session, true),
            Trigger::SessionEnd => self.flag(Var::Session, false),
            Trigger::UserMessage => {
                self.effects.forgets.extend([Lifetime::Request, Lifetime::Plan]);
                self.name(Var::Request, "running");
            }
            Trigger::Reply => {
                self.name(Var::Asked, "nobody");
                self.learn();
            }
            Trigger::CallFailed => {
                self.name(Var::Asked, "nobody");
                if self.from == Phase::RunningTasks {
                    self.flag(Var::Failed, true);
                }
                match (self.from, self.letter) {
                    (Phase::RunningTasks, InputClass::FateUnknown) => self.flag(Var::Lost, true),
                    (Phase::RollbackActive, _) => self.set(Var::Undos, Expr::OneLess(Var::Undos)),
                    _ => {}
                }
            }
            Trigger::Cancel if self.row.ignores_cancel() => {}
            Trigger::Cancel => {
                self.name(Var::Asked, "nobody");
                self.flag(Var::Cancelled, true);
            }
            Trigger::Step | Trigger::Write | Trigger::Resume => {}
        }
    }

    fn learn(&mut self) {
        match self.from {
            Phase::Planning => self.adopt(),
            Phase::Round(_) => self.count(Var::Heard),
            Phase::RollbackActive => self.set(Var::Undos, Expr::OneLess(Var::Undos)),
            _ => {}
        }
        match self.letter {
            InputClass::LocksMatch => self.flag(Var::Verified, true),
            InputClass::PlanRevised | InputClass::Repaired => self.adopt(),
            InputClass::Agrees | InputClass::Objects | InputClass::Vetoes => {
                self.name(Var::Security, self.letter.name());
                self.flag(Var::Read, true);
                if self.letter == InputClass::Vetoes {
                    self.flag(Var::Vetoed, true);
                }
            }
            InputClass::Approves => self.flag(Var::Approved, true),
            InputClass::Declines => self.flag(Var::Approved, false),
            InputClass::Exits => self.flag(Var::Failed, true),
            InputClass::Succeeds => {
                self.count(Var::Task);
                let last = Same(Term::Next(Var::Task), Term::Limit(BoundName::Tasks));
                self.set(Var::Succeeded, Expr::Test(last));
            }
            _ => {}
        }
        // The last argument is heard: now the arguments weigh something.
        if matches!(self.row.to, Phase::MultiPassCheck | Phase::RepairScoring) {
            self.choose(Var::Consensus, cells(self.policy).map(Expr::Name).collect());
        }
    }

    /// A plan that nobody read, scored or approved yet is the plan now.
    fn adopt(&mut self) {
        self.name(Var::Came, "new_plan");
        for var in [Var::Read, Var::Current, Var::Approved, Var::Succeeded] {
            self.flag(var, false);
        }
    }

    fn work(&mut self) {
        let Transition { on, when, to, .. } = self.row;
        match (self.from, on) {
            (Phase::MultiPassCheck | Phase::CalculatingConsensus, Trigger::Step) => self.score(),
            (Phase::ResolvingDecision, Trigger::Step) => self.resolve(Var::Scored),
            (Phase::RepairScoring, Trigger::Step) => {
                self.score();
                if *when == Guard::RepairCleared {
                    self.resolve(Var::Consensus);
                }
            }
            (Phase::Auditing, _) if to.is_quiescent() => self.count(Var::Answers),
            _ => {}
        }
    }

    fn score(&mut self) {
        self.set(Var::Scored, Expr::Of(Var::Consensus));
        self.flag(Var::Current, true);
    }

    fn resolve(&mut self, score: Var) {
        let reached = || Expr::Name("ConsensusReached");
        let label = match self.row.when {
            Guard::Vetoed => Expr::Name("VETO"),
            Guard::BelowProceed => Expr::Name("REJECT"),
            _ if self.policy.rules.below_threshold_label => {
                let below = Box::new(Expr::Name("ProceedBelowLine"));
                Expr::If(Condition::is(score, "above"), Box::new(reached()), below)
            }
            _ => reached(),
        };
        self.set(Var::Decision, label);
        self.set(Var::DecidedOn, Expr::Of(score));
        let named = if self.policy.rules.named_objections { objection() } else { Condition::False };
        self.set(Var::Named, Expr::Test(named));
    }

    fn conclude(&mut self) {
        if let Some(kind) = self.ending() {
            self.name(Var::Ending, kind);
        }
    }

    /// As what the request ends, if this row settles it.
    fn ending(&self) -> Option<&'static str> {
        match (self.from, self.row.to) {
            _ if self.row.ignores_cancel() => None,
            (Phase::Blocked | Phase::RollbackActive, _) => None,
            (_, Phase::Success) => Some("as_outcome"),
            (_, Phase::Blocked) => Some("as_blocked"),
            (_, Phase::RollbackActive) => Some("as_rolled_back"),
            (Phase::VerifyingIdentity, Phase::Auditing | Phase::Aborted) => Some("as_aborted"),
            (Phase::StoringMemory, _) => None,
            (_, Phase::StoringMemory) if matches!(self.row.on, Trigger::CallFailed | Trigger::Cancel) => {
                Some("as_aborted")
            }
            _ => None,
        }
    }

    fn moved(&mut self) {
        let (from, to) = (self.from, self.row.to);
        if from != to {
            self.name(Var::Phase, to.name());
        }
        if !from.is_quiescent() && to.is_quiescent() {
            self.name(Var::Request, "ended");
        }
        match (from, to) {
            (Phase::Planning, Phase::Round(_)) => self.number(Var::Pass, 1),
            (Phase::MultiPassCheck, Phase::Round(_)) => {
                self.count(Var::Pass);
                self.number(Var::Heard, 1);
                self.name(Var::Security, "unheard");
                self.flag(Var::Read, false);
                self.name(Var::Scored, "unscored");
                self.flag(Var::Current, false);
            }
            (Phase::Failure, _) | (_, Phase::RollbackActive) => {
                self.number(Var::Task, 0);
                self.flag(Var::Failed, false);
            }
            (from, Phase::StoringMemory) if from != Phase::StoringMemory => {
                self.effects.forgets.push(Lifetime::Plan);
            }
            _ => {}
        }
    }

    fn enter(&mut self) {
        let again = self.from == self.row.to;
        match self.row.to {
            Phase::VerifyingIdentity => self.name(Var::Asked, "VerifyIdentity"),
            Phase::Compacting => self.name(Var::Asked, "Summarize"),
            Phase::LoadingContext => self.name(Var::Asked, "LoadContext"),
            Phase::Classifying => self.name(Var::Asked, "Classify"),
            Phase::Planning => self.name(Var::Asked, "DraftPlan"),
            Phase::Round(_) => self.name(Var::Asked, "Argue"),
            Phase::PlanReview | Phase::RepairReview => self.name(Var::Asked, "Reread"),
            Phase::PlanApproval | Phase::RepairApproval => self.name(Var::Asked, "Approve"),
            Phase::Blocked => self.flag(Var::Blocked, true),
            Phase::RunningTasks => {
                self.name(Var::Asked, "RunTask");
                self.flag(Var::Ran, true);
                // It may have an effect with a compensation, and may be one that was started before.
                self.choose(Var::Undos, vec![Expr::Of(Var::Undos), Expr::OneMore(Var::Undos)]);
                if !again {
                    self.flag(Var::Succeeded, false);
                }
            }
            Phase::SelfHealingActive => {
                self.name(Var::Asked, "Diagnose");
                if let Bound::AtMost(_) = self.policy.bounds.repairs {
                    self.count(Var::Repairs);
                }
            }
            Phase::RollbackActive => {
                self.flag(Var::RolledBack, true);
                let undone = u32::from(again);
                let stands = Less(Term::Number(undone), Term::Of(Var::Undos));
                let (undo, none) = (Box::new(Expr::Name("UndoTask")), Box::new(Expr::Name("nobody")));
                self.set(Var::Asked, Expr::If(stands, undo, none));
            }
            Phase::StoringMemory if again => {
                self.name(Var::Asked, "RememberCloud");
                self.number(Var::Stores, 2);
            }
            Phase::StoringMemory => {
                self.name(Var::Asked, "RememberLocal");
                self.count(Var::Memories);
                self.number(Var::Stores, 1);
                let settled = self.ending().map_or(Expr::Of(Var::Ending), Expr::Name);
                let typed = self.policy.rules.typed_kinds;
                self.set(Var::Stored, if typed { settled } else { Expr::Name("as_outcome") });
            }
            Phase::Auditing => {
                self.name(Var::Asked, "DeliverAudit");
                self.count(Var::Tries);
                if !again {
                    self.count(Var::Audits);
                }
            }
            _ => {}
        }
    }
}

/// Security's latest argument is about the plan as it stands, and against it.
pub(super) fn objection() -> Condition {
    Condition::all([Flag(Var::Read), Is(Var::Security, vec!["objects", "vetoes"])])
}

/// The cells that the policy's lines cut the consensus into; none that is empty.
fn cells(policy: &Policy) -> impl Iterator<Item = &'static str> {
    let lines = &policy.thresholds;
    let below = (lines.proceed_from > orchestrion_kernel::Score::ZERO).then_some("below");
    let between = (lines.proceed_from < lines.redebate_below).then_some("between");
    [below, between, Some("above")].into_iter().flatten()
}
