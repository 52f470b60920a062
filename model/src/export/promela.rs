//! The control model in Promela, the language of SPIN.

use super::ast::{Condition, Domain, Expr, Lifetime, StepFilter, Term, Var};
use super::claims::{ExportedClaim, TemporalForm};
use super::control::{ControlModel, Step, StepActor};
use super::header;
use super::input_class::InputClass;
use orchestrion_kernel::Trigger;
use std::fmt::Write;

/// The model as one Promela file.
#[must_use]
pub fn promela(control: &ControlModel) -> String {
    let mut text = String::from("/*\n");
    for line in header::lines(control, &RUN) {
        let _ = writeln!(text, "{}", format!(" * {line}").trim_end());
    }
    text.push_str(" */\n\n");
    for (bound, value) in control.bounds() {
        let _ = writeln!(text, "#define {:<8} {value}  /* {} */", bound.name(), bound.description());
    }
    text.push('\n');
    for (name, values) in control.types() {
        let _ = writeln!(text, "mtype:{name} = {{");
        header::wrapped(&mut text, "    ", values.iter().map(|value| format!("{value}, ")), 100);
        let end = text.trim_end_matches([',', ' ', '\n']).len();
        text.truncate(end);
        text.push_str("\n};\n");
    }
    text.push('\n');
    for var in &control.vars {
        let declared = match control.domain(*var) {
            Domain::OneOf(name, values) => format!("mtype:{name} {} = {};", var.name(), values[0]),
            Domain::Bool => format!("bool {} = false;", var.name()),
            Domain::Count(_) => format!("{} {} = 0;", width(control, *var), var.name()),
        };
        let _ = writeln!(text, "{declared:<42} /* {} */", var.description());
    }
    text.push_str("\n/* Resets when the request is stored, and when the next one starts. */\n");
    for lifetime in [Lifetime::Plan, Lifetime::Request] {
        let _ = writeln!(text, "inline {}() {{", reset(lifetime));
        let initial = |var: Var| match control.domain(var) {
            Domain::OneOf(_, values) => values[0].to_string(),
            Domain::Bool => "false".to_string(),
            Domain::Count(_) => "0".to_string(),
        };
        let all =
            control.vars_with_lifetime(lifetime).map(|var| format!("{} = {}; ", var.name(), initial(var)));
        header::wrapped(&mut text, "    ", all, 100);
        text.push_str("}\n");
    }
    text.push_str("\n/* Where a step is enabled. */\n");
    for filter in control.referenced_filters() {
        let enabled: Vec<String> = control
            .enabled_conditions(filter)
            .iter()
            .map(|condition| format!("    ({})", cond(condition)))
            .collect();
        let enabled = if enabled.is_empty() { "    false".to_string() } else { enabled.join(" || \\\n") };
        let _ = writeln!(text, "#define {} ( \\\n{enabled} )", filter_name(filter));
    }
    for actor in StepActor::ALL {
        let _ = writeln!(text, "\n/* {} */\nactive proctype {}() {{\n    do", comment(actor), actor.name());
        for step in control.steps_by_actor(actor) {
            write_step(&mut text, control, step);
        }
        if actor == StepActor::User {
            text.push_str("    /* no input */\n    :: d_step { true -> skip }\n");
        }
        text.push_str("    od\n}\n");
    }
    for claim in &control.claims {
        write_claim(&mut text, claim);
    }
    text
}

const RUN: [&str; 5] = [
    "Usage, for each claim:",
    "",
    "    spin -a control.pml && cc -O2 -DNFAIR=3 -o pan pan.c",
    "    ./pan -a -f -m1000000 -N C_03     checks this claim; `errors: 0` means that it holds",
    "    spin -t -p control.pml            prints the counterexample",
];

const fn comment(actor: StepActor) -> &'static str {
    match actor {
        StepActor::Kernel => "The orchestrator steps.",
        StepActor::Modules => "A module replies, or its call fails.",
        StepActor::User => {
            "The user is not fair: doing nothing is a step, so that fairness requires no other."
        }
    }
}

/// The narrowest type that holds a counter.
fn width(control: &ControlModel, var: Var) -> &'static str {
    let last = match control.last(var) {
        Term::Number(number) => u64::from(number),
        Term::Limit(bound) | Term::AboveBound(bound) => {
            u64::from(bound.value(&control.policy).unwrap_or(0)).saturating_add(1)
        }
        Term::Of(_) | Term::Next(_) => u64::MAX,
    };
    if last < 256 { "byte" } else { "int" }
}

const fn reset(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Plan => "reset_plan",
        Lifetime::Request | Lifetime::Conversation => "reset_request",
    }
}

const fn filter_name(filter: StepFilter) -> &'static str {
    match filter {
        StepFilter::System => "can_proceed",
        StepFilter::Failing(InputClass::OutcomeUnknown) => "can_lose_outcome",
        StepFilter::Failing(_) => "can_fail",
        StepFilter::Replying => "can_reply",
        StepFilter::User(Trigger::SessionStart) => "can_start_session",
        StepFilter::User(Trigger::SessionEnd) => "can_end_session",
        StepFilter::User(Trigger::Cancel) => "can_cancel",
        StepFilter::User(_) => "can_send_message",
    }
}

