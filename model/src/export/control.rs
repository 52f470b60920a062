//! The control model of a policy: its variables, and every step from the transition table.

use super::ast::{BoundName, Condition, Domain, Lifetime, StepFilter, Term, Var};
use super::claims::{ExportedClaim, exported_claims};
use super::effects::{Effects, InputClass, admitted, effects, guard, input_classes};
use orchestrion_kernel::control::table::{Transition, enabled_transitions};
use orchestrion_kernel::{Phase, Policy, Trigger};
use std::ops::Not;

/// The control model of a policy.
#[derive(Debug)]
pub struct ControlModel {
    /// The policy.
    pub policy: Policy,
    /// The variables that a guard or a claim reads, directly or not.
    pub vars: Vec<Var>,
    /// Every step, in the order of the table.
    pub steps: Vec<Step>,
    /// The claims that it states.
    pub claims: Vec<ExportedClaim>,
}

/// One way in which the model moves: a row, with what came where that makes a difference.
#[derive(Debug)]
pub struct Step {
    /// Its name: the row's, and what came if the row does not do the same with all of it.
    pub name: String,
    /// The row.
    pub row: &'static Transition,
    /// The states in which it is taken.
    pub from: Vec<Phase>,
    /// What must have come; empty if all is alike.
    pub letters: Vec<InputClass>,
    /// What must hold: the input is admitted, the row's guard holds, and none above it.
    pub when: Condition,
    /// What it changes.
    pub effects: Effects,
}

/// Who takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepActor {
    /// The orchestrator, going on by itself. It is fair.
    Kernel,
    /// A module, which answers, or whose call fails. A call that is waited for comes back in one way or the other.
    Modules,
    /// The user, who owes nothing.
    User,
}

impl StepActor {
    /// Everybody.
    pub const ALL: [Self; 3] = [Self::Kernel, Self::Modules, Self::User];

    /// Who brings inputs of this kind.
    #[must_use]
    pub const fn bringing(trigger: Trigger) -> Self {
        match trigger {
            Trigger::Step => Self::Kernel,
            Trigger::Reply | Trigger::CallFailed => Self::Modules,
            Trigger::SessionStart
            | Trigger::SessionEnd
            | Trigger::UserMessage
            | Trigger::Cancel
            | Trigger::Write
            | Trigger::Resume => Self::User,
        }
    }

    /// Its name in both languages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "Kernel",
            Self::Modules => "Modules",
            Self::User => "User",
        }
    }
}

impl StepFilter {
    /// Whether inputs of this kind are theirs.
    fn brings(self, trigger: Trigger) -> bool {
        match self {
            Self::System => !matches!(StepActor::bringing(trigger), StepActor::User),
            Self::Failing(_) => matches!(trigger, Trigger::CallFailed),
            Self::Answering => matches!(trigger, Trigger::Reply),
            Self::User(kind) => trigger == kind,
        }
    }

    /// Whether an input that reads so is meant.
    fn means(self, letter: InputClass) -> bool {
        match self {
            Self::Failing(so) => so == letter,
            Self::System | Self::Answering | Self::User(_) => true,
        }
    }
}

impl Step {
    /// What must hold for it, its states included.
    #[must_use]
    pub fn guard(&self) -> Condition {
        let from = Condition::Is(Var::Phase, self.from.iter().map(|phase| phase.name()).collect());
        Condition::all([from, self.when.clone()])
    }
}

