//! Liveness checking against its naive definition on small graphs, and on a deep one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_explorer::graph::{Edge, Graph};
use orchestrion_explorer::liveness::{
    ClassMask, Fairness, Lasso, LivenessKind, LivenessProperty, LivenessResult, StateGraph, check_property,
};
use orchestrion_tests::naive_liveness::{FairnessSets, InfiniteBehavior, SmallGraph, contains};
use proptest::collection::vec;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::RefCell;

/// The predecessor at which a state was first reached, and the index of the edge.
type Parent = Option<(u32, u16)>;

/// An explored state graph with one leads-to claim, whose number is not 0.
struct SmallStateGraph {
    graph: Graph,
    parents: Vec<Parent>,
    triggers: Vec<bool>,
    satisfies: Vec<bool>,
}

const NUMBER: usize = 3;

impl StateGraph for SmallStateGraph {
    fn nodes(&self) -> u32 {
        self.parents.len() as u32
    }

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn parent(&self, node: u32) -> Option<(u32, u16)> {
        self.parents[node as usize]
    }

    fn is_triggered(&self, property: usize, node: u32) -> bool {
        property == NUMBER && self.triggers[node as usize]
    }

    fn is_satisfied(&self, property: usize, node: u32) -> bool {
        property == NUMBER && self.satisfies[node as usize]
    }
}

/// The classes of generated edges, including the lowest and the highest.
const CLASSES: [u8; 3] = [0, 13, 31];

/// The expansion of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expansion {
    All,
    /// Some of its edges are known; others may exist.
    Partial,
    None,
}

/// A generated state.
type State = (bool, bool, Expansion);

/// An unordered generated graph: initial states, states, edges.
type GeneratedGraph = (usize, Vec<State>, Vec<(usize, u8, usize)>);

fn generated_graphs() -> impl Strategy<Value = GeneratedGraph> {
    use proptest::prelude::Just;
    use proptest::prop_oneof;
    let expansions =
        prop_oneof![20 => Just(Expansion::All), 2 => Just(Expansion::Partial), 1 => Just(Expansion::None)];
    let state = (proptest::bool::weighted(0.4), proptest::bool::weighted(0.2), expansions);
    let class = proptest::sample::select(&CLASSES[..]);
    (1..=2_usize, vec(state, 1..=6), vec((0..6_usize, class, 0..6_usize), 0..=12))
}

/// Returns the reachable part of a generated graph, numbered in breadth-first order, with the first predecessor of each
/// state.
fn explored((initial, states, steps): &GeneratedGraph) -> (SmallGraph, Vec<Parent>, Vec<Expansion>) {
    let from = |state: usize| {
        let expansions = states[state].2 != Expansion::None;
        let steps = steps.iter().filter(move |step| expansions && step.0 % states.len() == state);
        steps.map(|&(_, class, to)| (class, to % states.len()))
    };
    let mut order: Vec<usize> = (0..*initial.min(&states.len())).collect();
    let mut parents = vec![None; order.len()];
    let mut numbered = Vec::new();
    let mut node = 0;
    while node < order.len() {
        for (position, (class, to)) in from(order[node]).enumerate() {
            if !order.contains(&to) {
                order.push(to);
                parents.push(Some((node as u32, position as u16)));
            }
            numbered.push((node, class, order.iter().position(|&state| state == to).unwrap()));
        }
        node += 1;
    }
    let set = |predicate: &dyn Fn(&State) -> bool| {
        let members = order.iter().enumerate().filter(|(_, state)| predicate(&states[**state]));
        members.fold(0, |all, (node, _)| all | 1 << node)
    };
    let walks = SmallGraph {
        states: order.len(),
        initial: *initial.min(&states.len()),
        edges: numbered,
        triggers: set(&|state| state.0),
        is_initial_only: false,
        responses: set(&|state| state.1),
        unexpanded: set(&|state| state.2 != Expansion::All),
    };
    (walks, parents, order.iter().map(|&state| states[state].2).collect())
}

