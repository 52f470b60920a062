//! What the kernel's types print: reports, traces and messages contain these texts.

use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::event::{DecisionLabel, EffectOutcome, StoreStatus};
use orchestrion_kernel::item::{Derivation, Rank, Scope, SupersessionRule};
use orchestrion_kernel::module::{ConclusionKind, Failure, Module, Role, Stance};
use orchestrion_kernel::network::routing::Filter;
use orchestrion_kernel::network::{HandoffRefusal, Millionths};
use orchestrion_kernel::situation::{SummaryField, ToolOutcome};
use orchestrion_kernel::{Phase, Trigger};
use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};

fn list<T: Display>(text: &mut String, name: &str, values: impl IntoIterator<Item = T>) {
    let _ = writeln!(text, "{name}");
    for value in values {
        let _ = writeln!(text, "  {value}");
    }
}

#[test]
fn values_print_their_texts() {
    let mut text = String::new();
    list(&mut text, "phases", Phase::ALL);
    list(&mut text, "triggers", Trigger::ALL);
    list(&mut text, "modules", Module::ALL);
    list(&mut text, "roles", Role::ALL);
    list(&mut text, "failures", Failure::ALL);
    list(&mut text, "stances", [Stance::Pro, Stance::Con]);
    list(&mut text, "ranks", Rank::ALL);
    let scopes = [Scope::Task("t".into()), Scope::Hypothetical("h".into()), Scope::Draft("d".into())];
    list(&mut text, "scopes", [Scope::Global, Scope::Session].into_iter().chain(scopes));
    let rules = [
        SupersessionRule::Authority,
        SupersessionRule::Explicit,
        SupersessionRule::Temporal,
        SupersessionRule::Implicit,
    ];
    list(
        &mut text,
        "derivations",
        [Derivation::Statement].into_iter().chain(rules.map(Derivation::Supersession)),
    );
    let kinds = [
        ConclusionKind::Outcome,
        ConclusionKind::Blocked,
        ConclusionKind::RolledBack,
        ConclusionKind::Aborted,
    ];
    list(&mut text, "conclusions", kinds);
    let labels = [
        DecisionLabel::ConsensusReached,
        DecisionLabel::ProceedBelowThreshold,
        DecisionLabel::Rejected,
        DecisionLabel::Vetoed,
        DecisionLabel::Outdated,
    ];
    list(&mut text, "decisions", labels);
    list(&mut text, "stores", [StoreStatus::Held, StoreStatus::Missing, StoreStatus::Unknown]);
    list(&mut text, "effects", [EffectOutcome::Kept, EffectOutcome::Undone, EffectOutcome::UndoFailed]);
    list(&mut text, "filters", Filter::ALL);
    let numbers = [i64::MIN, -1_500_000, -1, 0, 1, 999_999, 1_000_000, 2_000_001, i64::MAX];
    list(&mut text, "millionths", numbers.map(Millionths::new));
    list(&mut text, "refusals of handoffs", HandoffRefusal::ALL);
    list(&mut text, "summary", SummaryField::ALL);
    list(&mut text, "tool outcomes", ToolOutcome::ALL);
    let guards: BTreeSet<String> = TRANSITIONS.iter().map(|row| row.when.to_string()).collect();
    list(&mut text, "guards", guards);
    let exits: BTreeSet<String> =
        TRANSITIONS.iter().flat_map(|row| row.exit).map(ToString::to_string).collect();
    list(&mut text, "exit actions", exits);
    let entries: BTreeSet<String> =
        TRANSITIONS.iter().flat_map(|row| row.entry).map(ToString::to_string).collect();
    list(&mut text, "entry actions", entries);
    let rules: BTreeSet<String> =
        TRANSITIONS.iter().filter_map(|row| row.conclusion.as_ref()).map(ToString::to_string).collect();
    list(&mut text, "conclusion rules", rules);
    insta::assert_snapshot!(text);
}
