//! The control model in Promela, the language of SPIN.

use super::ast::{Condition, Domain, Expr, Lifetime, StepFilter, Term, Var};
use super::claims::{ExportedClaim, TemporalForm};
use super::control::{ControlModel, Step, StepActor};
use super::effects::InputClass;
use super::header;
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
    for (limit, value) in control.limits() {
        let _ = writeln!(text, "#define {:<8} {value}  /* {} */", limit.name(), limit.about());
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
        let _ = writeln!(text, "{declared:<42} /* {} */", var.about());
    }
    text.push_str("\n/* What is forgotten when the request is stored, and when the next one begins. */\n");
    for span in [Lifetime::Plan, Lifetime::Request] {
        let _ = writeln!(text, "inline {}() {{", forget(span));
        let initial = |var: Var| match control.domain(var) {
            Domain::OneOf(_, values) => values[0].to_string(),
            Domain::Bool => "false".to_string(),
            Domain::Count(_) => "0".to_string(),
        };
        let all = control.spanning(span).map(|var| format!("{} = {}; ", var.name(), initial(var)));
        header::wrapped(&mut text, "    ", all, 100);
        text.push_str("}\n");
    }
    text.push_str("\n/* Where somebody can take a step. */\n");
    for who in control.referenced_filters() {
        let ways: Vec<String> =
            control.enabled_conditions(who).iter().map(|way| format!("    ({})", cond(way))).collect();
        let ways = if ways.is_empty() { "    false".to_string() } else { ways.join(" || \\\n") };
        let _ = writeln!(text, "#define {} ( \\\n{ways} )", can(who));
    }
    for party in StepActor::ALL {
        let _ = writeln!(text, "\n/* {} */\nactive proctype {}() {{\n    do", about(party), party.name());
        for step in control.taken_by(party) {
            write_step(&mut text, control, step);
        }
        if party == StepActor::User {
            text.push_str("    /* nothing is said */\n    :: d_step { true -> skip }\n");
        }
        text.push_str("    od\n}\n");
    }
    for stated in &control.claims {
        claim(&mut text, stated);
    }
    text
}

const RUN: [&str; 5] = [
    "Run it, for one claim after the other:",
    "",
    "    spin -a control.pml && cc -O2 -DNFAIR=3 -o pan pan.c",
    "    ./pan -a -f -m1000000 -N C_03     the claim of this name; `errors: 0` means that it holds",
    "    spin -t -p control.pml            what broke it, step by step",
];

const fn about(party: StepActor) -> &'static str {
    match party {
        StepActor::Kernel => "The orchestrator goes on by itself.",
        StepActor::Modules => "A module answers, or its call fails.",
        StepActor::User => {
            "The user owes nothing: doing nothing is a step, so that fairness asks for no other."
        }
    }
}

/// The narrowest type that holds a counter.
fn width(control: &ControlModel, var: Var) -> &'static str {
    let last = match control.last(var) {
        Term::Number(number) => u64::from(number),
        Term::Limit(limit) | Term::AboveBound(limit) => {
            u64::from(limit.value(&control.policy).unwrap_or(0)).saturating_add(1)
        }
        Term::Of(_) | Term::Next(_) => u64::MAX,
    };
    if last < 256 { "byte" } else { "int" }
}

fn forget(span: Lifetime) -> &'static str {
    match span {
        Lifetime::Plan => "forget_plan",
        Lifetime::Request | Lifetime::Conversation => "forget_request",
    }
}

fn can(who: StepFilter) -> &'static str {
    match who {
        StepFilter::System => "can_go_on",
        StepFilter::Failing(InputClass::FateUnknown) => "can_be_lost",
        StepFilter::Failing(_) => "can_fail",
        StepFilter::Answering => "can_be_answered",
        StepFilter::User(Trigger::SessionStart) => "can_open",
        StepFilter::User(Trigger::SessionEnd) => "can_close",
        StepFilter::User(Trigger::Cancel) => "can_cancel",
        StepFilter::User(_) => "can_be_told",
    }
}

/// A step is one `d_step`, so that nobody sees it half done; of several values that may be drawn, each has a line.
fn write_step(text: &mut String, control: &ControlModel, step: &Step) {
    let letters: Vec<&str> = step.letters.iter().map(|letter| letter.name()).collect();
    let came = if letters.is_empty() { String::new() } else { format!(" [{}]", letters.join(", ")) };
    let _ = writeln!(text, "    /* {} ({}) {}{came} */", step.row.id, step.row.clause, step.row.label);
    for drawn in draws(step) {
        let _ = writeln!(text, "    :: d_step {{ {} ->", cond(&step.guard()));
        let forgets = step.effects.forgets.iter().map(|span| format!("{}(); ", forget(*span)));
        let changes = drawn.iter().filter(|(var, value)| **value != Expr::Of(*var));
        let sets = changes.map(|(var, value)| format!("{} = {}; ", var.name(), expr(control, value)));
        header::wrapped(text, "         ", sets.chain(forgets), 100);
        text.truncate(text.trim_end_matches(['\n', ' ', ';']).len());
        text.push_str(" }\n");
    }
}

/// The values that a step sets, for each way to draw them.
fn draws(step: &Step) -> Vec<Vec<(Var, &Expr)>> {
    let mut drawn: Vec<Vec<(Var, &Expr)>> = vec![Vec::new()];
    for (var, values) in &step.effects.sets {
        let before = std::mem::take(&mut drawn);
        for value in values {
            drawn.extend(before.iter().map(|so_far| {
                let mut with = so_far.clone();
                with.push((*var, value));
                with
            }));
        }
    }
    drawn
}

fn claim(text: &mut String, stated: &ExportedClaim) {
    let ExportedClaim { claim, form } = stated;
    let finding = claim.finding.map(|finding| format!(" ({finding})")).unwrap_or_default();
    let _ = writeln!(text, "\n/* {}{finding} {} */", claim.id, claim.statement);
    let formula = match form {
        TemporalForm::Always(holds) => format!("[] ({})", cond(holds)),
        TemporalForm::LeadsTo(a, b) => format!("[] (({}) -> <> ({}))", cond(a), cond(b)),
    };
    let _ = writeln!(text, "ltl {} {{ {formula} }}", stated.name());
}

fn term(term: Term) -> String {
    match term {
        Term::Number(number) => number.to_string(),
        Term::Limit(limit) => limit.name().to_string(),
        Term::AboveBound(limit) => format!("({} + 1)", limit.name()),
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
        Condition::Can(who) => can(*who).to_string(),
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
