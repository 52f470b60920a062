//! Compaction (000 §6, decision 0021): triggers, clusters, and the state after it.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod write_helpers;

use orchestrion_claims::{CLAIMS, History, state_violations, step_violations};
use orchestrion_kernel::context::{ByteMeasure, build_context};
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::ids::{Text, Timestamp};
use orchestrion_kernel::item::{
    Audience, ConstraintType, FactRecord, FactSource, Identity, Item, ItemKey, ItemKind, Layer, MemoryType,
    Rank, Scope, SupersessionRule, Validity,
};
use orchestrion_kernel::knowledge::compaction::{cluster, is_due};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write};
use orchestrion_kernel::module::{Failure, Operation, Report};
use orchestrion_kernel::policy::CompactionPolicy;
use orchestrion_kernel::{
    ConversationId, Event, Events, Input, ItemId, Phase, Policy, Refusal, State, UserId, decide,
};
use orchestrion_optimizer::ExactSelector;
use write_helpers::new;

struct Kernel {
    policy: Policy,
    state: State,
}

impl Kernel {
    /// Opens a session with limits that few items reach.
    fn new(from_items: u32, from_tokens: u32, cluster_items: u32) -> Self {
        let compaction = CompactionPolicy { from_items, from_tokens, cluster_items };
        let mut kernel = Self {
            policy: Policy { compaction, ..Policy::hardened() },
            state: State::new(ConversationId::new("c")),
        };
        kernel.take(Input::SessionStart { user: UserId::new("ada") }).unwrap();
        kernel
    }

    fn take(&mut self, input: Input) -> Result<Events, Refusal> {
        let events = decide(&self.policy, &self.state, &input)?;
        events.iter().for_each(|event| self.state.apply(event));
        assert!(self.state.semantic().is_consistent());
        Ok(events)
    }

    fn write(&mut self, write: Write) {
        self.take(Input::Write(Box::new(write))).unwrap();
    }

    fn know(&mut self, key: &str, text: &str) {
        self.write(Write::Fact(fact(key, text)));
    }

    fn reply(&mut self, report: Report) -> Result<Events, Refusal> {
        let call = self.state.control().pending_call().unwrap().id;
        self.take(Input::reply(call, report))
    }

    /// Sends a request and advances it to the point at which compaction may start.
    fn send_request(&mut self) -> Phase {
        let user = self.state.control().session().unwrap().clone();
        self.take(Input::UserMessage { user, text: "what now?".into() }).unwrap();
        self.reply(Report::Identity { gcp: true, mongodb: true }).unwrap();
        self.take(Input::Step).unwrap();
        self.state.control().phase()
    }

    /// Aborts the running request and returns the reply to it.
    fn abort_request(&mut self) {
        self.take(Input::Cancel).unwrap();
        self.reply(Report::Stored { held: true }).unwrap();
        self.reply(Report::Stored { held: true }).unwrap();
        self.reply(Report::Delivered).unwrap();
    }

    /// Opens the session of the next user.
    fn switch_user(&mut self, user: &str) {
        self.take(Input::SessionEnd).unwrap();
        self.take(Input::SessionStart { user: UserId::new(user) }).unwrap();
    }

    fn summarize(&mut self, text: &str, forgets: Option<&[u64]>) -> Result<Events, Refusal> {
        let forgets = forgets.map(|ids| ids.iter().copied().map(ItemId::new).collect());
        self.reply(Report::Summary { text: text.into(), forgets })
    }

    fn ids(&self) -> Vec<u64> {
        self.state.semantic().entries().map(|entry| entry.item.id.number()).collect()
    }

    fn cluster(&self) -> Vec<u64> {
        cluster(&self.policy, &self.state).into_iter().map(ItemId::number).collect()
    }

    fn item(&self, id: u64) -> &Item {
        &self.state.semantic().get(ItemId::new(id)).unwrap().item
    }

    fn deps(&self, id: u64) -> Vec<u64> {
        self.state.semantic().get(ItemId::new(id)).unwrap().deps.iter().map(|id| id.number()).collect()
    }
}

fn fact(key: &str, text: &str) -> NewFact {
    NewFact { established_at: Timestamp::default(), ..new(key, text, Rank::Employee) }
}