/// Writes a step as `d_step`s, which are atomic: one for each combination of values.
fn write_step(text: &mut String, control: &ControlModel, step: &Step) {
    let classes: Vec<&str> = step.classes.iter().map(|class| class.name()).collect();
    let suffix = if classes.is_empty() { String::new() } else { format!(" [{}]", classes.join(", ")) };
    let _ = writeln!(text, "    /* {} ({}) {}{suffix} */", step.row.id, step.row.clause, step.row.label);
    for values in combinations(step) {
        let _ = writeln!(text, "    :: d_step {{ {} ->", cond(&step.guard()));
        let resets = step.effects.resets.iter().map(|lifetime| format!("{}(); ", reset(*lifetime)));
        let changes = values.iter().filter(|(var, value)| **value != Expr::Of(*var));
        let sets = changes.map(|(var, value)| format!("{} = {}; ", var.name(), expr(control, value)));
        header::wrapped(text, "         ", sets.chain(resets), 100);
        text.truncate(text.trim_end_matches(['\n', ' ', ';']).len());
        text.push_str(" }\n");
    }
}

/// The values that a step sets: every combination of one value for each variable.
fn combinations(step: &Step) -> Vec<Vec<(Var, &Expr)>> {
    let mut combinations: Vec<Vec<(Var, &Expr)>> = vec![Vec::new()];
    for (var, values) in &step.effects.sets {
        let shorter = std::mem::take(&mut combinations);
        for value in values {
            combinations.extend(shorter.iter().map(|combination| {
                let mut longer = combination.clone();
                longer.push((*var, value));
                longer
            }));
        }
    }
    combinations
}

fn write_claim(text: &mut String, exported: &ExportedClaim) {
    let ExportedClaim { claim, form } = exported;
    let finding = claim.finding.map(|finding| format!(" ({finding})")).unwrap_or_default();
    let _ = writeln!(text, "\n/* {}{finding} {} */", claim.id, claim.statement);
    let formula = match form {
        TemporalForm::Always(holds) => format!("[] ({})", cond(holds)),
        TemporalForm::LeadsTo(a, b) => format!("[] (({}) -> <> ({}))", cond(a), cond(b)),
    };
    let _ = writeln!(text, "ltl {} {{ {formula} }}", exported.name());
}

fn term(term: Term) -> String {
    match term {
        Term::Number(number) => number.to_string(),
        Term::Limit(bound) => bound.name().to_string(),
        Term::AboveBound(bound) => format!("({} + 1)", bound.name()),
        Term::Of(var) => var.name().to_string(),
        Term::Next(var) => format!("{} + 1", var.name()),
    }
}

fn cond(of: &Condition) -> String {
    let part = |inner: &Condition| match inner {
        Condition::All(_) | Condition::Any(_) | Condition::Implies(..) => format!("({})", cond(inner)),
        Condition::Is(_, values) if values.len() > 1 => format!("({})", cond(inner)),
        inner => cond(inner),
    };
    let joined = |conds: &[Condition], by: &str| conds.iter().map(part).collect::<Vec<_>>().join(by);
    match of {
        Condition::True => "true".to_string(),
        Condition::False => "false".to_string(),
        Condition::Flag(var) => var.name().to_string(),
        Condition::Is(var, values) => {
            let each = values.iter().map(|value| format!("{} == {value}", var.name()));
            each.collect::<Vec<_>>().join(" || ")
        }
        Condition::Less(a, b) => format!("{} < {}", term(*a), term(*b)),
        Condition::Same(a, b) => format!("{} == {}", term(*a), term(*b)),
        Condition::Can(filter) => filter_name(*filter).to_string(),
        Condition::Not(inner) => match inner.as_ref() {
            Condition::Is(var, values) if values.len() == 1 => format!("{} != {}", var.name(), values[0]),
            Condition::Less(a, b) => format!("{} >= {}", term(*a), term(*b)),
            inner => match part(inner) {
                text if text.starts_with('(') || !text.contains(' ') => format!("!{text}"),
                text => format!("!({text})"),
            },
        },
        Condition::All(conds) => joined(conds, " && "),
        Condition::Any(conds) => joined(conds, " || "),
        Condition::Implies(a, b) => {
            let not = !a.as_ref().clone();
            format!("{} || {}", part(&not), part(b))
        }
    }
}

fn expr(control: &ControlModel, of: &Expr) -> String {
    match of {
        Expr::Name(name) => (*name).to_string(),
        Expr::Number(number) => number.to_string(),
        Expr::Test(test) => cond(test),
        Expr::Of(var) => var.name().to_string(),
        Expr::OneMore(var) => {
            let (name, last) = (var.name(), term(control.last(*var)));
            format!("({name} < {last} -> {name} + 1 : {name})")
        }
        Expr::OneLess(var) => format!("({0} > 0 -> {0} - 1 : 0)", var.name()),
        Expr::If(test, yes, no) => {
            format!("({} -> {} : {})", cond(test), expr(control, yes), expr(control, no))
        }
    }
}
