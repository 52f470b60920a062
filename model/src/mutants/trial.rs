//! One mutant on trial: do the claims notice?

use super::Mutant;
use crate::check;
use crate::coverage::Mark;
use crate::explore::{self, Budget, Ended, Exploration, Marks, ModelError, Options};
use crate::product::KernelModel;
use crate::scopes::{MODELS, Model, Scope};
use crate::subject::Subject;
use orchestrion_kernel::Policy;
use orchestrion_kernel::claims::{CLAIMS, Check, Contract};

/// A mutant may have so many times the states of the real kernel before it is given up.
const GROWTH: usize = 4;

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A claim noticed.
    Killed {
        /// Which, by its place in [`CLAIMS`].
        claim: usize,
        /// How.
        by: Kill,
        /// In which model.
        model: &'static str,
    },
    /// The kernel panicked, and the explorer said so.
    Panicked(String),
    /// It does something else than the kernel, and no claim notices.
    Survived,
    /// In every model it does exactly what the kernel does, as far as the scope goes.
    Equivalent,
    /// It grew without end, and no claim noticed so far.
    Inconclusive,
}

/// How a claim noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kill {
    /// It is broken, so many steps away.
    Broken(usize),
    /// It is broken by a run that never ends as it should.
    ByRun,
    /// It has nothing to say any more: what it speaks of is never reached.
    Vacuous,
}

/// What the kernel itself does at one scope, to compare with.
#[derive(Debug)]
pub(super) struct Baseline {
    scope: Scope,
    /// The smallest model first.
    models: Vec<Explored>,
}

#[derive(Debug)]
struct Explored {
    model: Model,
    states: usize,
    digest: u64,
    /// What was seen, by [`Mark::number`].
    seen: Vec<bool>,
}

impl Explored {
    fn saw(&self, mark: Mark) -> bool {
        self.seen.get(mark.number()).copied().unwrap_or(false)
    }
}

impl Baseline {
    /// Explores the kernel itself.
    pub(super) fn of(policy: &Policy, scope: Scope) -> Result<Self, ModelError> {
        let mut models = Vec::new();
        for model in MODELS {
            let kernel = KernelModel::digested(Subject::real(policy.clone()), model, &scope);
            let explored = explore::explore(&kernel, &Options::default(), &mut |_| ())?;
            let seen = (0..crate::coverage::MARKS).map(|mark| explored.witness(mark).is_some()).collect();
            models.push(Explored { model, states: explored.states(), digest: kernel.digest(), seen });
        }
        models.sort_by_key(|explored| explored.states);
        Ok(Self { scope, models })
    }
}

/// Tries a mutant at one scope after the other; the last one decides whether it does anything else than the kernel.
pub(super) fn try_out(mutant: &Mutant, baselines: &[Baseline]) -> Fate {
    let mut fate = Fate::Equivalent;
    for baseline in baselines {
        fate = at_scope(mutant, baseline);
        if !matches!(fate, Fate::Survived | Fate::Equivalent) {
            break;
        }
    }
    fate
}

fn at_scope(mutant: &Mutant, baseline: &Baseline) -> Fate {
    let mut same = true;
    let mut premises = vec![false; CLAIMS.len()];
    for real in &baseline.models {
        let untried = |row| !real.saw(Mark::Row(row)) && !real.saw(Mark::Guard(row));
        if mutant.row.is_some_and(untried) {
            premises
                .iter_mut()
                .enumerate()
                .for_each(|(claim, there)| *there |= real.saw(Mark::Premise(claim)));
            continue;
        }
        let kernel = KernelModel::digested(mutant.subject.clone(), real.model, &baseline.scope);
        let budget = Budget { states: Some(real.states.saturating_mul(GROWTH)), ..Budget::default() };
        let options = Options { budget, stop_at: deadly(), ..Options::default() };
        let explored = match explore::explore(&kernel, &options, &mut |_| ()) {
            Ok(explored) => explored,
            Err(error) => return Fate::Panicked(error.to_string()),
        };
        match killer(&kernel, &explored) {
            Ok(Some((claim, by))) => return Fate::Killed { claim, by, model: real.model.name },
            Ok(None) if explored.ended() != Ended::Exhausted => return Fate::Inconclusive,
            Ok(None) => {}
            Err(error) => return Fate::Panicked(error.to_string()),
        }
        same &= kernel.digest() == real.digest;
        premises
            .iter_mut()
            .enumerate()
            .for_each(|(claim, there)| *there |= explored.witness(Mark::Premise(claim).number()).is_some());
    }
    let spoke = |claim: usize| baseline.models.iter().any(|real| real.saw(Mark::Premise(claim)));
    match (0..CLAIMS.len()).find(|claim| spoke(*claim) && !premises[*claim]) {
        Some(claim) => Fate::Killed { claim, by: Kill::Vacuous, model: "every" },
        None if same => Fate::Equivalent,
        None => Fate::Survived,
    }
}

/// The first claim that an exploration breaks.
fn killer(kernel: &KernelModel, explored: &Exploration) -> Result<Option<(usize, Kill)>, ModelError> {
    for claim in (0..CLAIMS.len()).filter(|claim| is_deadly(*claim)) {
        if let Some(witness) = explored.witness(Mark::Broken(claim).number()) {
            return Ok(Some((claim, Kill::Broken(explored.steps_to(witness)))));
        }
    }
    if explored.ended() != Ended::Exhausted {
        return Ok(None);
    }
    for claim in 0..CLAIMS.len() {
        if kernel.promised(claim).is_some() && check::found(kernel, explored, claim)?.counterexample.is_some()
        {
            return Ok(Some((claim, Kill::ByRun)));
        }
    }
    Ok(None)
}

/// The marks of broken claims.
fn deadly() -> Marks {
    let mut marks = Marks::none_of(crate::coverage::MARKS);
    (0..CLAIMS.len())
        .filter(|claim| is_deadly(*claim))
        .for_each(|claim| marks.show(Mark::Broken(claim).number()));
    marks
}

/// Every claim but two on the code of the kernel, which no mutant here touches: they would hold, or tell of the harness.
fn is_deadly(claim: usize) -> bool {
    let harness =
        |check: &Check| matches!(check, Check::Contract(Contract::Deterministic | Contract::FoldsFromLog));
    CLAIMS.get(claim).is_some_and(|claim| !harness(&claim.check))
}