fn on(fact: NewFact, key: &str) -> NewFact {
    NewFact { depends_on: vec![Reference::Key(key.into())], ..fact }
}

fn instead(fact: NewFact, key: &str) -> NewFact {
    NewFact { supersedes: Some(Reference::Key(key.into())), ..fact }
}

// ── triggers ─────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn compaction_is_due_at_item_threshold() {
    let mut kernel = Kernel::new(3, 1_000, 8);
    kernel.know("a", "1");
    kernel.know("b", "2");
    kernel.write(Write::Environment { key: "e".into(), text: "3".into(), supersedes: None });
    assert!(!is_due(&kernel.policy, &kernel.state));
    kernel.know("c", "3");
    assert_eq!(kernel.send_request(), Phase::Compacting);
}

#[test]
fn compaction_is_due_at_token_threshold() {
    let mut kernel = Kernel::new(99, 4, 8);
    kernel.know("a", "four bytes: no, sixteen");
    assert!(!is_due(&kernel.policy, &kernel.state), "one item alone");
    kernel.know("b", "1");
    assert!(is_due(&kernel.policy, &kernel.state));
    kernel.policy.compaction.from_tokens = 8;
    assert!(!is_due(&kernel.policy, &kernel.state), "7 tokens");
}

#[test]
fn disabled_rule_prevents_compaction() {
    let mut kernel = Kernel::new(2, 1, 8);
    kernel.policy.rules.compaction = false;
    kernel.know("a", "1");
    kernel.know("b", "2");
    assert_eq!(kernel.send_request(), Phase::LoadingContext);
}

// ── clusters ─────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn cluster_is_oldest_of_largest_group() {
    let mut kernel = Kernel::new(3, 1_000, 2);
    for key in ["a", "b", "c"] {
        kernel.know(key, key);
    }
    let guest = FactSource { name: "author".into(), rank: Rank::Guest };
    for key in ["d", "e"] {
        kernel.write(Write::Fact(NewFact { source: guest.clone(), ..fact(key, key) }));
    }
    assert_eq!(kernel.send_request(), Phase::Compacting);
    assert_eq!(kernel.cluster(), [1, 2]);
    let selected = build_context(
        &kernel.policy,
        &kernel.state,
        Operation::Summarize,
        &ByteMeasure,
        &ExactSelector::default(),
    )
    .unwrap();
    assert_eq!(selected.ids, [ItemId::new(1), ItemId::new(2)]);
    assert_eq!(selected.text, "# Facts\n[1] fact a: a\n[2] fact b: b\n");
}

#[test]
fn groups_are_not_mixed() {
    let differently: [fn(&mut NewFact); 6] = [
        |fact| fact.kind = FactKind::Constraint(Some(ConstraintType::Budget)),
        |fact| fact.source.rank = Rank::Manager,
        |fact| fact.memory = MemoryType::Organizational,
        |fact| fact.scope = Scope::Session,
        |fact| fact.scope = Scope::Draft("offer".into()),
        |fact| fact.audience = Audience::AtLeast(Rank::Guest),
    ];
    for differ in differently {
        let mut kernel = Kernel::new(2, 1, 8);
        let (authority, department) = ("lead".into(), "d".into());
        let (rank, organization) = (Rank::Manager, "o".into());
        let identity = Identity { authority, rank, department, organization, permissions: Vec::new() };
        kernel.write(Write::Identity { name: "Ada".into(), identity });
        kernel.know("a", "1");
        let mut other =
            NewFact { source: FactSource { name: "x".into(), rank: Rank::Employee }, ..fact("b", "2") };
        differ(&mut other);
        kernel.write(Write::Fact(other));
        assert!(!is_due(&kernel.policy, &kernel.state));
        kernel.know("c", "3");
        assert_eq!(kernel.cluster(), [2, 4]);
    }
}

#[test]
fn constraints_are_summarized_by_policy_only() {
    let mut kernel = Kernel::new(2, 1_000, 8);
    let limit = |key| {
        let source = FactSource { name: "x".into(), rank: Rank::Manager };
        NewFact { kind: FactKind::Constraint(Some(ConstraintType::Budget)), source, ..fact(key, "$1") }
    };
    kernel.write(Write::Fact(limit("a")));
    kernel.write(Write::Fact(limit("b")));
    assert!(!is_due(&kernel.policy, &kernel.state));
    kernel.policy.rules.compacted_constraints = true;
    assert_eq!(kernel.send_request(), Phase::Compacting);
    kernel.summarize("$1 each", None).unwrap();
    assert_eq!(kernel.item(4).kind, ItemKind::Constraint(Some(ConstraintType::Budget)));
}

