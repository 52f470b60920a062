//! A lint of a set of claims on the real machine: premises that no run reaches, claims that others imply, contradictions, and traps.
//!
//! Each model is explored once. A step keeps what it says to the claims as a word. States from which the claims see the same runs are one
//! class; the questions are answered on products of the classes with the monitors of a few claims. A run *abides* by a set of claims if no
//! step of it violates one of them.

mod edges;
mod graph;
mod minimize;
mod product;
#[cfg(test)]
mod tests;

use crate::check::Counterexample;
use crate::kernel_under_test::KernelUnderTest;
use crate::scopes::{Model, Scope};
use crate::user_claims::FoundPath;
use graph::ClaimGraph;
use minimize::minimize;
use orchestrion_user_claims::{ClaimSet, UserClaim};
use product::{Product, violated_on};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is wrong with a set of claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimDefect {
    /// No run of any model has an event that decides the claim.
    UnreachablePremise,
    /// Every run that violates the claim violates one of the others in the same step or before.
    Implied,
    /// No run that abides by the others has an event that decides the claim.
    Excluded,
    /// No request ends in a run that abides by these claims.
    Contradiction,
    /// A run abides by these claims, and no continuation of it that abides by them ends the request.
    Trap,
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimDiagnostic {
    /// The defect.
    pub defect: ClaimDefect,
    /// The position of the claim; `None` if it is one of several.
    pub claim: Option<usize>,
    /// A minimal set of claims that cause it: without one of them there is no defect.
    pub causes: Vec<usize>,
    /// A shortest run: to an event that decides the claim, to its violation, to an end of a request, or into the trap.
    pub example: Option<FoundPath>,
}

/// The result of a lint.
#[derive(Clone, Debug)]
pub struct ClaimLint {
    /// The diagnostics.
    pub diagnostics: Vec<ClaimDiagnostic>,
    /// The models that are too large: nothing is known about the runs that only they have.
    pub incomplete: Vec<&'static str>,
    /// The number of explored states.
    pub states: usize,
}

/// A path in one of the graphs.
type GraphPath = (usize, Vec<u16>);

/// Shortest paths of one claim in all models: to an event that decides it, and to its violation.
#[derive(Debug, Default)]
struct Alone {
    premise: Option<GraphPath>,
    violation: Option<GraphPath>,
}

/// What the runs of one model say that abide by all claims.
struct Together {
    premises: ClaimSet,
    /// The claims that a next step violates, and no other one.
    exclusive: ClaimSet,
    /// Whether a request ends.
    ends: bool,
    /// A shortest path into a state from which no request ends in a run that abides by all claims.
    trap: Option<Vec<u16>>,
    is_complete: bool,
}

/// Lints the claims of a project on these models of a kernel.
#[must_use]
pub fn lint_claims(
    kernel: &KernelUnderTest,
    models: &[Model],
    scope: &Scope,
    claims: &[UserClaim],
    threads: usize,
) -> ClaimLint {
    let found: Mutex<Vec<(usize, ClaimGraph, Together)>> = Mutex::default();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((number, model)) = next_model(models, &next) {
            let graph = ClaimGraph::explore(kernel, model, scope, claims);
            let together = Together::of(&graph, ClaimSet::first(claims.len()));
            if let Ok(mut found) = found.lock() {
                found.push((number, graph, together));
            }
        }
    };
    in_threads(threads, work);
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(number, ..)| *number);
    let (graphs, facts): (Vec<_>, Vec<_>) = found.into_iter().map(|(_, graph, facts)| (graph, facts)).unzip();
    let mut linter = Linter { graphs, facts, alone: Vec::new(), all: ClaimSet::first(claims.len()) };
    linter.alone = linter.alone(claims.len(), threads);
    linter.lint(claims.len())
}

/// Runs the same work in several threads.
fn in_threads(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        (0..threads.max(1)).for_each(|_| drop(scope.spawn(&work)));
    });
}