/// Returns the graph with the edges of these nodes.
fn graph(walks: &SmallGraph, expansions: &[Expansion], kept: impl Fn(usize) -> bool) -> Graph {
    let mut graph = Graph::default();
    for (node, expansions) in expansions
        .iter()
        .enumerate()
        .filter(|(node, expansions)| **expansions != Expansion::None && kept(*node))
    {
        let steps = walks.edges.iter().filter(|step| step.0 == node);
        let edges: Vec<Edge> = steps.map(|&(_, class, to)| Edge { class, to: to as u32 }).collect();
        graph.push(node as u32, &edges, *expansions == Expansion::Partial);
    }
    graph
}

const KINDS: [LivenessKind; 3] =
    [LivenessKind::LeadsTo, LivenessKind::Eventually, LivenessKind::AlwaysEventually];

/// Returns the graph restricted to a liveness kind.
fn restrict(walks: &SmallGraph, kind: LivenessKind) -> SmallGraph {
    let triggers = if kind == LivenessKind::LeadsTo { walks.triggers } else { u32::MAX };
    SmallGraph { triggers, is_initial_only: kind == LivenessKind::Eventually, ..walks.clone() }
}

/// Returns every combination of the three kinds of fairness over the generated classes.
fn fairness_sets() -> impl Iterator<Item = FairnessSets> {
    let set = |bits: u32| (0..3).filter(|&i| contains(bits, i)).fold(0, |all, i| all | 1 << CLASSES[i]);
    (0..512).map(move |fairness| FairnessSets {
        weak: set(fairness),
        strong: set(fairness >> 3),
        finitely: set(fairness >> 6),
    })
}

fn property(kind: LivenessKind, fairness: FairnessSets) -> LivenessProperty {
    let set = |bits| {
        CLASSES
            .into_iter()
            .filter(|&class| contains(bits, class.into()))
            .fold(ClassMask::NONE, ClassMask::with)
    };
    let fair = Fairness {
        weak: set(fairness.weak),
        strong: set(fairness.strong),
        finitely_often: set(fairness.finitely),
    };
    LivenessProperty { name: "generated", kind, fairness: fair }
}

/// The number of graphs for each result.
#[derive(Debug, Default)]
struct LivenessCounts {
    holds: usize,
    inconclusive: usize,
    dead_ends: usize,
    loops: usize,
    /// Cycles that visit a state twice.
    revisits: usize,
}

/// Returns the states of a lasso and its repeated part, or its defect.
fn follow_lasso(walks: &SmallGraph, lasso: &Lasso) -> Result<Option<InfiniteBehavior>, String> {
    let mut at = lasso.stem.first().map_or(lasso.entry, |step| step.node) as usize;
    if at >= walks.initial {
        return Err(format!("the stem starts in {at}, which is not initial"));
    }
    let mut set = 0;
    let mut open = false;
    let visit = |open: &mut bool, at: usize, first: bool| {
        *open |= contains(walks.triggers, at) && (first || !walks.is_initial_only);
        *open &= !contains(walks.responses, at);
    };
    visit(&mut open, at, true);
    for (i, step) in lasso.stem.iter().chain(&lasso.cycle).enumerate() {
        if i == lasso.stem.len() && (at != lasso.entry as usize || !open) {
            return Err(format!(
                "the cycle starts in {at}, expected {} with a pending obligation; pending: {open}",
                lasso.entry
            ));
        }
        let out = |(_, taken): &(usize, &(usize, u8, usize))| taken.0 == step.node as usize;
        let steps = walks.edges.iter().enumerate().filter(out);
        let Some((taken, &(from, _, to))) = steps.clone().nth(step.position.into()) else {
            return Err(format!("{step:?} is not an edge"));
        };
        if from != at {
            return Err(format!("{step:?} is taken in another state: {at}"));
        }
        set |= u32::from(i >= lasso.stem.len()) << taken;
        at = to;
        visit(&mut open, at, false);
        if i >= lasso.stem.len() && !open {
            return Err(format!("the response occurs on the cycle in {at}"));
        }
    }
    if at != lasso.entry as usize || !open {
        return Err(format!(
            "the lasso ends in {at}, expected {} with a pending obligation; pending: {open}",
            lasso.entry
        ));
    }
    if lasso.cycle.is_empty() {
        return if contains(walks.dead_ends(), at) {
            Ok(None)
        } else {
            Err(format!("{at} is not a dead end"))
        };
    }
    walks.repeated_part(set).map(Some).ok_or_else(|| "the cycle is not repeatable".into())
}