#[test]
fn shadowed_facts_are_not_summarized() {
    let mut kernel = Kernel::new(2, 1, 8);
    kernel.know("a", "1");
    kernel.know("b", "2");
    kernel.write(Write::Fact(NewFact { scope: Scope::Draft("offer".into()), ..fact("a", "3") }));
    assert_eq!(kernel.cluster(), [2], "the summary would contain the first item in the draft");
}

#[test]
fn running_request_items_are_not_summarized() {
    let mut kernel = Kernel::new(4, 1_000, 8);
    for _ in 0..2 {
        assert_eq!(kernel.send_request(), Phase::LoadingContext);
        kernel.abort_request();
    }
    assert_eq!(kernel.send_request(), Phase::Compacting);
    assert_eq!(kernel.cluster(), [1, 2, 3, 4], "two requests with their final answers; not the third");
    kernel.summarize("Ada sent two requests", None).unwrap();
    let summary = kernel.item(6);
    assert_eq!(
        (&summary.key, &summary.layer),
        (&ItemKey::Summary, &Layer::Request { user: UserId::new("ada") })
    );
    assert!(summary.is_persistent());
}

#[test]
fn items_of_several_users_are_summarized_separately() {
    let mut kernel = Kernel::new(4, 1_000, 8);
    for user in ["ben", "ada", "ben", "ada"] {
        kernel.switch_user(user);
        assert_eq!(kernel.send_request(), Phase::LoadingContext, "no user has four items yet");
        kernel.abort_request();
    }
    kernel.switch_user("cem");
    assert_eq!(kernel.send_request(), Phase::LoadingContext, "Cem has no items");
    kernel.abort_request();
    kernel.switch_user("ada");
    assert_eq!(kernel.send_request(), Phase::Compacting);
    assert_eq!(kernel.cluster(), [3, 4, 7, 8]);
    assert!(kernel.summarize("both users sent two requests", Some(&[1, 2, 3])).is_err());
    kernel.summarize("Ada sent two requests", None).unwrap();
    let summary = kernel.item(12);
    assert_eq!((summary.text.as_str(), summary.user()), ("Ada sent two requests", Some(&UserId::new("ada"))));
    kernel.abort_request();
    kernel.switch_user("ben");
    assert_eq!(kernel.send_request(), Phase::Compacting);
    assert_eq!(kernel.cluster(), [1, 2, 5, 6], "his own items, and not Ada's summary");
}

#[test]
fn summary_of_session_items_ends_with_session() {
    let mut kernel = Kernel::new(2, 1_000, 8);
    let working_item = |key: &str, expires_at| Write::Working {
        key: key.into(),
        text: key.into(),
        expires_at,
        depends_on: Vec::new(),
    };
    kernel.write(working_item("t1", None));
    kernel.write(working_item("t2", None));
    kernel.write(working_item("expiring", Some(Timestamp::from_millis(9))));
    assert_eq!(kernel.send_request(), Phase::Compacting);
    kernel.summarize("so far", None).unwrap();
    assert_eq!(kernel.ids(), [3, 4, 5]);
    assert!(matches!(kernel.item(5).layer, Layer::Working { expires_at: None, .. }));
    assert!(!kernel.item(5).is_persistent());
}

// ── the state after compaction ───────────────────────────────────────────────────────────────────────

#[test]
fn dependencies_are_relinked_through_summary() {
    let mut kernel = Kernel::new(3, 1_000, 2);
    let rule = NewFact { source: FactSource { name: "x".into(), rank: Rank::Manager }, ..fact("rule", "r") };
    kernel.write(Write::Fact(rule));
    kernel.write(Write::Fact(on(fact("a", "1"), "rule")));
    kernel.know("b", "2");
    kernel.write(Write::Fact(on(fact("c", "3"), "b")));
    assert_eq!(kernel.send_request(), Phase::Compacting);
    let events = kernel.summarize("a and b", None).unwrap();
    assert_eq!(kernel.ids(), [1, 4, 5, 6]);
    assert_eq!((kernel.deps(6), kernel.deps(4)), (vec![1], vec![6]));
    let forgotten = Event::ForgetItems {
        ids: vec![ItemId::new(2), ItemId::new(3)],
        cause: ForgetCause::Compaction { into: ItemId::new(6) },
    };
    assert!(events.contains(&forgotten));
    assert_eq!(kernel.state.control().phase(), Phase::LoadingContext);
}