/// Keeps a path if it is shorter than that of an earlier model.
fn keep_shorter(kept: &mut Option<GraphPath>, number: usize, path: Option<Vec<u16>>) {
    if let Some(path) = path
        && kept.as_ref().is_none_or(|(_, known)| known.len() > path.len())
    {
        *kept = Some((number, path));
    }
}

/// The next model that no thread has taken. The last models are the largest, so they come first.
fn next_model(models: &[Model], next: &AtomicUsize) -> Option<(usize, Model)> {
    let number = models.len().checked_sub(1 + next.fetch_add(1, Ordering::Relaxed))?;
    models.get(number).map(|model| (number, *model))
}

/// The shortest paths to an event that decides a claim and to its violation, if there are any.
fn alone(graph: &ClaimGraph, claim: usize) -> (Option<Vec<u16>>, Option<Vec<u16>>) {
    let one = ClaimSet::of(claim);
    let mut product = Product::new(graph, one);
    let mut premise = None;
    let violation = product.explore(ClaimSet::default(), |step| {
        if !step.premises.is_empty() && premise.is_none() {
            premise = Some((step.from, step.position));
        }
        !step.violated.is_empty()
    });
    let premise = premise.map(|(from, position)| {
        let mut path = product.path_to(from);
        path.push(position);
        path
    });
    (premise, violation)
}

impl Together {
    fn of(graph: &ClaimGraph, all: ClaimSet) -> Self {
        let mut product = Product::new(graph, all);
        let (mut premises, mut exclusive, mut ends) = (ClaimSet::default(), ClaimSet::default(), false);
        // The sources of the steps to each state, and the states from which a request ends.
        let mut sources: Vec<Vec<u32>> = Vec::new();
        let mut can_end: Vec<bool> = Vec::new();
        product.explore(all, |step| {
            let mut violated = step.violated.iter();
            match (violated.next(), violated.next()) {
                (None, _) => premises = premises.union(step.premises),
                (Some(claim), None) => {
                    exclusive.insert(claim);
                    // The event that violates a claim decides it, too: of `never`, no other one does.
                    if step.premises.contains(claim) {
                        premises.insert(claim);
                    }
                }
                (Some(_), Some(_)) => {}
            }
            if let Some(to) = step.to {
                let len = (step.from.max(to) as usize + 1).max(sources.len());
                sources.resize(len, Vec::new());
                can_end.resize(len, false);
                sources[to as usize].push(step.from);
                if step.ends {
                    ends = true;
                    can_end[step.from as usize] = true;
                }
            }
            false
        });
        can_end.resize(product.len(), false);
        sources.resize(product.len(), Vec::new());
        let mut open: Vec<u32> =
            (0..).zip(&can_end).filter(|(_, can_end)| **can_end).map(|(at, _)| at).collect();
        while let Some(state) = open.pop() {
            for source in std::mem::take(&mut sources[state as usize]) {
                if !std::mem::replace(&mut can_end[source as usize], true) {
                    open.push(source);
                }
            }
        }
        let is_trap = |(state, can_end): &(u32, &bool)| {
            !**can_end && graph.can_end.get(product.class(*state) as usize).copied().unwrap_or(false)
        };
        let trap = (0..).zip(&can_end).find(is_trap).map(|(state, _)| product.path_to(state));
        let trap = trap.filter(|_| product.is_complete);
        Self { premises, exclusive, ends, trap, is_complete: product.is_complete }
    }
}

/// The explored models with their facts.
struct Linter {
    graphs: Vec<ClaimGraph>,
    facts: Vec<Together>,
    /// For each claim.
    alone: Vec<Alone>,
    all: ClaimSet,
}