/// Checks every verdict on one graph against the definition.
fn check(generated: &GeneratedGraph, counts: &mut LivenessCounts) -> Result<(), String> {
    let (walks, parents, expansions) = explored(generated);
    let behaviors = walks.infinite_behaviors();
    for kind in KINDS {
        let walks = restrict(&walks, kind);
        let after = walks.pending_depths();
        let nearest =
            |states: u32| (0..walks.states).filter(|&s| contains(states, s)).filter_map(|s| after[s]).min();
        let endless: Vec<_> = behaviors
            .iter()
            .filter(|behavior| behavior.states & walks.responses == 0)
            .filter_map(|behavior| Some((nearest(behavior.states)?, behavior)))
            .collect();
        let (dead, unknown) = (nearest(walks.dead_ends()), nearest(walks.unexpanded));
        let each = |set| (0..walks.states).map(|node| contains(set, node)).collect();
        let small = |graph| {
            let parents = parents.clone();
            SmallStateGraph {
                graph,
                parents,
                triggers: each(walks.triggers),
                satisfies: each(walks.responses),
            }
        };
        let whole = small(graph(&walks, &expansions, |_| true));
        let needed = small(graph(&walks, &expansions, |node| after[node].is_some()));
        for fairness in fairness_sets() {
            let outcome = check_property(&whole, NUMBER, &property(kind, fairness));
            let fail =
                |message: String| Err(format!("{message}\n{kind:?} {fairness:?}\n{walks:?}\n{outcome:?}"));
            if check_property(&needed, NUMBER, &property(kind, fairness)) != outcome {
                return fail("the result depends on edges without a pending obligation".into());
            }
            let fair =
                endless.iter().filter(|(_, behavior)| fairness.is_fair(behavior)).map(|(after, _)| *after);
            let shortest = fair.chain(dead).min();
            match (&outcome, shortest) {
                (LivenessResult::Violated(lasso), Some(shortest)) => match follow_lasso(&walks, lasso) {
                    Err(message) => return fail(message),
                    Ok(_) if lasso.stem.len() != shortest => {
                        return fail(format!("expected a stem of {shortest} steps"));
                    }
                    Ok(Some(behavior)) if !fairness.is_fair(&behavior) => {
                        return fail(format!("unfair cycle: {behavior:?}"));
                    }
                    Ok(Some(behavior)) => {
                        counts.loops += 1;
                        counts.revisits +=
                            usize::from(lasso.cycle.len() > behavior.states.count_ones() as usize);
                    }
                    Ok(None) => counts.dead_ends += 1,
                },
                (LivenessResult::Holds, None) if unknown.is_none() => counts.holds += 1,
                (LivenessResult::Inconclusive { at }, None)
                    if contains(walks.unexpanded, *at as usize) && after[*at as usize] == unknown =>
                {
                    counts.inconclusive += 1;
                }
                _ => {
                    return fail(format!(
                        "expected a violation after {shortest:?} steps, an unexpanded state after {unknown:?}"
                    ));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn liveness_matches_naive_definition() {
    let config = Config { cases: 4_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let counts = RefCell::new(LivenessCounts::default());
    let result = runner.run(&generated_graphs(), |generated| {
        check(&generated, &mut counts.borrow_mut()).map_err(TestCaseError::fail)
    });
    result.unwrap_or_else(|found| panic!("{found}"));
    let counts = counts.into_inner();
    println!("{counts:?}");
    let LivenessCounts { holds, inconclusive, dead_ends, loops, revisits } = counts;
    assert!(
        [holds, inconclusive, dead_ends, loops, revisits].iter().all(|&times| times > 10_000),
        "{counts:?}"
    );
}

/// An obligation is pending in 0, with an edge to 2, where the response occurs.
#[test]
fn fairness_excludes_cycles() {
    const NONE: ClassMask = ClassMask::NONE;
    const GO: ClassMask = ClassMask::NONE.with(1);
    let (wait, go) = (|from, to| (from, 0, to), |from, to| (from, 1, to));
    let waits = vec![wait(0, 0), go(0, 2), wait(2, 2)];
    let blinks = vec![wait(0, 1), go(0, 2), wait(1, 0), wait(2, 2)];
    let ends = vec![wait(0, 1), go(0, 2), wait(2, 2)];
    for (steps, weak, strong, finitely, expected) in [
        (&waits, NONE, NONE, NONE, "0 steps, then 1 forever"),
        (&waits, GO, NONE, NONE, "holds"),
        (&waits, NONE, NONE, NONE.with(0), "holds"),
        (&blinks, GO, NONE, NONE, "0 steps, then 2 forever"),
        (&blinks, NONE, GO, NONE, "holds"),
        (&blinks, GO, GO, GO, "holds"),
        (&ends, GO, GO, NONE.with(0), "1 steps, then 0 forever"),
    ] {
        let generated = (1, (0..3).map(|state| (false, state == 2, Expansion::All)).collect(), steps.clone());
        let (walks, parents, expansions) = explored(&generated);
        let satisfies = (0..walks.states).map(|node| contains(walks.responses, node)).collect();
        let graph = graph(&walks, &expansions, |_| true);
        let small = SmallStateGraph { graph, parents, triggers: vec![false; walks.states], satisfies };
        let fair = Fairness { weak, strong, finitely_often: finitely };
        let outcome = check_property(
            &small,
            NUMBER,
            &LivenessProperty { name: "go", kind: LivenessKind::Eventually, fairness: fair },
        );
        let result = match &outcome {
            LivenessResult::Holds => "holds".into(),
            LivenessResult::Violated(lasso) => {
                format!("{} steps, then {} forever", lasso.stem.len(), lasso.cycle.len())
            }
            LivenessResult::Inconclusive { at } => format!("{at} is unexpanded"),
        };
        assert_eq!(result, expected, "{steps:?} {fair:?}");
    }
}

/// A graph far deeper than the call stack.
#[test]
fn long_path_is_handled() {
    let nodes = 1_000_000;
    let edge = |to| Edge { class: 0, to };
    let mut graph = Graph::default();
    // A chain whose end leads back to its middle.
    (0..nodes).for_each(|node| {
        graph.push(node, &[edge(if node + 1 < nodes { node + 1 } else { nodes / 2 })], false)
    });
    let parents = (0..nodes).map(|node| node.checked_sub(1).map(|parent| (parent, 0))).collect();
    let never = || vec![false; nodes as usize];
    let long = SmallStateGraph { graph, parents, triggers: never(), satisfies: never() };
    let fair = Fairness { weak: ClassMask::NONE.with(0), ..Fairness::default() };
    let property = LivenessProperty { name: "long", kind: LivenessKind::Eventually, fairness: fair };
    let LivenessResult::Violated(lasso) = check_property(&long, NUMBER, &property) else {
        panic!("expected a violation")
    };
    let half = nodes as usize / 2;
    assert_eq!((lasso.stem.len(), lasso.entry, lasso.cycle.len()), (half, nodes / 2, half));
}