#[test]
fn restricting_policy_only_drops_dependencies() {
    let mut kernel = Kernel::new(3, 1_000, 2);
    kernel.policy.rules.repointed_dependents = false;
    kernel.know("a", "1");
    kernel.know("b", "2");
    kernel.write(Write::Fact(on(fact("c", "3"), "b")));
    kernel.send_request();
    kernel.summarize("a and b", None).unwrap();
    assert_eq!(kernel.deps(3), [0; 0]);
}

#[test]
fn summary_never_depends_on_its_dependents() {
    let mut kernel = Kernel::new(3, 1_000, 3);
    kernel.know("a", "1");
    kernel.write(Write::Fact(on(fact("b", "2"), "a")));
    kernel.write(Write::Fact(on(fact("c", "3"), "b")));
    kernel.send_request();
    kernel.summarize("a and c", Some(&[1, 3])).unwrap();
    assert_eq!((kernel.deps(2), kernel.deps(5)), (vec![5], vec![]));
}

#[test]
fn superseded_facts_leave_with_their_successor() {
    let mut kernel = Kernel::new(2, 1_000, 2);
    kernel.know("a", "1");
    kernel.write(Write::Fact(instead(fact("a2", "2"), "a")));
    kernel.know("b", "3");
    kernel.send_request();
    assert_eq!(kernel.cluster(), [2, 3], "superseded items enter no context");
    kernel.summarize("2 and 3", None).unwrap();
    assert_eq!(kernel.ids(), [4, 5]);
}

#[test]
fn summary_inherits_review_flag() {
    let mut kernel = Kernel::new(3, 1_000, 3);
    kernel.know("a", "1");
    kernel.write(Write::Fact(on(fact("b", "2"), "a")));
    kernel.know("a", "3");
    kernel.know("c", "4");
    kernel.send_request();
    assert_eq!(kernel.cluster(), [2, 3, 4]);
    kernel.summarize("b and c", Some(&[2, 4])).unwrap();
    assert_eq!(kernel.item(6).validity, Validity::NeedsReview);
}

#[test]
fn summary_can_be_superseded_and_summarized() {
    let mut kernel = Kernel::new(2, 1_000, 2);
    kernel.know("a", "1");
    kernel.know("b", "2");
    kernel.send_request();
    kernel.summarize("a and b", None).unwrap();
    kernel.know("c", "3");
    assert_eq!(kernel.cluster(), [4, 5]);
    let better = NewFact { supersedes: Some(Reference::Id(ItemId::new(4))), ..fact("ab", "both") };
    kernel.write(Write::Fact(better));
    assert!(!kernel.item(4).is_valid());
}

// ── refusals and failures ───────────────────────────────────────────────────────────────────────────

#[test]
fn summary_names_only_cluster_items() {
    let mut kernel = Kernel::new(2, 1_000, 2);
    for key in ["a", "b", "c"] {
        kernel.know(key, key);
    }
    kernel.send_request();
    assert_eq!(
        kernel.summarize("s", Some(&[1, 3])).unwrap_err().to_string(),
        "item 3 is not in the cluster: expected ids from the summarizer's context"
    );
    assert_eq!(
        kernel.summarize("s", Some(&[])).unwrap_err().to_string(),
        "empty summary: expected at least one forgotten item, found none"
    );
    kernel.summarize("s", Some(&[1, 1])).unwrap();
    assert_eq!(kernel.ids(), [2, 3, 4, 5]);
}

#[test]
fn failed_summary_changes_nothing() {
    let mut kernel = Kernel::new(2, 1_000, 2);
    kernel.know("a", "1");
    kernel.know("b", "2");
    kernel.send_request();
    let before = kernel.state.semantic().clone();
    let call = kernel.state.control().pending_call().unwrap().id;
    kernel.take(Input::CallFailed { call, failure: Failure::NoCandidates }).unwrap();
    assert_eq!((kernel.state.control().phase(), kernel.state.semantic()), (Phase::LoadingContext, &before));
}

