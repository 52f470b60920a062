//! Random graphs, explored as models.

use crate::liveness::{Fairness, LivenessKind, LivenessProperty, StateGraph};
use crate::{Exploration, FairModel, ObservationSet, Options, StateStorage, Witness, explore, step_at};
use proptest::prelude::*;
use stateright::{Checker, Model, Property};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;

const OBSERVATIONS: usize = 70;

/// A state whose hash may be too weak to distinguish it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    number: u8,
    poor: bool,
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (if self.poor { self.number % 3 } else { self.number }).hash(hasher);
    }
}

#[derive(Clone, Debug)]
struct Node {
    /// The target and the observation of each action; no target if it is refused.
    actions: Vec<(Option<u8>, Option<u8>)>,
    shows: Option<u8>,
    inside: bool,
    /// The properties that the node triggers and satisfies.
    triggers: Vec<bool>,
    satisfies: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct RandomGraph {
    nodes: Vec<Node>,
    roots: Vec<u8>,
    pub(super) poor: bool,
    properties: Vec<LivenessProperty>,
    pub(super) packs: bool,
}

impl RandomGraph {
    fn node(&self, state: &Name) -> &Node {
        &self.nodes[usize::from(state.number)]
    }

    fn name(&self, number: u8) -> Name {
        Name { number, poor: self.poor }
    }
}

impl Model for RandomGraph {
    type State = Name;
    type Action = usize;

    fn init_states(&self) -> Vec<Name> {
        self.roots.iter().map(|root| self.name(*root)).collect()
    }

    fn actions(&self, state: &Name, actions: &mut Vec<usize>) {
        actions.extend(0..self.node(state).actions.len());
    }

    fn next_state(&self, state: &Name, action: usize) -> Option<Name> {
        self.node(state).actions[action].0.map(|to| self.name(to))
    }

    fn within_boundary(&self, state: &Name) -> bool {
        self.node(state).inside
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::sometimes("explored to the end", |_, _| false)]
    }
}

impl FairModel for RandomGraph {
    fn observation_count(&self) -> usize {
        OBSERVATIONS
    }

    fn step(&self, state: &Name, action: usize, observations: &mut ObservationSet) -> Option<Name> {
        let (to, shows) = self.node(state).actions[action];
        shows.into_iter().for_each(|observation| observations.insert(observation.into()));
        to.map(|to| self.name(to))
    }

    fn observe(&self, state: &Name, _: &ObservationSet, observations: &mut ObservationSet) {
        self.node(state).shows.into_iter().for_each(|observation| observations.insert(observation.into()));
    }

    fn fairness_class(&self, _: &Name, action: &usize) -> u8 {
        *action as u8
    }

    fn liveness_properties(&self) -> &[LivenessProperty] {
        &self.properties
    }

    fn is_triggered(&self, property: usize, state: &Name) -> bool {
        self.node(state).triggers[property]
    }

    fn is_satisfied(&self, property: usize, state: &Name) -> bool {
        self.node(state).satisfies[property]
    }

    /// Packs a number into as many bytes, so that each state has a different length.
    fn pack(&self, state: &Name, into: &mut Vec<u8>) -> bool {
        into.resize(
            into.len() + if self.packs { usize::from(state.number) } else { 0 },
            u8::from(state.poor),
        );
        self.packs
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Name> {
        assert!(bytes.iter().all(|byte| *byte == u8::from(self.poor)), "bytes of another state");
        Some(self.name(bytes.len() as u8))
    }
}

/// The number of liveness properties: more than a byte has bits.
const PROPERTIES: usize = 11;

fn properties() -> Vec<LivenessProperty> {
    let kinds = [LivenessKind::LeadsTo, LivenessKind::Eventually, LivenessKind::AlwaysEventually];
    let property = |kind| LivenessProperty { name: "one", kind, fairness: Fairness::default() };
    kinds.into_iter().cycle().take(PROPERTIES).map(property).collect()
}

pub(super) fn drawn() -> impl Strategy<Value = RandomGraph> {
    (1..60_u8).prop_flat_map(|count| {
        let observation = || proptest::option::weighted(0.2, 0..OBSERVATIONS as u8);
        let action = (proptest::option::weighted(0.8, 0..count), observation());
        let node = (
            prop::collection::vec(action, 0..5),
            observation(),
            prop::bool::weighted(0.9),
            prop::collection::vec(any::<bool>(), PROPERTIES),
            prop_oneof![prop::collection::vec(any::<bool>(), PROPERTIES), Just(vec![true; PROPERTIES])],
        );
        let node = node.prop_map(|(actions, shows, inside, triggers, satisfies)| Node {
            actions,
            shows,
            inside,
            triggers,
            satisfies,
        });
        let nodes = prop::collection::vec(node, usize::from(count));
        let roots = prop::collection::vec(0..count, 1..4);
        (nodes, roots, any::<[bool; 3]>()).prop_map(|(nodes, roots, [poor, has_properties, packs])| {
            let properties = if has_properties { properties() } else { Vec::new() };
            RandomGraph { nodes, roots, poor, properties, packs }
        })
    })
}

/// The result of the naive search.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ReferenceResult {
    /// The states in the order of discovery: depth, parent, and the edges by class.
    states: Vec<(usize, Option<u32>)>,
    edges: Vec<Vec<(u8, u32)>>,
    /// Which states are in the graph, and whether they have steps across the boundary.
    kept: Vec<(bool, bool)>,
    /// The properties that each state triggers, and those that it satisfies.
    rows: Vec<(Vec<bool>, Vec<bool>)>,
    witnesses: BTreeMap<usize, (u32, Option<u32>)>,
    generated: u64,
    cut: u64,
}

impl ReferenceResult {
    pub(super) fn state_count(&self) -> usize {
        self.states.len()
    }
}

