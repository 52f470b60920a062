//! The actions of a sequence, and its policy.

use super::writes::{
    KINDS_OF_FACTS, SCOPES, identity, plain_fact, plain_key, read_one_of, request_scope, write,
};
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::{ItemId, Policy};
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Value, json};
use std::fmt;

/// The maximum number of actions in a sequence.
const ACTIONS_MAX: usize = 80;

/// An action.
#[derive(Clone)]
pub(super) enum KnowledgeAction {
    /// Submits this input.
    Submit(Value),
    /// Submits a tick at this time. Later inputs have at least this time, even if nothing expires.
    Tick(u64),
    /// The user sends a request, due compaction runs, and memory returns this past request.
    Request {
        /// The past request.
        trace: u32,
        /// The scope of the request.
        scope: Value,
        /// An input while the summarizer runs.
        meanwhile: Option<Value>,
        /// The summarizer's reply.
        reply: SummarizerReply,
    },
    /// This many calls get their default reply.
    Advance(u32),
    /// The request is cancelled and completed.
    EndRequest,
    /// The same, and the session ends; the next one may start at once, with this user.
    EndSession(Option<&'static str>),
    /// A task-scoped fact shadows this fact, and then no fact in the task does; the shadowed fact keeps its dependency.
    ShadowInTask(Value),
    /// A fact about a summary of facts, which it supersedes or depends on.
    WriteAbout {
        /// The index of the summary.
        summary: usize,
        /// Whether the fact supersedes the summary.
        supersedes: bool,
        /// The remaining fields of the fact.
        fact: Value,
    },
}

/// The summarizer's treatment of its cluster.
#[derive(Clone, Copy, Debug)]
pub(super) enum SummarizerReply {
    /// It omits the list of forgotten items.
    All,
    /// It forgets the members of the cluster whose bit is set.
    Part(u32),
    /// The same, with each item twice and the last first.
    Twice(u32),
    /// It also forgets an item outside the cluster.
    OutsideCluster(u64),
    /// It forgets nothing.
    Nothing,
    /// It does not reply.
    Fails(&'static str),
    /// The user cancels before the reply.
    Cancelled,
}

impl SummarizerReply {
    /// Returns the input for this cluster. An extra item inside the cluster is ignored.
    pub(super) fn input(self, call: &Value, cluster: &[ItemId]) -> Value {
        let members = |bits: u32| cluster.iter().enumerate().filter(move |(at, _)| bits & (1 << at) != 0);
        let forgotten = |bits: u32| members(bits).map(|(_, id)| json!(id)).collect::<Vec<Value>>();
        let forgets = match self {
            Self::All => Value::Null,
            Self::Part(bits) => json!(forgotten(bits)),
            Self::Twice(bits) => {
                json!(forgotten(bits).into_iter().rev().chain(forgotten(bits)).collect::<Vec<Value>>())
            }
            Self::OutsideCluster(id) => {
                json!(forgotten(u32::MAX).into_iter().chain([json!(id)]).collect::<Vec<Value>>())
            }
            Self::Nothing => json!([]),
            Self::Fails(failure) => return json!({ "call_failed": { "call": call, "failure": failure } }),
            Self::Cancelled => return json!("cancel"),
        };
        json!({ "reply": { "call": call, "report": { "summary": { "text": "summed", "forgets": forgets } } } })
    }
}

impl fmt::Debug for KnowledgeAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submit(input) => write!(f, "{input}"),
            Self::Tick(at) => write!(f, "tick at {at}"),
            Self::Request { trace, scope, meanwhile: None, reply } => {
                write!(f, "request in {scope}, trace {trace}, summarizer: {reply:?}")
            }
            Self::Request { trace, scope, meanwhile: Some(input), reply } => {
                write!(f, "request in {scope}, trace {trace}, meanwhile {input}, summarizer: {reply:?}")
            }
            Self::Advance(steps) => write!(f, "advance {steps}"),
            Self::EndRequest => f.write_str("end"),
            Self::ShadowInTask(key) => write!(f, "shadow {key} in a task"),
            Self::EndSession(next) => write!(f, "end session, next: {next:?}"),
            Self::WriteAbout { summary, supersedes: true, fact } => {
                write!(f, "supersede summary {summary}: {fact}")
            }
            Self::WriteAbout { summary, supersedes: false, fact } => {
                write!(f, "depend on summary {summary}: {fact}")
            }
        }
    }
}

