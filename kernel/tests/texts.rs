//! What the kernel's types print: reports, traces and messages contain these texts.

use orchestrion_kernel::checker::EventError;
use orchestrion_kernel::context::{ByteMeasure, TextMeasure as _, TokenizerUnavailable};
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::control::transition::TransitionId;
use orchestrion_kernel::event::{DecisionLabel, EffectOutcome, StoreStatus};
use orchestrion_kernel::item::{Derivation, Layer, Rank, Scope, SupersessionRule, Topic};
use orchestrion_kernel::module::{ConclusionKind, Failure, Module, Operation, Role, Stance};
use orchestrion_kernel::network::aggregation::AggregationError;
use orchestrion_kernel::network::routing::Filter;
use orchestrion_kernel::network::{HandoffRefusal, Millionths, NetworkError, TrustPolicy};
use orchestrion_kernel::plan::PlanError;
use orchestrion_kernel::policy::Tokenizer;
use orchestrion_kernel::selection::SelectionError;
use orchestrion_kernel::situation::{Mode, STATE_FIELDS, SummaryField, ToolOutcome};
use orchestrion_kernel::{CapabilityId, ItemId, NodeId, Phase, Policy, Score, TaskId, Trigger, UserId};
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
    list(&mut text, "topics", Topic::ALL);
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
    list(&mut text, "modes", [Mode::Fast, Mode::Deep]);
    let fields = STATE_FIELDS.map(|field| format!("{}: {}", field.name, field.mapping));
    list(&mut text, "fields of the state", fields);
    list(&mut text, "questions of the summary", SummaryField::ALL.map(SummaryField::question));
    insta::assert_snapshot!(text);
}

/// Which values of an enumeration have a property.
#[test]
fn predicates_hold_for_their_values() {
    assert!(Role::ALL.into_iter().filter(|role| role.revises_plan()).eq([Role::Solution, Role::Optimizer]));
    let argued = [Operation::Argue(Role::Critic), Operation::ArgueAdditional { debater: 0 }];
    assert!(argued.into_iter().all(Operation::expects_argument));
    let others = [Operation::DraftPlan, Operation::Approve, Operation::Summarize, Operation::DeliverAudit];
    assert!(!others.into_iter().any(Operation::expects_argument));
    let labels = [
        (DecisionLabel::ConsensusReached, true),
        (DecisionLabel::ProceedBelowThreshold, true),
        (DecisionLabel::Rejected, false),
        (DecisionLabel::Vetoed, false),
        (DecisionLabel::Outdated, false),
    ];
    assert!(labels.into_iter().all(|(label, proceeds)| label.is_proceed() == proceeds));
    assert!(Layer::Environment.is_signal());
    let request = Layer::Request { user: UserId::new("ada"), scope: Scope::Global };
    assert!(!request.is_signal());
    assert_eq!(ByteMeasure.relevance("read", &["read", "write"]), [Score::ZERO; 2]);
}

#[test]
fn rows_have_their_ids() {
    for row in TRANSITIONS {
        let id = TransitionId::from_id(row.id).unwrap();
        assert_eq!((id.transition().id, format!("{id:?}")), (row.id, row.id.to_owned()));
    }
    assert_eq!(TransitionId::from_id("T00"), None);
}

#[test]
fn errors_print_their_texts() {
    let mut text = String::new();
    let [first, second] = [1, 2].map(ItemId::new);
    let events = [
        EventError::DuplicateId(first),
        EventError::UnknownItem(first),
        EventError::DanglingDependency(first),
        EventError::HasDependents { id: first, by: second },
        EventError::InvalidForgetCause(first),
    ];
    list(&mut text, "events", events);
    let numbers = ["", "1.0000001", "1.5"].map(|text| Score::from_decimal(text).unwrap_err());
    list(&mut text, "numbers", numbers);
    let [task, other] = [1, 2].map(TaskId::new);
    let plans = [
        PlanError::Empty,
        PlanError::TooLong { tasks: 10_001 },
        PlanError::DuplicateTask { task },
        PlanError::NotEarlier { task, dependency: other },
        PlanError::NotValidated { task, validates: other },
    ];
    list(&mut text, "plans", plans);
    let mut policy = Policy::hardened();
    policy.bounds.passes = 0;
    list(&mut text, "policies", policy.validate().err());
    policy.rules.next_request = false;
    policy.bounds.passes = 1;
    list(&mut text, "policies with a conflict", policy.validate().err());
    let mut trust = TrustPolicy::default();
    trust.trust.partner_window = 0;
    list(&mut text, "constants of a network", trust.validate().err());
    trust.connection.min_weight = Score::ONE;
    list(&mut text, "constants of a network with a conflict", trust.validate().err());
    let node = NodeId::new("ana");
    let networks = [
        NetworkError::NoNetwork,
        NetworkError::AlreadyCreated,
        NetworkError::OrchestratorMissing { orchestrator: node.clone() },
        NetworkError::DuplicateNode { node: node.clone() },
        NetworkError::UnknownNode { node: node.clone() },
        NetworkError::UnknownCapability { node: node.clone(), capability: CapabilityId::new("read") },
        NetworkError::OrchestratorLeaves { orchestrator: node.clone() },
    ];
    list(&mut text, "networks", networks);
    let aggregations = [
        AggregationError::NoResults,
        AggregationError::NotNumeric { node },
        AggregationError::Unresolved { score: Score::ZERO },
    ];
    list(&mut text, "aggregations", aggregations);
    let selections = [
        SelectionError::OutOfOrder { item: 1 },
        SelectionError::UnknownPosition { item: 1 },
        SelectionError::MissingDependency { item: 1, dep: 2 },
        SelectionError::Forbidden { item: 1 },
        SelectionError::PinnedMissing { item: 1 },
        SelectionError::WrongUtility { found: 1, expected: 2 },
        SelectionError::WrongCost { found: 1, expected: 2 },
        SelectionError::OverBudget { cost: 2, budget: 1 },
    ];
    list(&mut text, "selections", selections);
    list(&mut text, "tokenizers", Tokenizer::ALL.map(TokenizerUnavailable));
    insta::assert_snapshot!(text);
}