// ── the keys of a summary ────────────────────────────────────────────────────────────────────────────

/// Returns a kernel with the facts `a` and `b`, whose summary is item 4; item 3 is the request.
fn summarized() -> Kernel {
    let mut kernel = Kernel::new(2, 1_000, 2);
    kernel.know("a", "1");
    kernel.know("b", "2");
    kernel.send_request();
    kernel.summarize("a is 1, b is 2", None).unwrap();
    kernel
}

fn ranked(fact: NewFact, rank: Rank) -> NewFact {
    NewFact { source: FactSource { name: "x".into(), rank }, ..fact }
}

impl Kernel {
    fn summarized_keys_of(&self, id: u64) -> Vec<&str> {
        self.item(id).fact().unwrap().summarized_keys.iter().map(Text::as_str).collect()
    }

    fn send_request_again(&mut self) {
        self.take(Input::Cancel).unwrap();
        while self.state.control().pending_call().is_some() {
            let held = self.reply(Report::Stored { held: true });
            held.or_else(|_| self.reply(Report::Delivered)).unwrap();
        }
        self.send_request();
    }

    fn current_text(&self, name: &str) -> Option<&str> {
        let semantic = self.state.semantic();
        let reader = self.state.session_principal();
        let value = semantic.get_current_value(&name.into(), &reader);
        assert!(value.is_some() || !semantic.is_fact_current(&name.into(), &reader));
        value.map(|item| item.text.as_str())
    }
}

#[test]
fn summary_covers_keys_of_its_cluster() {
    let mut kernel = summarized();
    assert_eq!(kernel.summarized_keys_of(4), ["a", "b"]);
    assert_eq!((kernel.current_text("a"), kernel.current_text("c")), (Some("a is 1, b is 2"), None));
    kernel.know("0", "3");
    kernel.know("z", "4");
    kernel.send_request_again();
    kernel.summarize("all three", Some(&[4, 5])).unwrap();
    let id = *kernel.ids().last().unwrap();
    assert_eq!(kernel.summarized_keys_of(id), ["0", "a", "b"]);
}

#[test]
fn write_under_covered_key_marks_summary() {
    let mut kernel = summarized();
    kernel.write(Write::Fact(on(fact("c", "3"), "b")));
    assert_eq!(kernel.deps(5), [4]);
    kernel.know("a", "9");
    assert_eq!(kernel.item(6).validity, Validity::Current);
    assert_eq!(kernel.item(6).fact().unwrap().supersedes, None, "nothing was superseded");
    assert_eq!(kernel.item(4).validity, Validity::NeedsReview);
    assert_eq!((kernel.summarized_keys_of(4), kernel.deps(5)), (vec!["b"], vec![4]));
    assert_eq!(kernel.item(5).validity, Validity::NeedsReview);
    assert_eq!((kernel.current_text("a"), kernel.current_text("b")), (Some("9"), Some("a is 1, b is 2")));
    // With a single key left, the summary is an ordinary fact for it.
    kernel.know("b", "8");
    let superseded =
        Validity::Superseded { superseded_by: Some(ItemId::new(7)), rule: SupersessionRule::Implicit };
    assert_eq!((kernel.item(4).validity, kernel.deps(5)), (superseded, vec![7]));
    assert_eq!(kernel.item(7).fact().unwrap().supersedes, Some(ItemId::new(4)));
}

#[test]
fn lower_rank_is_denied_by_summary() {
    let mut kernel = summarized();
    kernel.write(Write::Fact(ranked(fact("a", "9"), Rank::Unverified)));
    let lost =
        Validity::Superseded { superseded_by: Some(ItemId::new(4)), rule: SupersessionRule::Authority };
    assert_eq!((kernel.item(5).validity, kernel.item(4).validity), (lost, Validity::Current));
    assert_eq!(
        (kernel.summarized_keys_of(4), kernel.current_text("a")),
        (vec!["a", "b"], Some("a is 1, b is 2"))
    );
}