/// Generates policies with different write permissions and compaction settings.
pub(super) fn policy() -> impl Strategy<Value = Policy> {
    let writes = (select(&Rank::ALL[..]), select(&Rank::ALL[..]), weighted(0.1));
    let limits = (
        select(vec![0, 1, 2, 3, 4, 6, 64, 64]),
        select(vec![0, 4, 6, 7, 8, 9, 6_000, 6_000, 6_000]),
        2..=5_u32,
        select(vec![1, 2, 3, 6, 12, 1_000, 1_000, 1_000]),
    );
    let rules = (weighted(0.9), any::<bool>(), weighted(0.7));
    (writes, limits, rules).prop_map(
        |(
            (constraint_from, organizational_from, strict_ranks),
            (from_items, from_tokens, cluster_items, session_items_max),
            (compaction, compacted_constraints, repointed_dependents),
        )| {
            let mut policy = serde_json::to_value(Policy::hardened()).unwrap();
            policy["writes"] = json!({
                "constraint_from": constraint_from, "organizational_from": organizational_from,
                "strict_ranks": strict_ranks,
            });
            policy["compaction"] = json!({
                "from_items": from_items, "from_tokens": from_tokens, "cluster_items": cluster_items,
                "session_items_max": session_items_max,
            });
            policy["rules"]["compaction"] = json!(compaction);
            policy["rules"]["compacted_constraints"] = json!(compacted_constraints);
            policy["rules"]["repointed_dependents"] = json!(repointed_dependents);
            let policy: Policy = serde_json::from_value(policy).unwrap();
            assert_eq!(policy.validate(), Ok(()));
            policy
        },
    )
}

/// Generates actions. A session is mostly open from the beginning. Some sequences send many requests, so that request
/// items accumulate; more of them write, so that facts accumulate.
pub(super) fn actions() -> impl Strategy<Value = Vec<KnowledgeAction>> {
    let start = session_start(Just("ada"));
    let with_requests = vec(
        action(15, 60, plain_fact(read_one_of(KINDS_OF_FACTS), read_one_of(SCOPES)).boxed()),
        1..=ACTIONS_MAX,
    );
    let with_writes =
        (read_one_of(KINDS_OF_FACTS), read_one_of(&SCOPES[..2])).prop_flat_map(|(kind, scope)| {
            let scope = prop_oneof![4 => Just(scope), 1 => read_one_of(SCOPES)];
            vec(action(8, 10, plain_fact(Just(kind), scope).boxed()), 1..=ACTIONS_MAX)
        });
    (option::weighted(0.9, start), prop_oneof![2 => with_requests, 3 => with_writes])
        .prop_map(|(start, actions)| start.into_iter().chain(actions).collect())
}

fn request() -> impl Strategy<Value = KnowledgeAction> {
    let reply = Union::new_weighted(vec![
        (6, Just(SummarizerReply::All).boxed()),
        (5, any::<u32>().prop_map(SummarizerReply::Part).boxed()),
        (1, any::<u32>().prop_map(SummarizerReply::Twice).boxed()),
        (1, (1..30_u64).prop_map(SummarizerReply::OutsideCluster).boxed()),
        (1, Just(SummarizerReply::Nothing).boxed()),
        (
            1,
            select(vec!["error", "timeout", "no_candidates", "outcome_unknown"])
                .prop_map(SummarizerReply::Fails)
                .boxed(),
        ),
        (1, Just(SummarizerReply::Cancelled).boxed()),
    ]);
    (1..4_u32, request_scope(), option::weighted(0.2, write()), reply).prop_map(
        |(trace, scope, meanwhile, reply)| KnowledgeAction::Request { trace, scope, meanwhile, reply },
    )
}

/// Generates a session start, mostly with an identity.
fn session_start(user: impl Strategy<Value = &'static str>) -> impl Strategy<Value = KnowledgeAction> {
    (user, option::weighted(0.7, identity())).prop_map(|(user, identity)| {
        KnowledgeAction::Submit(json!({ "session_start": { "user": user, "identity": identity } }))
    })
}

/// Generates users, mostly the same one.
fn user() -> impl Strategy<Value = &'static str> {
    select(vec!["ada", "ada", "ben"])
}

fn action(requests: u32, writes: u32, plain: BoxedStrategy<Value>) -> impl Strategy<Value = KnowledgeAction> {
    let about = (any::<usize>(), weighted(0.7), plain_fact(read_one_of(KINDS_OF_FACTS), read_one_of(SCOPES)))
        .prop_map(|(summary, supersedes, fact)| KnowledgeAction::WriteAbout { summary, supersedes, fact });
    let shadow = plain_key().prop_map(KnowledgeAction::ShadowInTask);
    Union::new_weighted(vec![
        (requests, request().boxed()),
        (writes.div_ceil(6), (0..8_u64).prop_map(KnowledgeAction::Tick).boxed()),
        (2, Just(KnowledgeAction::EndRequest).boxed()),
        (4, (1..20_u32).prop_map(KnowledgeAction::Advance).boxed()),
        (5, session_start(user()).boxed()),
        (1, Just(KnowledgeAction::Submit(json!("session_end"))).boxed()),
        (1, option::of(user()).prop_map(KnowledgeAction::EndSession).boxed()),
        (8, about.boxed()),
        (2, shadow.boxed()),
        (50, plain.prop_map(|write| KnowledgeAction::Submit(json!({ "write": write }))).boxed()),
        (writes, write().prop_map(KnowledgeAction::Submit).boxed()),
    ])
}
