//! Generated reference pages in Markdown: the transition table, the state diagram, the claims, the findings, and the fields of 002's
//! `State`.

mod diagram;
mod findings;

pub use diagram::{dot, mermaid};
pub use findings::findings;

use orchestrion_claims::{CLAIMS, ClaimCheck};
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::table::{
    Switch, TRANSITIONS, Transition, TransitionSource, enabled_transitions,
};
use orchestrion_kernel::situation::{OBSOLETE_KEYS, STATE_FIELDS};
use orchestrion_kernel::{Phase, Policy, Trigger};
use std::fmt::Write;

/// Returns the transition table, of one policy or of all, and the transitions of each phase and trigger.
#[must_use]
pub fn table(policy: Option<&Policy>) -> String {
    let mut page = String::from("# Transition table\n\n");
    page.push_str(match policy {
        None => "The transitions of all policies.",
        Some(_) => "The transitions that the policy enables.",
    });
    page.push_str(
        " Of the transitions for a phase and a trigger, the first one whose guard holds is taken; \
         if there is none, the input is refused.\n\n\
         | id | clause | switch | from | trigger | guard | exit actions | conclusion | to | entry actions | meaning |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in TRANSITIONS.iter().filter(|row| policy.is_none_or(|policy| row.switch.is_on(policy))) {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.id,
            row.clause,
            switch(row.switch),
            source(row.from),
            row.on,
            guard(row),
            list(row.exit),
            row.conclusion.map_or(String::new(), |conclusion| conclusion.to_string()),
            row.to,
            list(row.entry),
            row.label.replace('|', "\\|"),
        );
    }
    for policy in
        policy.map_or_else(|| vec![Policy::hardened(), Policy::as_drawn()], |policy| vec![policy.clone()])
    {
        matrix(&mut page, &policy);
    }
    page
}

/// Writes the transitions of each phase and trigger, in order of precedence.
fn matrix(page: &mut String, policy: &Policy) {
    let _ = write!(
        page,
        "\n## Phases and triggers under `{}`\n\nEach cell lists the enabled transitions in order of precedence. \
         The input is refused if the cell is `–` or no guard holds.\n\n| phase |",
        policy.name
    );
    for trigger in Trigger::ALL {
        let _ = write!(page, " {trigger} |");
    }
    page.push_str("\n|---|");
    page.push_str(&"---|".repeat(Trigger::ALL.len()));
    page.push('\n');
    for phase in Phase::ALL {
        let _ = write!(page, "| {phase} |");
        for trigger in Trigger::ALL {
            let mut ids = Vec::new();
            for row in enabled_transitions(policy, phase, trigger) {
                ids.push(row.id);
                // The transitions after an unconditional one are never taken.
                if row.when == Guard::Always {
                    break;
                }
            }
            let _ = write!(page, " {} |", if ids.is_empty() { "–".to_string() } else { ids.join(" ") });
        }
        page.push('\n');
    }
}

/// Returns the state diagrams of both built-in policies.
#[must_use]
pub fn diagram() -> String {
    format!(
        "# Control FSM\n\n## `hardened`, without transitions for failed calls and cancellation\n\n\
         ```mermaid\n{}```\n\n## `as-drawn`\n\n```mermaid\n{}```\n",
        mermaid(&Policy::hardened(), false),
        mermaid(&Policy::as_drawn(), false),
    )
}

/// Returns the claims.
#[must_use]
pub fn claims() -> String {
    let mut page = String::new();
    page.push_str(
        "# Claims\n\n`orchestrion check` checks every claim against all reachable states of the models, with the kernel's own code.\n\n\
         | claim | clause | finding | kind | statement | formula |\n|---|---|---|---|---|---|\n",
    );
    for claim in CLAIMS {
        let kind = match claim.check {
            ClaimCheck::LeadsTo { .. } => "liveness, under fairness; explorer only",
            check => check.kind(),
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {kind} | {} | `{}` |",
            claim.id,
            claim.clause,
            claim.finding.unwrap_or(""),
            claim.statement,
            claim.formula.replace('|', "\\|"),
        );
    }
    page
}

/// Returns the mapping of each field of 002's `State`, and the obsolete keys.
#[must_use]
pub fn state() -> String {
    let mut page = String::from(
        "# Fields of 002's State\n\nEach field maps to an item of the semantic state, maps to a field of the control state, or is \
         dropped.\n\n| field | maps to | counterpart, or reason to drop it |\n|---|---|---|\n",
    );
    for (field, number) in STATE_FIELDS.iter().zip(1..) {
        let clause = format!("../clauses/002.md#002-1.{number}");
        let _ = writeln!(page, "| [`{}`]({clause}) | {} | {} |", field.name, field.mapping, field.note);
    }
    let _ = write!(
        page,
        "\n## Obsolete keys\n\nAction records and their tool calls must not contain: `{}`. The situation summary \
         replaces them; `progress` is a field of the summary only.\n",
        OBSOLETE_KEYS.join("`, `"),
    );
    page
}

/// Returns the guard; empty if it always holds and no earlier transition competes.
fn guard(row: &Transition) -> String {
    let overlap = |other: &&Transition| match (other.from, row.from) {
        (TransitionSource::Phase(phase), source) | (source, TransitionSource::Phase(phase)) => {
            source.contains(phase)
        }
        (TransitionSource::Region(other), TransitionSource::Region(region)) => other == region,
    };
    let above = TRANSITIONS.iter().take_while(|other| other.id != row.id);
    let is_alone = !above.filter(|other| other.on == row.on).any(|other| overlap(&other));
    if row.when == Guard::Always && is_alone { String::new() } else { row.when.to_string() }
}

fn switch(switch: Switch) -> String {
    match switch {
        Switch::Always => String::new(),
        Switch::RuleOn(rule) => format!("`{}`", rule.name()),
        Switch::RuleOff(rule) => format!("not `{}`", rule.name()),
        Switch::BoundedRepairs => "`bounds.repairs`".to_string(),
        Switch::AdditionalDebaters => "`additional_debaters`".to_string(),
    }
}

fn source(source: TransitionSource) -> String {
    match source {
        TransitionSource::Phase(phase) => phase.to_string(),
        TransitionSource::Region(region) => format!("any in {}", region.name()),
    }
}

fn list(actions: &[impl ToString]) -> String {
    actions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