impl Linter {
    /// Explores each claim alone, if the runs that abide by all claims do not already show that it has no defect.
    fn alone(&self, claims: usize, threads: usize) -> Vec<Alone> {
        let found: Mutex<Vec<(usize, Alone)>> = Mutex::default();
        let next = AtomicUsize::new(0);
        in_threads(threads, || {
            loop {
                let claim = next.fetch_add(1, Ordering::Relaxed);
                if claim >= claims {
                    return;
                }
                let alone = if self.is_sound(claim) { Alone::default() } else { self.explore_alone(claim) };
                if let Ok(mut found) = found.lock() {
                    found.push((claim, alone));
                }
            }
        });
        let mut found = found.into_inner().unwrap_or_default();
        found.sort_by_key(|(claim, _)| *claim);
        found.into_iter().map(|(_, alone)| alone).collect()
    }

    fn explore_alone(&self, claim: usize) -> Alone {
        let mut found = Alone::default();
        for (number, graph) in self.graphs.iter().enumerate() {
            let (premise, violation) = alone(graph, claim);
            keep_shorter(&mut found.premise, number, premise);
            keep_shorter(&mut found.violation, number, violation);
        }
        found
    }

    /// Whether runs that abide by all claims decide a claim, and a step violates it alone.
    fn is_sound(&self, claim: usize) -> bool {
        self.facts.iter().any(|facts| facts.premises.contains(claim)) && self.is_exclusive(claim)
    }

    fn is_exclusive(&self, claim: usize) -> bool {
        self.facts.iter().any(|facts| facts.exclusive.contains(claim))
    }

    fn lint(&self, claims: usize) -> ClaimLint {
        let incomplete = self.graphs.iter().zip(&self.facts);
        let incomplete = incomplete.filter(|(graph, facts)| !graph.is_complete || !facts.is_complete);
        let incomplete: Vec<&'static str> = incomplete.map(|(graph, _)| graph.model.name).collect();
        let mut diagnostics = Vec::new();
        // What no run does is known only if every run was explored.
        if incomplete.is_empty() {
            diagnostics.extend(self.contradiction());
            let has_end = diagnostics.is_empty();
            for claim in 0..claims {
                diagnostics.extend(self.of_claim(claim, has_end));
            }
        }
        diagnostics.extend(self.traps());
        let states = self.graphs.iter().map(ClaimGraph::len).sum();
        ClaimLint { diagnostics, incomplete, states }
    }

    /// The defect of one claim, if it has one.
    fn of_claim(&self, claim: usize, has_end: bool) -> Option<ClaimDiagnostic> {
        if self.is_sound(claim) {
            return None;
        }
        let others = self.all.without(ClaimSet::of(claim));
        let Some(premise) = self.alone.get(claim).and_then(|alone| alone.premise.clone()) else {
            return Some(ClaimDiagnostic {
                defect: ClaimDefect::UnreachablePremise,
                claim: Some(claim),
                causes: Vec::new(),
                example: None,
            });
        };
        if !has_end {
            return None;
        }
        if let Some(implied) = self.implied(claim, others) {
            return Some(implied);
        }
        if !self.facts.iter().any(|facts| facts.premises.contains(claim)) {
            let conflicts = |causes| !self.reaches_premise(claim, causes);
            let hint = violated_on(&self.graphs[premise.0], others, &premise.1);
            let causes = minimize(others, hint, &conflicts);
            return Some(self.diagnostic(ClaimDefect::Excluded, Some(claim), causes, Some(premise)));
        }
        None
    }

    /// Whether other claims imply a claim that runs violate.
    fn implied(&self, claim: usize, others: ClaimSet) -> Option<ClaimDiagnostic> {
        let violation = self.alone.get(claim)?.violation.clone()?;
        if self.is_exclusive(claim) {
            return None;
        }
        let implied = |causes| !self.is_violated_alone(claim, causes);
        let hint = violated_on(&self.graphs[violation.0], others, &violation.1);
        let causes = minimize(others, hint, &implied);
        Some(self.diagnostic(ClaimDefect::Implied, Some(claim), causes, Some(violation)))
    }

