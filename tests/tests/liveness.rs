//! Liveness checking against its naive definition on small graphs, and on a deep one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_explorer::graph::{Edge, Graph};
use orchestrion_explorer::liveness::{
    ClassMask, Fairness, Lasso, LivenessKind, LivenessProperty, LivenessResult, StateGraph, check_property,
};
use orchestrion_tests::naive_liveness::{FairnessSets, InfiniteBehavior, SmallGraph, has};
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
    opens: Vec<bool>,
    keeps: Vec<bool>,
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

    fn opens(&self, node: u32) -> u8 {
        u8::from(self.opens[node as usize]) << NUMBER
    }

    fn keeps(&self, node: u32) -> u8 {
        u8::from(self.keeps[node as usize]) << NUMBER
    }
}

/// The classes of generated edges, including the lowest and the highest.
const DRAWN: [u8; 3] = [0, 13, 31];

/// The expansion of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKnowledge {
    All,
    /// Some of its edges are known; others may exist.
    Cut,
    Nothing,
}

/// A generated state.
type State = (bool, bool, NodeKnowledge);

/// An unordered generated graph: initial states, states, edges.
type Drawn = (usize, Vec<State>, Vec<(usize, u8, usize)>);

fn drawn() -> impl Strategy<Value = Drawn> {
    use proptest::prelude::Just;
    use proptest::prop_oneof;
    let known = prop_oneof![20 => Just(NodeKnowledge::All), 2 => Just(NodeKnowledge::Cut), 1 => Just(NodeKnowledge::Nothing)];
    let state = (proptest::bool::weighted(0.4), proptest::bool::weighted(0.2), known);
    let class = proptest::sample::select(&DRAWN[..]);
    (1..=2_usize, vec(state, 1..=6), vec((0..6_usize, class, 0..6_usize), 0..=12))
}

