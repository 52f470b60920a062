//! The control model in TLA+, for TLC.

use super::ast::{Condition, Domain, Expr, Lifetime, StepFilter, Term, Var};
use super::claims::{ExportedClaim, TemporalForm};
use super::control::{ControlModel, Step, StepActor};
use super::effects::InputClass;
use super::header;
use orchestrion_kernel::Trigger;
use std::fmt::Write;

/// The name of the module, which its file must have as well.
pub const MODULE: &str = "Control";

/// The model as a TLA+ module.
#[must_use]
pub fn module(control: &ControlModel) -> String {
    let mut text = format!("---- MODULE {MODULE} ----\n");
    for line in header::lines(control, &RUN) {
        let _ = writeln!(text, "{}", format!("\\* {line}").trim_end());
    }
    text.push_str("\nEXTENDS Naturals\n\n");
    for (limit, value) in control.limits() {
        let _ = writeln!(text, "{:<8} == {value}  \\* {}", limit.name(), limit.about());
    }
    text.push_str("\nVARIABLES\n");
    for (i, var) in control.vars.iter().enumerate() {
        let name = if i + 1 < control.vars.len() { format!("{},", var.name()) } else { var.name().into() };
        let _ = writeln!(text, "    {name:<14} \\* {}", var.about());
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
    text.push_str("\n\\* What is forgotten when the request is stored, and when the next one begins.\n");
    for span in [Lifetime::Plan, Lifetime::Request] {
        let _ = writeln!(text, "{} ==", forget(span));
        for var in control.spanning(span) {
            let _ = writeln!(text, "    /\\ {}' = {}", var.name(), initial(control, var));
        }
    }
    for step in &control.steps {
        write_step(&mut text, control, step);
    }
    for (party, about) in StepActor::ALL.into_iter().zip([
        "The orchestrator goes on by itself.",
        "A module answers, or its call fails.",
        "The user owes nothing.",
    ]) {
        let _ = writeln!(text, "\n\\* {about}");
        union(&mut text, party.name(), control.taken_by(party));
    }
    text.push_str("\n\\* Of these claims ask whether they are possible.\n");
    for who in control.referenced_filters() {
        union(&mut text, step_of(who), control.steps_of(who));
    }
    text.push_str(
        "\nNext == Kernel \\/ Modules \\/ User\n\n\
         Spec == Init /\\ [][Next]_vars /\\ WF_vars(Kernel) /\\ WF_vars(Modules)\n",
    );
    for stated in &control.claims {
        claim(&mut text, stated);
    }
    text.push_str("\n====\n");
    text
}

/// The file beside the module that tells TLC what to check: these of its claims, and the types.
#[must_use]
pub fn config(control: &ControlModel, checked: impl Fn(&ExportedClaim) -> bool) -> String {
    let mut text = String::from("SPECIFICATION Spec\nINVARIANT TypeOK\n");
    for stated in control.claims.iter().filter(|stated| checked(stated)) {
        let what = if stated.is_liveness() { "PROPERTY" } else { "INVARIANT" };
        let _ = writeln!(text, "{what} {}", stated.name());
    }
    text
}

const RUN: [&str; 4] = [
    "Run it, with Control.cfg beside it, which names the claims to check:",
    "",
    "    java -cp tla2tools.jar tlc2.TLC -deadlock Control",
    "    (without -deadlock TLC asks for a next step everywhere; C_14 says where one must be)",
];

fn initial(control: &ControlModel, var: Var) -> String {
    match control.domain(var) {
        Domain::OneOf(_, values) => format!("\"{}\"", values[0]),
        Domain::Bool => "FALSE".to_string(),
        Domain::Count(_) => "0".to_string(),
    }
}

const fn forget(span: Lifetime) -> &'static str {
    match span {
        Lifetime::Plan => "ForgetPlan",
        Lifetime::Request | Lifetime::Conversation => "ForgetRequest",
    }
}

const fn step_of(who: StepFilter) -> &'static str {
    match who {
        StepFilter::System => "GoesOn",
        StepFilter::Failing(InputClass::FateUnknown) => "IsLost",
        StepFilter::Failing(_) => "Fails",
        StepFilter::Answering => "IsAnswered",
        StepFilter::User(Trigger::SessionStart) => "Opens",
        StepFilter::User(Trigger::SessionEnd) => "Closes",
        StepFilter::User(Trigger::Cancel) => "IsCancelled",
        StepFilter::User(_) => "IsTold",
    }
}

/// An action that is one of these steps.
fn union<'a>(text: &mut String, name: &str, steps: impl Iterator<Item = &'a Step>) {
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
    let letters: Vec<&str> = step.letters.iter().map(|letter| letter.name()).collect();
    if !letters.is_empty() {
        let _ = writeln!(text, "\\* came: {}", letters.join(", "));
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
    for span in &step.effects.forgets {
        let _ = writeln!(text, "    /\\ {}", forget(*span));
    }
    let kept =
        control.vars.iter().copied().filter(|var| {
            !step.effects.sets.contains_key(var) && !step.effects.forgets.contains(&var.span())
        });
    tuple(text, "    /\\ UNCHANGED <<", kept, ">>");
}

fn claim(text: &mut String, stated: &ExportedClaim) {
    let ExportedClaim { claim, form } = stated;
    let finding = claim.finding.map(|finding| format!(" ({finding})")).unwrap_or_default();
    let _ = writeln!(text, "\n\\* {}{finding} {}", claim.id, claim.statement);
    let _ = match form {
        TemporalForm::Always(Condition::All(each)) => {
            let each: String = each.iter().map(|cond| format!("\n    /\\ {}", self::cond(cond))).collect();
            writeln!(text, "{} =={each}", stated.name())
        }
        TemporalForm::Always(holds) => writeln!(text, "{} == {}", stated.name(), cond(holds)),
        TemporalForm::LeadsTo(a, b) => writeln!(text, "{} == {} ~> {}", stated.name(), part(a), part(b)),
    };
}

fn term(term: Term) -> String {
    match term {
        Term::Number(number) => number.to_string(),
        Term::Limit(limit) => limit.name().to_string(),
        Term::AboveBound(limit) => format!("{} + 1", limit.name()),
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
        Condition::Can(who) => format!("ENABLED {}", step_of(*who)),
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
