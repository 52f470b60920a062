//! The control model in TLA+, for TLC.

use super::ast::{Condition, Domain, Expr, Lifetime, StepFilter, Term, Var};
use super::claims::{ExportedClaim, TemporalForm};
use super::control::{ControlModel, Step, StepActor};
use super::header;
use super::input_class::InputClass;
use orchestrion_kernel::Trigger;
use std::fmt::Write;

/// The name of the module. Its file must have the same name.
pub const MODULE: &str = "Control";

/// The model as a TLA+ module.
#[must_use]
pub fn module(control: &ControlModel) -> String {
    let mut text = format!("---- MODULE {MODULE} ----\n");
    for line in header::lines(control, &RUN) {
        let _ = writeln!(text, "{}", format!("\\* {line}").trim_end());
    }
    text.push_str("\nEXTENDS Naturals\n\n");
    for (bound, value) in control.bounds() {
        let _ = writeln!(text, "{:<8} == {value}  \\* {}", bound.name(), bound.description());
    }
    text.push_str("\nVARIABLES\n");
    for (i, var) in control.vars.iter().enumerate() {
        let name = if i + 1 < control.vars.len() { format!("{},", var.name()) } else { var.name().into() };
        let _ = writeln!(text, "    {name:<14} \\* {}", var.description());
    }
    text.push_str("\nvars ==\n");
    tuple(&mut text, "    <<", control.vars.iter().copied(), ">>");
    for (name, values) in control.types() {
        let _ = writeln!(text, "\n{name} == {{");
        header::wrapped(&mut text, "    ", values.iter().map(|value| format!("\"{value}\", ")), 100);
        text.truncate(text.trim_end_matches([',', ' ', '\n']).len());
        text.push_str(" }\n");
    }
    text.push_str("\nTypeOK ==\n");
    for var in &control.vars {
        let values = match control.domain(*var) {
            Domain::OneOf(name, _) => name.to_string(),
            Domain::Bool => "BOOLEAN".to_string(),
            Domain::Count(last) => format!("0..{}", term(last)),
        };
        let _ = writeln!(text, "    /\\ {} \\in {values}", var.name());
    }
    text.push_str("\nInit ==\n");
    for var in &control.vars {
        let _ = writeln!(text, "    /\\ {} = {}", var.name(), initial(control, *var));
    }
    text.push_str("\n\\* Resets when the request is stored, and when the next one starts.\n");
    for lifetime in [Lifetime::Plan, Lifetime::Request] {
        let _ = writeln!(text, "{} ==", reset(lifetime));
        for var in control.vars_with_lifetime(lifetime) {
            let _ = writeln!(text, "    /\\ {}' = {}", var.name(), initial(control, var));
        }
    }
    for step in &control.steps {
        write_step(&mut text, control, step);
    }
    for (actor, comment) in StepActor::ALL.into_iter().zip([
        "The orchestrator steps.",
        "A module replies, or its call fails.",
        "The user is not fair.",
    ]) {
        let _ = writeln!(text, "\n\\* {comment}");
        write_union(&mut text, actor.name(), control.steps_by_actor(actor));
    }
    text.push_str("\n\\* Steps whose enabledness the claims use.\n");
    for filter in control.referenced_filters() {
        write_union(&mut text, filter_name(filter), control.steps_matching(filter));
    }
    text.push_str(
        "\nNext == Kernel \\/ Modules \\/ User\n\n\
         Spec == Init /\\ [][Next]_vars /\\ WF_vars(Kernel) /\\ WF_vars(Modules)\n",
    );
    for claim in &control.claims {
        write_claim(&mut text, claim);
    }
    text.push_str("\n====\n");
    text
}