#[test]
fn time_sensitive_write_competes_with_summary() {
    let mut kernel = Kernel::new(2, 1_000, 2);
    let at = |fact: NewFact, at| NewFact { established_at: Timestamp::from_millis(at), ..fact };
    kernel.write(Write::Fact(at(fact("a", "1"), 5)));
    kernel.write(Write::Fact(at(fact("b", "2"), 7)));
    kernel.send_request();
    kernel.summarize("both", None).unwrap();
    let timed = |then| NewFact { time_sensitive: true, ..at(fact("a", "9"), then) };
    kernel.write(Write::Fact(timed(6)));
    let lost = Validity::Superseded { superseded_by: Some(ItemId::new(4)), rule: SupersessionRule::Temporal };
    assert_eq!((kernel.item(5).validity, kernel.item(4).validity), (lost, Validity::Current));
    kernel.write(Write::Fact(timed(7)));
    assert_eq!((kernel.item(6).validity, kernel.summarized_keys_of(4)), (Validity::Current, vec!["b"]));
}

#[test]
fn repeated_summary_text_changes_nothing() {
    let mut kernel = summarized();
    kernel.know("a", "a is 1, b is 2");
    assert_eq!((kernel.ids(), kernel.item(4).validity), (vec![3, 4, 5], Validity::NeedsReview));
}

#[test]
fn superseding_summary_by_key_or_id() {
    let mut kernel = summarized();
    kernel.write(Write::Fact(instead(fact("c", "3"), "a")));
    assert_eq!((kernel.summarized_keys_of(4), kernel.item(4).validity), (vec!["b"], Validity::NeedsReview));
    assert_eq!((kernel.item(5).validity, kernel.current_text("a")), (Validity::Current, None));
    let mut kernel = summarized();
    let both = Some(Reference::Id(ItemId::new(4)));
    kernel.write(Write::Fact(NewFact { supersedes: both, ..fact("c", "3") }));
    assert_eq!(
        (kernel.item(4).is_valid(), kernel.current_text("a"), kernel.current_text("b")),
        (false, Some("3"), Some("3"))
    );
}

#[test]
fn write_of_all_covered_keys_supersedes_summary() {
    let mut kernel = summarized();
    kernel.write(Write::Fact(instead(fact("a", "3"), "b")));
    assert!(!kernel.item(4).is_valid());
    assert_eq!(kernel.item(5).fact().unwrap().supersedes, Some(ItemId::new(4)));
}

#[test]
fn denied_write_links_to_summary_by_key() {
    let mut kernel = summarized();
    kernel.write(Write::Fact(ranked(fact("a", "9"), Rank::Guest)));
    kernel.write(Write::Fact(ranked(instead(fact("c", "9"), "b"), Rank::Guest)));
    let lost = |id| Some(Reference::Id(ItemId::new(id)));
    kernel.write(Write::Fact(NewFact { supersedes: lost(6), ..fact("d", "4") }));
    assert_eq!((kernel.item(4).validity, kernel.summarized_keys_of(4)), (Validity::Current, vec!["a", "b"]));
    kernel.write(Write::Fact(NewFact { supersedes: lost(5), ..fact("e", "5") }));
    assert_eq!((kernel.item(4).validity, kernel.summarized_keys_of(4)), (Validity::NeedsReview, vec!["b"]));
}

#[test]
fn fact_cannot_depend_on_superseded_summary() {
    let mut kernel = summarized();
    kernel.write(Write::Fact(on(fact("a", "9"), "b")));
    assert_eq!((kernel.deps(5), kernel.item(4).validity), (vec![4], Validity::NeedsReview));
    let round = Write::Fact(on(fact("b", "8"), "a"));
    assert!(kernel.take(Input::Write(Box::new(round))).is_err(), "it depends only on the summary of b");
}

#[test]
fn dependency_and_covered_key_can_be_superseded_together() {
    let mut kernel = Kernel::new(3, 1_000, 2);
    kernel.write(Write::Fact(ranked(fact("rule", "r"), Rank::Employee)));
    kernel.write(Write::Fact(on(fact("a", "1"), "rule")));
    kernel.know("b", "2");
    kernel.send_request();
    assert_eq!(kernel.cluster(), [1, 2]);
    kernel.summarize("a", Some(&[2])).unwrap();
    assert_eq!((kernel.deps(5), kernel.summarized_keys_of(5)), (vec![1], vec!["a"]));
    kernel.write(Write::Fact(instead(fact("a", "9"), "rule")));
    assert_eq!((kernel.item(1).is_valid(), kernel.item(5).is_valid()), (false, false));
    assert_eq!(kernel.item(6).fact().unwrap().supersedes, Some(ItemId::new(1)), "the named item");
}

