//! Generated pages: the transition table, the diagram, the catalogue of claims and what became of 002's `State`,
//! for people to read.

mod diagram;

pub use diagram::{dot, mermaid};

use orchestrion_claims::{CLAIMS, ClaimCheck};
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::table::{
    Switch, TRANSITIONS, Transition, TransitionSource, enabled_transitions,
};
use orchestrion_kernel::situation::{OBSOLETE_KEYS, STATE_FIELDS};
use orchestrion_kernel::{Phase, Policy, Trigger};
use std::fmt::Write;

/// The transition table as a page, whole or as one policy switches it on; and every state × every trigger.
#[must_use]
pub fn table(policy: Option<&Policy>) -> String {
    let mut page = String::from("# The transition table\n\n");
    page.push_str(match policy {
        None => "Every row, whatever the policy.",
        Some(_) => "The rows that the policy switches on.",
    });
    page.push_str(
        " Read it from the top: of the rows that fit state and trigger, the first whose guard holds is taken; \
         if there is none, the input is refused.\n\n\
         | row | clause | switch | from | on | when | to | meaning |\n|---|---|---|---|---|---|---|---|\n",
    );
    for row in TRANSITIONS.iter().filter(|row| policy.is_none_or(|policy| row.switch.is_on(policy))) {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.id,
            row.clause,
            switch(row.switch),
            source(row.from),
            row.on,
            when(row),
            row.to,
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

/// Every state × every trigger: the rows that may be taken, in order, or a refusal.
fn matrix(page: &mut String, policy: &Policy) {
    let _ = write!(
        page,
        "\n## Every state × every trigger under `{}`\n\nThe rows that may be taken, in order of precedence; \
         `–` is a refusal, and so is a cell none of whose guards holds.\n\n| state |",
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
            let taken = enabled_transitions(policy, phase, trigger);
            // Below a row that always holds, none is ever taken.
            let mut settled = false;
            let taken = taken.take_while(|row| !std::mem::replace(&mut settled, row.when == Guard::Always));
            let ids: Vec<&str> = taken.map(|row| row.id).collect();
            let _ = write!(page, " {} |", if ids.is_empty() { "–".to_string() } else { ids.join(" ") });
        }
        page.push('\n');
    }
}

/// The diagram as a page.
#[must_use]
pub fn diagram() -> String {
    format!(
        "# The control FSM\n\n## `hardened`, without the rows for failing calls and for cancelling\n\n\
         ```mermaid\n{}```\n\n## `as-drawn`\n\n```mermaid\n{}```\n",
        mermaid(&Policy::hardened(), false),
        mermaid(&Policy::as_drawn(), false),
    )
}

/// The catalogue of claims as a page.
#[must_use]
pub fn claims() -> String {
    let mut page = String::new();
    page.push_str(
        "# Claims\n\nWhat is to hold in every run. `orchestrion check` holds each against everything that modules \
         and users may do, on the kernel's own code.\n\n\
         | claim | clause | finding | kind | statement | formula |\n|---|---|---|---|---|---|\n",
    );
    for claim in CLAIMS {
        let kind = match claim.check {
            ClaimCheck::LeadsTo { .. } => "liveness: in every fair run, by the explorer only",
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

/// What became of each field of 002's `State`, and the keys that it gave up, as a page.
#[must_use]
pub fn state() -> String {
    let mut page = String::from(
        "# The fields of 002's State\n\nEach is an item of the semantic state, a field of the control state, or \
         dropped.\n\n| field | becomes | what stands for it, or why nothing does |\n|---|---|---|\n",
    );
    for (field, number) in STATE_FIELDS.iter().zip(1..) {
        let clause = format!("../clauses/002.md#002-1.{number}");
        let _ = writeln!(page, "| [`{}`]({clause}) | {} | {} |", field.name, field.place, field.note);
    }
    let _ = write!(
        page,
        "\n## Obsolete keys\n\nIn an action record, and in each call of a tool in it, these are refused: `{}`. The \
         situation summary says what they said; `progress` is a field of the summary only.\n",
        OBSOLETE_KEYS.join("`, `"),
    );
    page
}

/// The guard; one that always holds is left out where no row above could have been taken instead.
fn when(row: &Transition) -> String {
    let overlap = |other: &&Transition| match (other.from, row.from) {
        (TransitionSource::Phase(phase), source) | (source, TransitionSource::Phase(phase)) => {
            source.contains(phase)
        }
        (TransitionSource::Region(other), TransitionSource::Region(region)) => other == region,
    };
    let above = TRANSITIONS.iter().take_while(|other| other.id != row.id);
    let alone = !above.filter(|other| other.on == row.on).any(|other| overlap(&other));
    if row.when == Guard::Always && alone { String::new() } else { row.when.to_string() }
}

fn switch(switch: Switch) -> String {
    match switch {
        Switch::Always => String::new(),
        Switch::RuleOn(rule) => format!("`{}`", rule.name()),
        Switch::RuleOff(rule) => format!("not `{}`", rule.name()),
        Switch::BoundedRepairs => "`bounds.repairs`".to_string(),
    }
}

fn source(source: TransitionSource) -> String {
    match source {
        TransitionSource::Phase(phase) => phase.to_string(),
        TransitionSource::Region(region) => format!("any in {}", region.name()),
    }
}