/// Returns the reachable part of a generated graph, numbered in breadth-first order, with the first predecessor of each
/// state.
fn explored((initial, states, steps): &Drawn) -> (SmallGraph, Vec<Parent>, Vec<NodeKnowledge>) {
    let from = |state: usize| {
        let known = states[state].2 != NodeKnowledge::Nothing;
        let steps = steps.iter().filter(move |step| known && step.0 % states.len() == state);
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
    let set = |says: &dyn Fn(&State) -> bool| {
        let members = order.iter().enumerate().filter(|(_, state)| says(&states[**state]));
        members.fold(0, |all, (node, _)| all | 1 << node)
    };
    let walks = SmallGraph {
        states: order.len(),
        initial: *initial.min(&states.len()),
        steps: numbered,
        opens: set(&|state| state.0),
        only_at_the_start: false,
        keeps: set(&|state| state.1),
        unknown: set(&|state| state.2 != NodeKnowledge::All),
    };
    (walks, parents, order.iter().map(|&state| states[state].2).collect())
}

/// Returns the graph with the edges of these nodes.
fn graph(walks: &SmallGraph, known: &[NodeKnowledge], kept: impl Fn(usize) -> bool) -> Graph {
    let mut graph = Graph::default();
    for (node, known) in
        known.iter().enumerate().filter(|(node, known)| **known != NodeKnowledge::Nothing && kept(*node))
    {
        let steps = walks.steps.iter().filter(|step| step.0 == node);
        let edges: Vec<Edge> = steps.map(|&(_, class, to)| Edge { class, to: to as u32 }).collect();
        graph.push(node as u32, &edges, *known == NodeKnowledge::Cut);
    }
    graph
}

const KINDS: [LivenessKind; 3] =
    [LivenessKind::LeadsTo, LivenessKind::Eventually, LivenessKind::AlwaysEventually];

/// Returns the graph restricted to a liveness kind.
fn promised(walks: &SmallGraph, kind: LivenessKind) -> SmallGraph {
    let opens = if kind == LivenessKind::LeadsTo { walks.opens } else { u32::MAX };
    SmallGraph { opens, only_at_the_start: kind == LivenessKind::Eventually, ..walks.clone() }
}

/// Returns every combination of the three kinds of fairness over the generated classes.
fn mixes() -> impl Iterator<Item = FairnessSets> {
    let set = |bits: u32| (0..3).filter(|&i| has(bits, i)).fold(0, |all, i| all | 1 << DRAWN[i]);
    (0..512).map(move |mix| FairnessSets { weak: set(mix), strong: set(mix >> 3), finitely: set(mix >> 6) })
}

fn promise(kind: LivenessKind, mix: FairnessSets) -> LivenessProperty {
    let set = |bits| {
        DRAWN.into_iter().filter(|&class| has(bits, class.into())).fold(ClassMask::NONE, ClassMask::with)
    };
    let fair = Fairness { weak: set(mix.weak), strong: set(mix.strong), finitely_often: set(mix.finitely) };
    LivenessProperty { name: "drawn", kind, fair }
}

/// The number of graphs for each result.
#[derive(Debug, Default)]
struct LivenessCounts {
    holds: usize,
    inconclusive: usize,
    dead_ends: usize,
    loops: usize,
    /// Cycles that visit a state twice.
    knots: usize,
}

/// Returns the states of a lasso and its repeated part, or its defect.
fn walk(walks: &SmallGraph, lasso: &Lasso) -> Result<Option<InfiniteBehavior>, String> {
    let mut at = lasso.stem.first().map_or(lasso.entry, |step| step.node) as usize;
    if at >= walks.initial {
        return Err(format!("it begins in {at}, which is not initial"));
    }
    let mut set = 0;
    let mut open = false;
    let come = |open: &mut bool, at: usize, first: bool| {
        *open |= has(walks.opens, at) && (first || !walks.only_at_the_start);
        *open &= !has(walks.keeps, at);
    };
    come(&mut open, at, true);
    for (i, step) in lasso.stem.iter().chain(&lasso.cycle).enumerate() {
        if i == lasso.stem.len() && (at != lasso.entry as usize || !open) {
            return Err(format!("its loop begins in {at}, and the promise is open there: {open}"));
        }
        let out = |(_, taken): &(usize, &(usize, u8, usize))| taken.0 == step.node as usize;
        let steps = walks.steps.iter().enumerate().filter(out);
        let Some((taken, &(from, _, to))) = steps.clone().nth(step.position.into()) else {
            return Err(format!("{step:?} is no step"));
        };
        if from != at {
            return Err(format!("{step:?} is taken in {at}"));
        }
        set |= u32::from(i >= lasso.stem.len()) << taken;
        at = to;
        come(&mut open, at, false);
        if i >= lasso.stem.len() && !open {
            return Err(format!("the promise is kept in {at}"));
        }
    }
    if at != lasso.entry as usize || !open {
        return Err(format!("it ends in {at}, and the promise is open there: {open}"));
    }
    if lasso.cycle.is_empty() {
        return if has(walks.dead_ends(), at) { Ok(None) } else { Err(format!("{at} is no dead end")) };
    }
    walks.forever(set).map(Some).ok_or_else(|| "its loop is none".into())
}

/// Checks every verdict on one graph against the definition.
fn check(drawn: &Drawn, seen: &mut LivenessCounts) -> Result<(), String> {
    let (walks, parents, known) = explored(drawn);
    let forevers = walks.infinite_behaviors();
    for kind in KINDS {
        let walks = promised(&walks, kind);
        let after = walks.open_after();
        let nearest =
            |states: u32| (0..walks.states).filter(|&s| has(states, s)).filter_map(|s| after[s]).min();
        let endless: Vec<_> = forevers
            .iter()
            .filter(|forever| forever.states & walks.keeps == 0)
            .filter_map(|forever| Some((nearest(forever.states)?, forever)))
            .collect();
        let (dead, unknown) = (nearest(walks.dead_ends()), nearest(walks.unknown));
        let each = |set| (0..walks.states).map(|node| has(set, node)).collect();
        let small = |graph| {
            let parents = parents.clone();
            SmallStateGraph { graph, parents, opens: each(walks.opens), keeps: each(walks.keeps) }
        };
        let whole = small(graph(&walks, &known, |_| true));
        let needed = small(graph(&walks, &known, |node| after[node].is_some()));
        for mix in mixes() {
            let outcome = check_property(&whole, NUMBER, &promise(kind, mix));
            let fail = |why: String| Err(format!("{why}\n{kind:?} {mix:?}\n{walks:?}\n{outcome:?}"));
            if check_property(&needed, NUMBER, &promise(kind, mix)) != outcome {
                return fail("it reads steps from where the promise is not open".into());
            }
            let fair = endless.iter().filter(|(_, forever)| mix.counts(forever)).map(|(after, _)| *after);
            let shortest = fair.chain(dead).min();
            match (&outcome, shortest) {
                (LivenessResult::Violated(lasso), Some(shortest)) => match walk(&walks, lasso) {
                    Err(why) => return fail(why),
                    Ok(_) if lasso.stem.len() != shortest => {
                        return fail(format!("{shortest} steps would do"));
                    }
                    Ok(Some(forever)) if !mix.counts(&forever) => {
                        return fail(format!("not fair: {forever:?}"));
                    }
                    Ok(Some(forever)) => {
                        seen.loops += 1;
                        seen.knots += usize::from(lasso.cycle.len() > forever.states.count_ones() as usize);
                    }
                    Ok(None) => seen.dead_ends += 1,
                },
                (LivenessResult::Holds, None) if unknown.is_none() => seen.holds += 1,
                (LivenessResult::Inconclusive { at }, None)
                    if has(walks.unknown, *at as usize) && after[*at as usize] == unknown =>
                {
                    seen.inconclusive += 1;
                }
                _ => return fail(format!("a break after {shortest:?} steps, the unknown after {unknown:?}")),
            }
        }
    }
    Ok(())
}

#[test]
fn liveness_matches_naive_definition() {
    let config = Config { cases: 4_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let seen = RefCell::new(LivenessCounts::default());
    let tried =
        runner.run(&drawn(), |drawn| check(&drawn, &mut seen.borrow_mut()).map_err(TestCaseError::fail));
    tried.unwrap_or_else(|found| panic!("{found}"));
    let seen = seen.into_inner();
    println!("{seen:?}");
    let LivenessCounts { holds, inconclusive, dead_ends, loops, knots } = seen;
    assert!([holds, inconclusive, dead_ends, loops, knots].iter().all(|&times| times > 10_000), "{seen:?}");
}

/// An obligation is pending in 0, with an edge to 2, where the response occurs.
#[test]
fn fairness_decides() {
    const NONE: ClassMask = ClassMask::NONE;
    const GO: ClassMask = ClassMask::NONE.with(1);
    let (wait, go) = (|from, to| (from, 0, to), |from, to| (from, 1, to));
    let waits = vec![wait(0, 0), go(0, 2), wait(2, 2)];
    let blinks = vec![wait(0, 1), go(0, 2), wait(1, 0), wait(2, 2)];
    let ends = vec![wait(0, 1), go(0, 2), wait(2, 2)];
    for (steps, weak, strong, finitely, said) in [
        (&waits, NONE, NONE, NONE, "0 steps, then 1 for ever"),
        (&waits, GO, NONE, NONE, "holds"),
        (&waits, NONE, NONE, NONE.with(0), "holds"),
        (&blinks, GO, NONE, NONE, "0 steps, then 2 for ever"),
        (&blinks, NONE, GO, NONE, "holds"),
        (&blinks, GO, GO, GO, "holds"),
        (&ends, GO, GO, NONE.with(0), "1 steps, then 0 for ever"),
    ] {
        let drawn = (1, (0..3).map(|state| (false, state == 2, NodeKnowledge::All)).collect(), steps.clone());
        let (walks, parents, known) = explored(&drawn);
        let keeps = (0..walks.states).map(|node| has(walks.keeps, node)).collect();
        let graph = graph(&walks, &known, |_| true);
        let small = SmallStateGraph { graph, parents, opens: vec![false; walks.states], keeps };
        let fair = Fairness { weak, strong, finitely_often: finitely };
        let outcome = check_property(
            &small,
            NUMBER,
            &LivenessProperty { name: "go", kind: LivenessKind::Eventually, fair },
        );
        let says = match &outcome {
            LivenessResult::Holds => "holds".into(),
            LivenessResult::Violated(lasso) => {
                format!("{} steps, then {} for ever", lasso.stem.len(), lasso.cycle.len())
            }
            LivenessResult::Inconclusive { at } => format!("{at} is not known"),
        };
        assert_eq!(says, said, "{steps:?} {fair:?}");
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
    let long = SmallStateGraph { graph, parents, opens: never(), keeps: never() };
    let fair = Fairness { weak: ClassMask::NONE.with(0), ..Fairness::default() };
    let promise = LivenessProperty { name: "long", kind: LivenessKind::Eventually, fair };
    let LivenessResult::Violated(lasso) = check_property(&long, NUMBER, &promise) else {
        panic!("nothing keeps it")
    };
    let half = nodes as usize / 2;
    assert_eq!((lasso.stem.len(), lasso.entry, lasso.cycle.len()), (half, nodes / 2, half));
}