/// The configuration file for TLC: it checks the types and the claims for which `checked` holds.
#[must_use]
pub fn config(control: &ControlModel, checked: impl Fn(&ExportedClaim) -> bool) -> String {
    let mut text = String::from("SPECIFICATION Spec\nINVARIANT TypeOK\n");
    for claim in control.claims.iter().filter(|claim| checked(claim)) {
        let keyword = if claim.is_liveness() { "PROPERTY" } else { "INVARIANT" };
        let _ = writeln!(text, "{keyword} {}", claim.name());
    }
    text
}

const RUN: [&str; 4] = [
    "Usage, with Control.cfg in the same folder, which names the claims to check:",
    "",
    "    java -cp tla2tools.jar tlc2.TLC -deadlock Control",
    "    (without -deadlock TLC requires a next step everywhere; C_14 states where one is required)",
];

fn initial(control: &ControlModel, var: Var) -> String {
    match control.domain(var) {
        Domain::OneOf(_, values) => format!("\"{}\"", values[0]),
        Domain::Bool => "FALSE".to_string(),
        Domain::Count(_) => "0".to_string(),
    }
}

const fn reset(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Plan => "ResetPlan",
        Lifetime::Request | Lifetime::Conversation => "ResetRequest",
    }
}

const fn filter_name(filter: StepFilter) -> &'static str {
    match filter {
        StepFilter::System => "SystemStep",
        StepFilter::Failing(InputClass::OutcomeUnknown) => "OutcomeLost",
        StepFilter::Failing(_) => "CallFails",
        StepFilter::Replying => "CallReplied",
        StepFilter::User(Trigger::SessionStart) => "SessionStarts",
        StepFilter::User(Trigger::SessionEnd) => "SessionEnds",
        StepFilter::User(Trigger::Cancel) => "RequestCancelled",
        StepFilter::User(_) => "MessageSent",
    }
}

/// Writes an action that is one of these steps.
fn write_union<'a>(text: &mut String, name: &str, steps: impl Iterator<Item = &'a Step>) {
    let _ = writeln!(text, "{name} ==");
    let before = text.len();
    header::wrapped(text, "    ", steps.map(|step| format!("\\/ {} ", step.name)), 100);
    if text.len() == before {
        text.push_str("    FALSE\n");
    }
}

fn tuple(text: &mut String, begin: &str, vars: impl Iterator<Item = Var>, end: &str) {
    let indent = " ".repeat(begin.len());
    let start = text.len();
    header::wrapped(text, &indent, vars.map(|var| format!("{}, ", var.name())), 100);
    text.replace_range(start..start + begin.len(), begin);
    text.truncate(text.trim_end_matches([',', ' ', '\n']).len());
    text.push_str(end);
    text.push('\n');
}

fn write_step(text: &mut String, control: &ControlModel, step: &Step) {
    let _ = writeln!(text, "\n\\* {} ({}) {}", step.row.id, step.row.clause, step.row.label);
    let classes: Vec<&str> = step.classes.iter().map(|class| class.name()).collect();
    if !classes.is_empty() {
        let _ = writeln!(text, "\\* input: {}", classes.join(", "));
    }
    let _ = writeln!(text, "{} ==", step.name);
    let from = Condition::Is(Var::Phase, step.from.iter().map(|phase| phase.name()).collect());
    let _ = writeln!(text, "    /\\ {}", cond(&from));
    let conds = match &step.when {
        Condition::All(conds) => conds.clone(),
        Condition::True => Vec::new(),
        when => vec![when.clone()],
    };
    for when in &conds {
        let _ = writeln!(text, "    /\\ {}", cond(when));
    }
    for (var, values) in &step.effects.sets {
        let values: Vec<String> = values.iter().map(|value| expr(control, value)).collect();
        let _ = match values.as_slice() {
            [value] => writeln!(text, "    /\\ {}' = {value}", var.name()),
            values => writeln!(text, "    /\\ {}' \\in {{{}}}", var.name(), values.join(", ")),
        };
    }
    for lifetime in &step.effects.resets {
        let _ = writeln!(text, "    /\\ {}", reset(*lifetime));
    }
    let unchanged =
        control.vars.iter().copied().filter(|var| {
            !step.effects.sets.contains_key(var) && !step.effects.resets.contains(&var.lifetime())
        });
    tuple(text, "    /\\ UNCHANGED <<", unchanged, ">>");
}