impl ControlModel {
    /// The control model of a policy.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        let mut control = Self {
            policy: policy.clone(),
            vars: Vec::new(),
            steps: steps(policy),
            claims: exported_claims(policy),
        };
        control.vars = control.read();
        for step in &mut control.steps {
            step.effects.sets.retain(|var, _| control.vars.contains(var));
        }
        control
    }

    /// The values of a variable.
    #[must_use]
    pub fn domain(&self, var: Var) -> Domain {
        var.domain(&self.policy)
    }

    /// The enumerations, each once.
    #[must_use]
    pub fn types(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let mut types: Vec<(&str, Vec<&str>)> = Vec::new();
        for var in &self.vars {
            if let Domain::OneOf(name, values) = self.domain(*var)
                && types.iter().all(|(known, _)| *known != name)
            {
                types.push((name, values));
            }
        }
        types
    }

    /// The bounds that the policy has, with their values.
    #[must_use]
    pub fn limits(&self) -> Vec<(BoundName, u32)> {
        BoundName::ALL.into_iter().filter_map(|limit| Some((limit, limit.value(&self.policy)?))).collect()
    }

    /// The last value of a counter.
    #[must_use]
    pub fn last(&self, var: Var) -> Term {
        match self.domain(var) {
            Domain::Count(last) => last,
            Domain::Bool | Domain::OneOf(..) => Term::Number(1),
        }
    }

    /// The variables of a span.
    pub fn spanning(&self, span: Lifetime) -> impl Iterator<Item = Var> + '_ {
        self.vars.iter().copied().filter(move |var| var.span() == span)
    }

    /// The steps that a party takes.
    pub fn taken_by(&self, party: StepActor) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |step| StepActor::bringing(step.row.on) == party)
    }

    /// The steps that somebody means.
    pub fn steps_of(&self, who: StepFilter) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |Step { row, letters, .. }| {
            who.brings(row.on) && (letters.is_empty() || letters.iter().any(|letter| who.means(*letter)))
        })
    }

    /// Where somebody can take a step: at least one of these holds. Of a state that has a row for whatever comes, only
    /// that the input is admitted.
    #[must_use]
    pub fn enabled_conditions(&self, who: StepFilter) -> Vec<Condition> {
        let mut ways: Vec<(Condition, Vec<&'static str>)> = Vec::new();
        for phase in Phase::ALL {
            for trigger in Trigger::ALL.into_iter().filter(|trigger| who.brings(*trigger)) {
                let came = input_classes(phase, trigger).iter().filter(|letter| who.means(**letter));
                let guards = came.flat_map(|letter| {
                    enabled_transitions(&self.policy, phase, trigger)
                        .map(|row| guard(&self.policy, row.when, *letter))
                });
                let when = Condition::all([admitted(trigger), Condition::any(guards)]);
                match ways.iter_mut().find(|(known, _)| *known == when) {
                    _ if when == Condition::False => {}
                    Some((_, phases)) if phases.contains(&phase.name()) => {}
                    Some((_, phases)) => phases.push(phase.name()),
                    None => ways.push((when, vec![phase.name()])),
                }
            }
        }
        ways.into_iter()
            .map(|(when, phases)| Condition::all([when, Condition::Is(Var::Phase, phases)]))
            .collect()
    }

    /// Who is asked about by some claim.
    #[must_use]
    pub fn referenced_filters(&self) -> Vec<StepFilter> {
        let mut whos = Vec::new();
        self.claims.iter().for_each(|claim| claim.form.asks(&mut whos));
        whos
    }

    /// The variables that are read: by a guard, by a claim, or for one that is read.
    fn read(&self) -> Vec<Var> {
        let mut read = vec![Var::Phase, Var::Row, Var::Asked, Var::Request];
        self.steps.iter().for_each(|step| step.when.reads(&mut read));
        self.claims.iter().for_each(|claim| claim.form.reads(&mut read));
        loop {
            let known = read.clone();
            for step in &self.steps {
                let values = step.effects.sets.iter().filter(|(var, _)| known.contains(var));
                values.flat_map(|(_, values)| values).for_each(|value| value.reads(&mut read));
            }
            read.sort_unstable();
            read.dedup();
            if read.len() == known.len() {
                return read;
            }
        }
    }
}

/// Every step of the rows that the policy switches on. Of the rows that fit state and trigger the first whose guard holds
/// is taken, so each holds only where none above it does.
fn steps(policy: &Policy) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for phase in Phase::ALL {
        for trigger in Trigger::ALL {
            let mut here: Vec<Step> = Vec::new();
            for letter in input_classes(phase, trigger) {
                let mut above: Vec<Condition> = Vec::new();
                for row in enabled_transitions(policy, phase, trigger) {
                    let holds = guard(policy, row.when, *letter);
                    let none_above = above.iter().cloned().map(Condition::not);
                    let when = Condition::all(
                        std::iter::once(admitted(trigger)).chain(none_above).chain([holds.clone()]),
                    );
                    // Below a row that asks the same a row is never taken.
                    if when == Condition::False || above.contains(&holds) {
                        continue;
                    }
                    above.push(holds);
                    let effects = effects(policy, phase, row, *letter);
                    let alike = |step: &&mut Step| {
                        step.row.id == row.id && step.when == when && step.effects == effects
                    };
                    match here.iter_mut().find(alike) {
                        Some(step) => step.letters.push(*letter),
                        None => here.push(Step {
                            name: String::new(),
                            row,
                            from: vec![phase],
                            letters: vec![*letter],
                            when,
                            effects,
                        }),
                    }
                }
            }
            let all = input_classes(phase, trigger).len();
            for mut step in here {
                if step.letters.len() == all {
                    step.letters.clear();
                }
                let alike = |other: &&mut Step| {
                    (other.row.id, &other.letters, &other.when, &other.effects)
                        == (step.row.id, &step.letters, &step.when, &step.effects)
                };
                match steps.iter_mut().find(alike) {
                    Some(other) => other.from.push(phase),
                    None => steps.push(step),
                }
            }
        }
    }
    let place = |row: &Transition| {
        orchestrion_kernel::control::table::TRANSITIONS.iter().position(|other| other.id == row.id)
    };
    steps.sort_by_key(|step| place(step.row));
    name(&mut steps);
    steps
}

/// Names every step by its row, by what came where that tells steps of a row apart, and by its state where even that does
/// not.
fn name(steps: &mut [Step]) {
    for step in steps.iter_mut() {
        let letters: Vec<&str> = step.letters.iter().map(|letter| letter.name()).collect();
        step.name = std::iter::once(step.row.id).chain(letters).collect::<Vec<_>>().join("_");
    }
    let names: Vec<String> = steps.iter().map(|step| step.name.clone()).collect();
    for step in steps {
        let of_row = names.iter().filter(|name| name.split('_').next() == Some(step.row.id)).count();
        if of_row == 1 {
            step.name = step.row.id.to_string();
        } else if names.iter().filter(|name| **name == step.name).count() > 1 {
            let from: Vec<&str> = step.from.iter().map(|phase| phase.name()).collect();
            step.name = format!("{}_in_{}", step.name, from.join("_"));
        }
    }
}