#[test]
fn session_facts_shadow_summaries_by_covered_keys() {
    let mut kernel = summarized();
    let here = |fact: NewFact| NewFact { scope: Scope::Session, ..fact };
    let selected = |kernel: &Kernel| -> Vec<u64> {
        let semantic = kernel.state.semantic();
        let reader = kernel.state.session_principal();
        let facts = semantic.selectable(&reader).filter(|entry| entry.item.fact().is_some());
        facts.map(|entry| entry.item.id.number()).collect()
    };
    kernel.write(Write::Fact(here(instead(fact("a", "7"), "a"))));
    assert_eq!(kernel.item(5).fact().unwrap().supersedes, None);
    assert_eq!((selected(&kernel), kernel.item(4).validity), (vec![4, 5], Validity::Current));
    assert_eq!((kernel.current_text("a"), kernel.current_text("b")), (Some("7"), Some("a is 1, b is 2")));
    kernel.know("b", "2");
    assert_eq!(
        (selected(&kernel), kernel.summarized_keys_of(4)),
        (vec![5, 6], vec!["a"]),
        "the remaining key is shadowed"
    );
    kernel.write(Write::Fact(here(fact("b", "8"))));
    assert_eq!(selected(&kernel), [5, 7]);
    kernel.write(Write::Fact(here(fact("c", "9"))));
    kernel.send_request_again();
    assert_eq!(kernel.cluster(), [5, 7]);
    kernel.summarize("here a is 7, b is 8", None).unwrap();
    let id = *kernel.ids().last().unwrap();
    assert_eq!(kernel.summarized_keys_of(id), ["a", "b"]);
    assert!(!selected(&kernel).contains(&4) && !selected(&kernel).contains(&6));
}

/// Returns the claims on summaries and keys that detect a fault in the events of a summary.
fn detecting_claims(kernel: &Kernel, mut events: Events, spoil: fn(&mut FactRecord)) -> Vec<&'static str> {
    for event in &mut events {
        if let Event::AddItem { item, .. } | Event::UpdateItem { item, .. } = event
            && let (ItemKey::Summary, Layer::Fact(fact)) = (&item.key, &mut item.layer)
        {
            spoil(fact);
        }
    }
    let mut after = kernel.state.clone();
    events.iter().for_each(|event| after.apply(event));
    let mut history = History::default();
    let by_step = step_violations(&kernel.policy, &kernel.state, &events, &after, &mut history);
    let by_state = state_violations(&kernel.policy, &after);
    let all = by_step.chain(by_state).map(|claim| CLAIMS[claim].id);
    all.filter(|id| ["C-53", "C-58", "C-90", "C-100"].contains(id)).collect()
}

#[test]
fn claims_detect_wrong_covered_keys() {
    let kernel = summarized();
    let write = Input::Write(Box::new(Write::Fact(fact("a", "9"))));
    let events = decide(&kernel.policy, &kernel.state, &write).unwrap();
    assert_eq!(detecting_claims(&kernel, events.clone(), |_| ()), [""; 0]);
    let claim_ids =
        detecting_claims(&kernel, events.clone(), |fact| fact.summarized_keys.insert(0, "a".into()));
    assert_eq!(claim_ids, ["C-58", "C-100", "C-53"]);
    assert_eq!(detecting_claims(&kernel, events, |fact| fact.summarized_keys.push("c".into())), ["C-100"]);
    let mut kernel = Kernel::new(2, 1_000, 2);
    kernel.know("a", "1");
    kernel.know("b", "2");
    kernel.send_request();
    let call = kernel.state.control().pending_call().unwrap().id;
    let summary = Input::reply(call, Report::Summary { text: "both".into(), forgets: None });
    let events = decide(&kernel.policy, &kernel.state, &summary).unwrap();
    assert_eq!(detecting_claims(&kernel, events.clone(), |_| ()), [""; 0]);
    assert_eq!(detecting_claims(&kernel, events, |fact| fact.summarized_keys.clear()), ["C-90"]);
}