fn write_claim(text: &mut String, exported: &ExportedClaim) {
    let ExportedClaim { claim, form } = exported;
    let finding = claim.finding.map(|finding| format!(" ({finding})")).unwrap_or_default();
    let _ = writeln!(text, "\n\\* {}{finding} {}", claim.id, claim.statement);
    let _ = match form {
        TemporalForm::Always(Condition::All(each)) => {
            let each: String = each.iter().map(|cond| format!("\n    /\\ {}", self::cond(cond))).collect();
            writeln!(text, "{} =={each}", exported.name())
        }
        TemporalForm::Always(holds) => writeln!(text, "{} == {}", exported.name(), cond(holds)),
        TemporalForm::LeadsTo(a, b) => writeln!(text, "{} == {} ~> {}", exported.name(), part(a), part(b)),
    };
}

fn term(term: Term) -> String {
    match term {
        Term::Number(number) => number.to_string(),
        Term::Limit(bound) => bound.name().to_string(),
        Term::AboveBound(bound) => format!("{} + 1", bound.name()),
        Term::Of(var) => var.name().to_string(),
        Term::Next(var) => format!("{} + 1", var.name()),
    }
}

fn part(of: &Condition) -> String {
    match of {
        Condition::True | Condition::False | Condition::Flag(_) => cond(of),
        Condition::Not(inner) if matches!(**inner, Condition::Flag(_)) => cond(of),
        of => format!("({})", cond(of)),
    }
}

fn cond(of: &Condition) -> String {
    let joined = |conds: &[Condition], by: &str| conds.iter().map(part).collect::<Vec<_>>().join(by);
    match of {
        Condition::True => "TRUE".to_string(),
        Condition::False => "FALSE".to_string(),
        Condition::Flag(var) => var.name().to_string(),
        Condition::Is(var, values) => match values.as_slice() {
            [value] => format!("{} = \"{value}\"", var.name()),
            values => {
                let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
                format!("{} \\in {{{}}}", var.name(), values.join(", "))
            }
        },
        Condition::Less(a, b) => format!("{} < {}", term(*a), term(*b)),
        Condition::Same(a, b) => format!("{} = {}", term(*a), term(*b)),
        Condition::Can(filter) => format!("ENABLED {}", filter_name(*filter)),
        Condition::Not(inner) => match inner.as_ref() {
            Condition::Is(var, values) if values.len() == 1 => format!("{} # \"{}\"", var.name(), values[0]),
            Condition::Less(a, b) => format!("{} >= {}", term(*a), term(*b)),
            inner => format!("~{}", part(inner)),
        },
        Condition::All(conds) => joined(conds, " /\\ "),
        Condition::Any(conds) => joined(conds, " \\/ "),
        Condition::Implies(a, b) => format!("{} => {}", part(a), part(b)),
    }
}

fn expr(control: &ControlModel, of: &Expr) -> String {
    match of {
        Expr::Name(name) => format!("\"{name}\""),
        Expr::Number(number) => number.to_string(),
        Expr::Test(test) => part(test),
        Expr::Of(var) => var.name().to_string(),
        Expr::OneMore(var) => {
            let (name, last) = (var.name(), term(control.last(*var)));
            format!("IF {name} < {last} THEN {name} + 1 ELSE {name}")
        }
        Expr::OneLess(var) => format!("IF {0} > 0 THEN {0} - 1 ELSE 0", var.name()),
        Expr::If(test, yes, no) => {
            format!("IF {} THEN {} ELSE {}", cond(test), expr(control, yes), expr(control, no))
        }
    }
}
