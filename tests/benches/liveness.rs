//! Speed of liveness checking on a random graph of a million nodes and three million edges, most of it one component.
//!
//! One node is the response. One edge of each node, or of every other node, leads there and has the first class; all
//! others lead to random nodes and have the second. Criterion's throughput is in edges per second.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_explorer::graph::{Edge, Graph};
use orchestrion_explorer::liveness::{
    ClassMask, Fairness, LivenessKind, LivenessProperty, LivenessResult, StateGraph, check_property,
};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::hint::black_box;

/// The number of generated nodes; not all of them are reachable.
const GENERATED: u32 = 1_250_000;
/// The response node.
const RESPONSE: u32 = 1;

struct RandomGraph {
    graph: Graph,
    parents: Vec<Option<(u32, u16)>>,
}

impl StateGraph for RandomGraph {
    fn nodes(&self) -> u32 {
        self.parents.len() as u32
    }

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn parent(&self, node: u32) -> Option<(u32, u16)> {
        self.parents[node as usize]
    }

    fn is_triggered(&self, _: usize, _: u32) -> bool {
        false
    }

    fn is_satisfied(&self, _: usize, node: u32) -> bool {
        node == RESPONSE
    }
}

/// Returns the nodes reachable from the first, of which each `apart`-th has an edge to the response node.
fn random_graph(apart: u32) -> RandomGraph {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    // The nodes are numbered in the order of discovery.
    let mut numbers = vec![u32::MAX; GENERATED as usize];
    let mut random = RandomGraph { graph: Graph::default(), parents: vec![None] };
    let mut node = 0;
    while node < random.nodes() {
        let edges: Vec<Edge> = (0..3)
            .map(|position| {
                if position == 0 && node % apart == 0 {
                    if node == 0 {
                        random.parents.push(Some((node, position)));
                    }
                    return Edge { class: 0, to: RESPONSE };
                }
                let number = &mut numbers[(rng.next_u32() % GENERATED) as usize];
                if *number == u32::MAX {
                    *number = random.parents.len() as u32;
                    random.parents.push(Some((node, position)));
                }
                Edge { class: 1, to: *number }
            })
            .collect();
        random.graph.push(node, &edges, false);
        node += 1;
    }
    random
}

fn liveness(c: &mut Criterion) {
    let first = ClassMask::NONE.with(0);
    let none = Fairness::default();
    let mut group = c.benchmark_group("liveness");
    group.sample_size(10);
    for (name, apart, fair, holds) in [
        ("weak, holds", 1, Fairness { weak: first, ..none }, true),
        ("weak, violated", 2, Fairness { weak: first, ..none }, false),
        ("strong, violated", 2, Fairness { strong: first, ..none }, false),
    ] {
        let random = random_graph(apart);
        let (nodes, edges) = (random.nodes(), random.graph.edge_count());
        println!("{name}: {nodes} nodes, {edges} edges, {} bytes", random.graph.bytes());
        let property = LivenessProperty { name, kind: LivenessKind::AlwaysEventually, fairness: fair };
        match check_property(&random, 0, &property) {
            LivenessResult::Holds => assert!(holds, "{name}: expected a violation"),
            LivenessResult::Violated(lasso) => {
                assert!(!holds, "{name}: expected no violation");
                println!("{name}: a stem of {} steps, a cycle of {}", lasso.stem.len(), lasso.cycle.len());
            }
            LivenessResult::Inconclusive { at } => unreachable!("every state is expanded: {at}"),
        }
        group.throughput(Throughput::Elements(edges as u64));
        group.bench_function(name, |b| b.iter(|| black_box(check_property(&random, 0, &property))));
    }
    group.finish();
}

criterion_group!(benches, liveness);
criterion_main!(benches);
