//! The control model of a policy: its variables, and its steps from the transition table.

use super::ast::{BoundName, Condition, Domain, Lifetime, StepFilter, Term, Var};
use super::claims::{ExportedClaim, exported_claims};
use super::effects::{Effects, effects};
use super::guards::{admission_condition, guard_condition};
use super::input_class::{InputClass, input_classes};
use orchestrion_kernel::control::table::{TRANSITIONS, Transition, enabled_transitions};
use orchestrion_kernel::{Phase, Policy, Trigger};
use std::ops::Not;

/// The rows that no exported model takes: tasks run in parallel there, and the exported plan is a sequence.
pub const ROWS_OF_PARALLEL_TASKS: [&str; 6] = ["P01", "P02", "P03", "P04", "P05", "H18"];

/// The control model of a policy.
#[derive(Debug)]
pub struct ControlModel {
    /// The policy.
    pub policy: Policy,
    /// The variables that a guard or a claim reads, directly or through other variables.
    pub vars: Vec<Var>,
    /// The steps, in the order of the table.
    pub steps: Vec<Step>,
    /// The exported claims.
    pub claims: Vec<ExportedClaim>,
}

/// A step: a row, for the input classes that have the same effects.
#[derive(Debug)]
pub struct Step {
    /// The id of the row, with the input classes if the row has several steps.
    pub name: String,
    /// The row.
    pub row: &'static Transition,
    /// The phases in which the step is taken.
    pub from: Vec<Phase>,
    /// The input classes; empty if the step accepts all.
    pub classes: Vec<InputClass>,
    /// The condition: the input is admitted, the row's guard holds, and no guard of a row above it.
    pub when: Condition,
    /// What the step changes.
    pub effects: Effects,
}

/// The actor that takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepActor {
    /// The orchestrator. It is weakly fair.
    Kernel,
    /// A module, which replies or whose call fails. Modules are weakly fair.
    Modules,
    /// The user, who is not fair.
    User,
}

impl StepActor {
    /// Every actor.
    pub const ALL: [Self; 3] = [Self::Kernel, Self::Modules, Self::User];

    /// The actor that sends inputs of this trigger.
    #[must_use]
    pub const fn from_trigger(trigger: Trigger) -> Self {
        match trigger {
            Trigger::Step => Self::Kernel,
            Trigger::Reply | Trigger::CallFailed => Self::Modules,
            Trigger::SessionStart
            | Trigger::SessionEnd
            | Trigger::UserMessage
            | Trigger::Cancel
            | Trigger::Write
            | Trigger::Network
            | Trigger::Tick
            | Trigger::Resume => Self::User,
        }
    }

    /// Its name in the exported models.
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
    fn matches_trigger(self, trigger: Trigger) -> bool {
        match self {
            Self::System => StepActor::from_trigger(trigger) != StepActor::User,
            Self::Failing(_) => trigger == Trigger::CallFailed,
            Self::Replying => trigger == Trigger::Reply,
            Self::User(expected) => trigger == expected,
        }
    }

    fn matches_class(self, class: InputClass) -> bool {
        match self {
            Self::Failing(expected) => class == expected,
            Self::System | Self::Replying | Self::User(_) => true,
        }
    }
}

impl Step {
    /// The condition of the step, including its phases.
    #[must_use]
    pub fn guard(&self) -> Condition {
        let from = Condition::Is(Var::Phase, self.from.iter().map(|phase| phase.name()).collect());
        Condition::all([from, self.when.clone()])
    }
}

impl ControlModel {
    /// Creates the control model of a policy.
    #[must_use]
    pub fn new(policy: &Policy) -> Self {
        let mut control = Self {
            policy: policy.clone(),
            vars: Vec::new(),
            steps: steps(policy),
            claims: exported_claims(policy),
        };
        control.vars = control.relevant_vars();
        for step in &mut control.steps {
            step.effects.sets.retain(|var, _| control.vars.contains(var));
        }
        control
    }