    /// Claims by which no request ends.
    fn contradiction(&self) -> Option<ClaimDiagnostic> {
        let with_end =
            || self.graphs.iter().enumerate().filter(|(_, graph)| graph.can_end.first() == Some(&true));
        if self.facts.iter().any(|facts| facts.ends) || with_end().next().is_none() {
            return None;
        }
        let ends = with_end().filter_map(|(number, graph)| {
            let path =
                Product::new(graph, ClaimSet::default()).explore(ClaimSet::default(), |step| step.ends)?;
            Some((number, path))
        });
        let example = ends.min_by_key(|(_, path)| path.len())?;
        let conflicts = |causes: ClaimSet| {
            with_end().all(|(_, graph)| {
                Product::new(graph, causes).explore(causes, |step| step.ends && step.to.is_some()).is_none()
            })
        };
        let hint = violated_on(&self.graphs[example.0], self.all, &example.1);
        let causes = minimize(self.all, hint, &conflicts);
        Some(self.diagnostic(ClaimDefect::Contradiction, None, causes, Some(example)))
    }

    /// The shortest trap of each set of claims. Only models in which calls fail and the user cancels have every way out.
    fn traps(&self) -> Vec<ClaimDiagnostic> {
        let mut traps: Vec<ClaimDiagnostic> = Vec::new();
        for (number, (graph, facts)) in self.graphs.iter().zip(&self.facts).enumerate() {
            let is_free = graph.model.free.failures && graph.model.free.cancel;
            // At the initial state it is no trap: no request ends at all.
            let Some(path) = facts.trap.as_ref().filter(|path| is_free && !path.is_empty()) else {
                continue;
            };
            let end = |causes: ClaimSet| {
                Product::after(graph, causes, path).explore(causes, |step| step.ends && step.to.is_some())
            };
            let out = end(ClaimSet::default()).unwrap_or_default();
            let whole: Vec<u16> = path.iter().chain(&out).copied().collect();
            let hint = violated_on(graph, self.all, &whole);
            let causes = minimize(self.all, hint, &|causes| end(causes).is_none());
            let trap = self.diagnostic(ClaimDefect::Trap, None, causes, Some((number, path.clone())));
            match traps.iter_mut().find(|known| known.causes == trap.causes) {
                Some(known) if known.example_len() > trap.example_len() => *known = trap,
                Some(_) => {}
                None => traps.push(trap),
            }
        }
        traps
    }

    /// Whether a run that abides by these claims has an event that decides a claim.
    fn reaches_premise(&self, claim: usize, causes: ClaimSet) -> bool {
        let one = ClaimSet::of(claim);
        let kept = causes.union(one);
        self.graphs.iter().any(|graph| {
            let seen = Product::new(graph, kept)
                .explore(kept, |step| step.violated.without(one).is_empty() && step.premises.contains(claim));
            seen.is_some()
        })
    }

    /// Whether a step after a run that abides by these claims violates a claim and none of them.
    fn is_violated_alone(&self, claim: usize, causes: ClaimSet) -> bool {
        let one = ClaimSet::of(claim);
        let kept = causes.union(one);
        self.graphs
            .iter()
            .any(|graph| Product::new(graph, kept).explore(kept, |step| step.violated == one).is_some())
    }

    fn diagnostic(
        &self,
        defect: ClaimDefect,
        claim: Option<usize>,
        causes: ClaimSet,
        example: Option<GraphPath>,
    ) -> ClaimDiagnostic {
        let example = example.and_then(|(number, path)| {
            let graph = self.graphs.get(number)?;
            let counterexample = Counterexample::of(&graph.subject, &graph.inputs(&path), None).0;
            Some(FoundPath { model: graph.model.name, counterexample: Box::new(counterexample) })
        });
        ClaimDiagnostic { defect, claim, causes: causes.iter().collect(), example }
    }
}

impl ClaimDiagnostic {
    fn example_len(&self) -> usize {
        self.example.as_ref().map_or(0, |path| path.counterexample.inputs.len())
    }
}
