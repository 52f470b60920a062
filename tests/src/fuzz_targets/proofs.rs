//! Forged proofs: certificates of optimality, and signed handoffs. No forged one is accepted.

use super::edit::edit;
use crate::generators::{Bytes, RandomSource};
use orchestrion_handoff::{Handoff, HandoffContext, NodeKey, SignedHandoff, verify};
use orchestrion_kernel::{CallId, CapabilityId, NodeId, Timestamp};
use orchestrion_optimizer::{SearchLimits, certify};
use orchestrion_selection::{NamedProblem, Solver, solve, verify_bytes, write_certificate};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A small problem that the bytes select: at most eight items, each with dependencies on earlier ones.
#[derive(Debug)]
struct SmallProblem {
    budget: u32,
    /// Utility, cost and dependencies of each item.
    items: Vec<(u32, u32, Vec<u32>)>,
}

impl SmallProblem {
    fn draw(source: &mut Bytes<'_>) -> Self {
        let mut items = Vec::new();
        for number in 0..=source.below(8) {
            let deps = (0..number).filter(|_| source.below(4) == 0).collect();
            items.push((source.below(32), source.below(16), deps));
        }
        Self { budget: source.below(64), items }
    }

    fn to_file(&self) -> Vec<u8> {
        let item = |(id, (utility, cost, deps)): (usize, &(u32, u32, Vec<u32>))| json!({"id": id, "utility": utility, "cost": cost, "deps": deps});
        let items: Vec<Value> = self.items.iter().enumerate().map(item).collect();
        json!({"budget": self.budget, "items": items}).to_string().into_bytes()
    }

    /// Returns the maximum utility with its minimum cost, by enumeration of all subsets.
    fn optimum(&self) -> (u64, u64) {
        let contains = |set: u32, item: u32| set >> item & 1 == 1;
        let mut best = (0, 0);
        for set in 0..1_u32 << self.items.len() {
            let selected = || (0_u32..).zip(&self.items).filter(|(item, _)| contains(set, *item));
            let is_closed = selected().all(|(_, (_, _, deps))| deps.iter().all(|dep| contains(set, *dep)));
            let cost: u32 = selected().map(|(_, (_, cost, _))| cost).sum();
            let utility: u32 = selected().map(|(_, (utility, _, _))| utility).sum();
            let (utility, cost) = (u64::from(utility), u64::from(cost));
            if is_closed
                && cost <= u64::from(self.budget)
                && (utility > best.0 || utility == best.0 && cost < best.1)
            {
                best = (utility, cost);
            }
        }
        best
    }
}

/// Edits the certificate of a small problem, or reads the bytes as one. A proven certificate states the optimum.
pub fn certificate(bytes: &[u8]) {
    let mut source = Bytes(bytes);
    let small = SmallProblem::draw(&mut source);
    let problem = NamedProblem::from_bytes("fuzzed.json", &small.to_file())
        .unwrap_or_else(|error| panic!("a generated problem is invalid: {error}"));
    let limits = SearchLimits::default();
    let solved = solve(&problem, Solver::Native, limits)
        .unwrap_or_else(|error| panic!("a generated problem has no solution: {error}"));
    let optimum = small.optimum();
    assert_eq!(
        (solved.selection.utility, solved.selection.cost),
        optimum,
        "the solver misses the optimum of {small:?}"
    );
    let written = if source.below(8) == 0 {
        source.0.to_vec()
    } else {
        let certified = certify(&problem.problem, &solved.selection, limits)
            .unwrap_or_else(|error| panic!("an optimal selection has no certificate: {error:?}"));
        let mut written = Vec::new();
        write_certificate(&problem, &certified, &mut written).unwrap_or_else(|error| panic!("{error}"));
        let edited = edit(&mut source, &written);
        let is_original = edited == written;
        let result = verify_bytes(&problem, "fuzzed.json", &edited);
        assert!(
            !is_original || result.is_ok_and(|result| result.error.is_none()),
            "a written certificate is refused"
        );
        edited
    };
    if let Ok(result) = verify_bytes(&problem, "fuzzed.json", &written)
        && result.error.is_none()
    {
        assert_eq!((result.utility, result.cost), optimum, "a forged certificate is accepted for {small:?}");
    }
}

/// A handoff with its signature, as it is sent, and the public key of its sender.
static SIGNED: LazyLock<(SignedHandoff, Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let key = NodeKey::for_simulation(&NodeId::new("office"));
    let signed = key.sign(Handoff {
        from_node: NodeId::new("office"),
        to_node: NodeId::new("ana"),
        call: CallId::new(7),
        capability: CapabilityId::new("translate"),
        operation: "run_task".into(),
        task: None,
        context: HandoffContext {
            workflow_id: "conversation".into(),
            step_index: None,
            prior_results: Vec::new(),
            accumulated: BTreeMap::new(),
            lineage: Vec::new(),
        },
        timestamp: Timestamp::from_millis(1_000),
    });
    let sent = serde_json::to_vec(&signed).unwrap_or_else(|error| panic!("{error}"));
    let public_key = key.public_key().to_vec();
    (signed, sent, public_key)
});

/// Reads the bytes, and the edited handoff, as a signed handoff. A valid signature is that of the handoff that was signed.
pub fn handoff(bytes: &[u8]) {
    let (signed, sent, public_key) = &*SIGNED;
    for text in [bytes.to_vec(), edit(&mut Bytes(bytes), sent)] {
        let Ok(read) = serde_json::from_slice::<SignedHandoff>(&text) else { continue };
        let is_valid = verify(&read, public_key).is_valid();
        assert_eq!(is_valid, read == *signed, "a signature is valid for exactly one handoff: {read:?}");
    }
}