    /// The domain of a variable.
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
                && types.iter().all(|(other, _)| *other != name)
            {
                types.push((name, values));
            }
        }
        types
    }

    /// The bounds that the policy sets, with their values.
    #[must_use]
    pub fn bounds(&self) -> Vec<(BoundName, u32)> {
        BoundName::ALL.into_iter().filter_map(|bound| Some((bound, bound.value(&self.policy)?))).collect()
    }

    /// The last value of a counter.
    #[must_use]
    pub fn last(&self, var: Var) -> Term {
        match self.domain(var) {
            Domain::Count(last) => last,
            Domain::Bool | Domain::OneOf(..) => Term::Number(1),
        }
    }

    /// The variables with this lifetime.
    pub fn vars_with_lifetime(&self, lifetime: Lifetime) -> impl Iterator<Item = Var> + '_ {
        self.vars.iter().copied().filter(move |var| var.lifetime() == lifetime)
    }

    /// The steps of an actor.
    pub fn steps_by_actor(&self, actor: StepActor) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |step| StepActor::from_trigger(step.row.on) == actor)
    }

    /// The steps that match a filter.
    pub fn steps_matching(&self, filter: StepFilter) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |Step { row, classes, .. }| {
            filter.matches_trigger(row.on)
                && (classes.is_empty() || classes.iter().any(|class| filter.matches_class(*class)))
        })
    }

    /// The conditions of which at least one holds where a step that matches the filter is enabled. Where a phase has a row
    /// for every admitted input, its condition is the admission condition.
    #[must_use]
    pub fn enabled_conditions(&self, filter: StepFilter) -> Vec<Condition> {
        let mut conditions: Vec<(Condition, Vec<&'static str>)> = Vec::new();
        for phase in Phase::ALL {
            for trigger in Trigger::ALL.into_iter().filter(|trigger| filter.matches_trigger(*trigger)) {
                let classes =
                    input_classes(phase, trigger).iter().filter(|class| filter.matches_class(**class));
                let guards = classes.flat_map(|class| {
                    enabled_transitions(&self.policy, phase, trigger)
                        .map(|row| guard_condition(&self.policy, row.when, *class))
                });
                let when = Condition::all([admission_condition(trigger), Condition::any(guards)]);
                match conditions.iter_mut().find(|(other, _)| *other == when) {
                    _ if when == Condition::False => {}
                    Some((_, phases)) if phases.contains(&phase.name()) => {}
                    Some((_, phases)) => phases.push(phase.name()),
                    None => conditions.push((when, vec![phase.name()])),
                }
            }
        }
        conditions
            .into_iter()
            .map(|(when, phases)| Condition::all([when, Condition::Is(Var::Phase, phases)]))
            .collect()
    }

    /// The filters that the claims use.
    #[must_use]
    pub fn referenced_filters(&self) -> Vec<StepFilter> {
        let mut filters = Vec::new();
        self.claims.iter().for_each(|claim| claim.form.collect_filters(&mut filters));
        filters
    }

    /// The variables that guards and claims read, and those on which their values depend.
    fn relevant_vars(&self) -> Vec<Var> {
        let mut relevant = vec![Var::Phase, Var::Row, Var::Call, Var::Request];
        self.steps.iter().for_each(|step| step.when.collect_vars(&mut relevant));
        self.claims.iter().for_each(|claim| claim.form.collect_vars(&mut relevant));
        loop {
            let before = relevant.clone();
            for step in &self.steps {
                let values = step.effects.sets.iter().filter(|(var, _)| before.contains(var));
                values.flat_map(|(_, values)| values).for_each(|value| value.collect_vars(&mut relevant));
            }
            relevant.sort_unstable();
            relevant.dedup();
            if relevant.len() == before.len() {
                return relevant;
            }
        }
    }
}

/// The steps of the rows that the policy enables. A step is enabled only where the guard of no row above it holds, because
/// the first row whose guard holds is taken.
fn steps(policy: &Policy) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for phase in Phase::ALL {
        for trigger in Trigger::ALL {
            let classes = input_classes(phase, trigger);
            for mut step in steps_in(policy, phase, trigger) {
                if step.classes.len() == classes.len() {
                    step.classes.clear();
                }
                let is_same = |other: &&mut Step| {
                    (other.row.id, &other.classes, &other.when, &other.effects)
                        == (step.row.id, &step.classes, &step.when, &step.effects)
                };
                match steps.iter_mut().find(is_same) {
                    Some(other) => other.from.push(phase),
                    None => steps.push(step),
                }
            }
        }
    }
    steps.sort_by_key(|step| TRANSITIONS.iter().position(|row| row.id == step.row.id));
    assign_names(&mut steps);
    steps
}

/// The steps of one phase and trigger. Input classes with the same condition and effects share a step.
fn steps_in(policy: &Policy, phase: Phase, trigger: Trigger) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for class in input_classes(phase, trigger) {
        let mut above: Vec<Condition> = Vec::new();
        for row in enabled_transitions(policy, phase, trigger) {
            let guard = guard_condition(policy, row.when, *class);
            let none_above = above.iter().cloned().map(Condition::not);
            let when = Condition::all(
                std::iter::once(admission_condition(trigger)).chain(none_above).chain([guard.clone()]),
            );
            // A row is never taken below a row with the same guard.
            if when == Condition::False || above.contains(&guard) {
                continue;
            }
            above.push(guard);
            let effects = effects(policy, phase, row, *class);
            let is_same =
                |step: &&mut Step| step.row.id == row.id && step.when == when && step.effects == effects;
            match steps.iter_mut().find(is_same) {
                Some(step) => step.classes.push(*class),
                None => steps.push(Step {
                    name: String::new(),
                    row,
                    from: vec![phase],
                    classes: vec![*class],
                    when,
                    effects,
                }),
            }
        }
    }
    steps
}

/// Names each step by its row; by its input classes where the row has several steps; by its phases where two would still
/// have the same name.
fn assign_names(steps: &mut [Step]) {
    for step in steps.iter_mut() {
        let classes: Vec<&str> = step.classes.iter().map(|class| class.name()).collect();
        step.name = std::iter::once(step.row.id).chain(classes).collect::<Vec<_>>().join("_");
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