pub(super) fn reference_search(drawn: &RandomGraph) -> ReferenceResult {
    let mut reference = ReferenceResult::default();
    let mut numbers: HashMap<u8, u32> = HashMap::new();
    let mut queue = VecDeque::new();
    let root_edges: Vec<_> = drawn.roots.iter().map(|root| (Some(*root), None)).collect();
    let mut expand = |reference: &mut ReferenceResult, queue: &mut VecDeque<u8>, from: Option<u8>| {
        let from_node = from.map(|from| numbers[&from]);
        let depth = from_node.map_or(0, |node| reference.states[node as usize].0 + 1);
        let actions = from.map_or(&root_edges, |from| &drawn.nodes[usize::from(from)].actions);
        let mut edges = Vec::new();
        let cut_before = reference.cut;
        for (i, (_, shows)) in actions.iter().enumerate() {
            if let (Some(observation), Some(node)) = (shows, from_node) {
                reference.witnesses.entry(usize::from(*observation)).or_insert((node, Some(i as u32)));
            }
        }
        for (i, (to, _)) in actions.iter().enumerate() {
            let Some(to) = to else { continue };
            let target = &drawn.nodes[usize::from(*to)];
            if !target.inside {
                reference.cut += 1;
                continue;
            }
            reference.generated += 1;
            let number = *numbers.entry(*to).or_insert_with(|| {
                let number = reference.states.len() as u32;
                reference.states.push((depth, from_node));
                if let Some(observation) = target.shows {
                    reference.witnesses.entry(usize::from(observation)).or_insert((number, None));
                }
                queue.push_back(*to);
                number
            });
            edges.push((i as u8, number));
        }
        if let Some(from) = from {
            let node = &drawn.nodes[usize::from(from)];
            let properties = drawn.properties.len();
            let kept = node.satisfies.iter().take(properties).any(|satisfied| !satisfied);
            reference.edges.push(if kept { edges } else { Vec::new() });
            reference.kept.push((kept, kept && reference.cut > cut_before));
            // Only the model knows the triggers of the kind `LeadsTo`: every third property.
            let triggers = (0..properties).map(|property| property % 3 == 0 && node.triggers[property]);
            let satisfies = node.satisfies.iter().take(properties).copied();
            reference.rows.push((triggers.collect(), satisfies.collect()));
        }
    };
    expand(&mut reference, &mut queue, None);
    while let Some(from) = queue.pop_front() {
        expand(&mut reference, &mut queue, Some(from));
    }
    reference
}

pub(super) fn as_reference(drawn: &RandomGraph, found: &Exploration) -> ReferenceResult {
    let nodes = || 0..found.states() as u32;
    let row = |bit: &dyn Fn(usize) -> bool| (0..drawn.properties.len()).map(bit).collect::<Vec<_>>();
    let witness = |observation| {
        found.witness(observation).map(|Witness { node, action }| (observation, (node, action)))
    };
    ReferenceResult {
        states: nodes().map(|node| (found.depth_of(node), found.parent(node))).collect(),
        edges: nodes().map(|n| found.graph().edges(n).map(|edge| (edge.class, edge.to)).collect()).collect(),
        kept: nodes().map(|node| (found.graph().has_edges(node), found.graph().is_truncated(node))).collect(),
        rows: nodes()
            .map(|node| (row(&|p| found.is_triggered(p, node)), row(&|p| found.is_satisfied(p, node))))
            .collect(),
        witnesses: (0..OBSERVATIONS).filter_map(witness).collect(),
        generated: found.generated(),
        cut: found.cut_at_boundary(),
    }
}

fn options(threads: usize, store: StateStorage) -> Options {
    Options { threads: NonZeroUsize::new(threads).unwrap(), storage: store, ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_graph_matches_naive_search(drawn in drawn()) {
        let reference = reference_search(&drawn);
        let store = if drawn.poor { StateStorage::Exact } else { StateStorage::Fingerprint };
        for threads in 1..=3 {
            let found = explore(&drawn, &options(threads, store), &mut |_| {}).unwrap();
            prop_assert_eq!(&as_reference(&drawn, &found), &reference);
            let distinguished = if drawn.poor { found.states().saturating_sub(3) } else { 0 };
            prop_assert!(found.collisions() >= distinguished as u64 && (drawn.poor || found.collisions() == 0));
            for observation in 0..OBSERVATIONS {
                let Some(witness) = found.witness(observation) else { continue };
                let path = found.path_to_witness(&drawn, witness).unwrap();
                let length = found.depth_of(witness.node) + usize::from(witness.action.is_some());
                prop_assert_eq!(path.into_actions().len(), length);
            }
        }
    }

    #[test]
    fn random_graph_matches_stateright_count(mut drawn in drawn()) {
        drawn.poor = false;
        let reference = drawn.clone().checker().threads(1).spawn_bfs().join();
        let found = explore(&drawn, &options(2, StateStorage::Fingerprint), &mut |_| {}).unwrap();
        prop_assert_eq!(found.states(), reference.unique_state_count());
    }

    #[test]
    fn edge_position_is_step_position(mut drawn in drawn()) {
        drawn.properties = properties();
        let found = explore(&drawn, &options(1, StateStorage::Exact), &mut |_| {}).unwrap();
        for node in 0..found.states() as u32 {
            let path = found.path_to(&drawn, node).unwrap();
            prop_assert_eq!(path.steps.len(), found.depth_of(node));
            for (position, edge) in found.graph().edges(node).enumerate() {
                let (_, next) = step_at(&drawn, path.last(), position as u16).unwrap();
                let direct = found.path_to(&drawn, edge.to).unwrap();
                prop_assert_eq!(&next, direct.last());
            }
        }
    }
}
