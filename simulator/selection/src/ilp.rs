//! The problem as a 0-1 program, stated once for any solver of linear programs.
//!
//! ```text
//! maximise  Σ utilityᵢ xᵢ
//! where     Σ costᵢ xᵢ ≤ budget
//!           xᵢ ≤ xⱼ              for each item i and each j that it depends on
//!           xᵢ ∈ {0, 1}, and 1 where pinned, 0 where forbidden
//! ```
//!
//! The canonical choice takes more programs, each with what is known by then as rows: the least cost at that utility; then, for
//! [`BLOCK`] items at a time in the order of their ids, the choice whose indicator is the largest binary number. Of the list that
//! these give, the shortest beginning with the same utility and cost is the first of all lists: a smaller one would be such a
//! beginning, or have an item where this one has none.
//!
//! Solvers of linear programs reckon in floating point. All numbers here are whole, so rows leave half a unit of room, and sums
//! stay below [`SUM_MAX`], from where on a difference of one is less than the solvers' own tolerance.

use good_lp::{Expression, ResolutionError, Solution, SolutionStatus, SolverModel, variable, variables};
use orchestrion_kernel::selection::{
    Candidate, Inclusion, Problem, Selection, SelectionError, check_selection,
};
use thiserror::Error;

/// The solver of linear programs that this build has.
pub const ENGINE: &str = if cfg!(feature = "highs") { "HiGHS" } else { "microlp" };

/// The sums of utilities and of costs, divided by what they have in common, stay below this.
pub const SUM_MAX: u64 = 1_000_000_000;

/// So many items are put in order by one program; the largest number in it is two to this power.
const BLOCK: usize = 20;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum IlpError {
    /// Floating point would not do.
    #[error(
        "the {what} sum to {sum}, divided by what they have in common; in floating point that is exact below {SUM_MAX} only"
    )]
    TooLarge {
        /// Utilities or costs.
        what: &'static str,
        /// Their sum.
        sum: u64,
    },
    /// The solver gave up.
    #[error("{ENGINE} gave no answer: {0}")]
    Unsolved(ResolutionError),
    /// The solver gave an answer that it does not call optimal.
    #[error("{ENGINE} gave an answer that it does not call optimal")]
    Unproven,
    /// One answer says that another one was not the best.
    #[error("{ENGINE} gave answers that contradict each other")]
    Contradictory,
    /// What the solver answered is not so.
    #[error("{ENGINE} gave an answer that does not pass the check in integers: {0}")]
    Unsound(SelectionError),
}

/// The canonical choice: of most utility, of these of least cost, of these the first by ids.
///
/// # Errors
/// [`IlpError`] where floating point does not reach; no answer is given then.
pub(super) fn solve(problem: &Problem) -> Result<Selection, IlpError> {
    let mut program = Program::new(problem)?;
    let best = program.solve(IlpObjective::Utility)?;
    program.utility_min = Some(best.utility);
    let mut chosen = program.solve(IlpObjective::Cost)?;
    program.cost_max = chosen.cost;
    for from in (0..program.bounds.len()).step_by(BLOCK) {
        let block = from..program.bounds.len().min(from + BLOCK);
        chosen = program.solve(IlpObjective::Order(block.clone()))?;
        if (chosen.utility, chosen.cost) != (best.utility, program.cost_max) {
            return Err(IlpError::Contradictory);
        }
        for item in block {
            let is_chosen = chosen.selected.binary_search(&item).is_ok();
            program.bounds[item] = if is_chosen { (1, 1) } else { (0, 0) };
        }
    }
    Ok(shortest(problem, chosen))
}

/// What is to be as large, or as small, as it can be.
enum IlpObjective {
    Utility,
    Cost,
    /// The indicator of some items, as a binary number.
    Order(std::ops::Range<usize>),
}

struct Program<'a> {
    problem: &'a Problem,
    /// Between which numbers the variable of each item lies.
    bounds: Vec<(u8, u8)>,
    utility_unit: u64,
    cost_unit: u64,
    utility_min: Option<u64>,
    cost_max: u64,
}

impl<'a> Program<'a> {
    fn new(problem: &'a Problem) -> Result<Self, IlpError> {
        let candidates = problem.candidates();
        let utility_unit = unit(candidates, "utilities", |candidate| candidate.utility)?;
        let cost_unit = unit(candidates, "costs", |candidate| candidate.cost)?;
        let bounds = candidates.iter().map(|candidate| match candidate.inclusion {
            Inclusion::Free => (0, 1),
            Inclusion::Pinned => (1, 1),
            Inclusion::Forbidden => (0, 0),
        });
        let cost_max = problem.budget();
        Ok(Self { problem, bounds: bounds.collect(), utility_unit, cost_unit, utility_min: None, cost_max })
    }

    fn solve(&self, aim: IlpObjective) -> Result<Selection, IlpError> {
        let candidates = self.problem.candidates();
        let mut variables = variables!();
        let bounded = |(min, max): &(u8, u8)| variables.add(variable().integer().clamp(*min, *max));
        let x: Vec<_> = self.bounds.iter().map(bounded).collect();
        if x.is_empty() {
            return Ok(Selection { selected: Vec::new(), utility: 0, cost: 0 });
        }
        let sum = |of: &dyn Fn(usize, &Candidate) -> u64| {
            let terms =
                candidates.iter().enumerate().map(|(item, candidate)| exact(of(item, candidate)) * x[item]);
            terms.sum::<Expression>()
        };
        let utility = || sum(&|_, candidate| candidate.utility / self.utility_unit);
        let cost = || sum(&|_, candidate| candidate.cost / self.cost_unit);
        let aimed = match aim {
            IlpObjective::Utility => variables.maximise(utility()),
            IlpObjective::Cost => variables.minimise(cost()),
            IlpObjective::Order(block) => variables.maximise(sum(&|item, _| {
                let is_in = block.contains(&item);
                if is_in { 1 << (block.end - 1 - item) } else { 0 }
            })),
        };
        let mut model = engine(aimed);
        let needs = candidates.iter().enumerate().flat_map(|(item, candidate)| {
            candidate.deps.iter().filter(move |dep| **dep != item).map(move |dep| (item, *dep))
        });
        for (item, dep) in needs {
            model.add_constraint((x[item] - x[dep]).leq(0));
        }
        let cost_max = (self.cost_max / self.cost_unit).min(SUM_MAX);
        model.add_constraint(cost().leq(exact(cost_max) + 0.5));
        if let Some(least) = self.utility_min {
            model.add_constraint(utility().geq(exact(least / self.utility_unit) - 0.5));
        }
        let solution = model.solve().map_err(IlpError::Unsolved)?;
        if !matches!(solution.status(), SolutionStatus::Optimal) {
            return Err(IlpError::Unproven);
        }
        let selected = (0..x.len()).filter(|item| solution.value(x[*item]) > 0.5).collect();
        let selection = summed(self.problem, selected);
        check_selection(self.problem, &selection).map_err(IlpError::Unsound)?;
        Ok(selection)
    }
}

/// The solver of this build, with no gap that it could call optimal.
#[cfg(feature = "highs")]
fn engine(aimed: good_lp::variable::UnsolvedProblem) -> impl SolverModel<Error = ResolutionError> {
    const TOLERANCE: f64 = 1e-9;
    let model = aimed.using(good_lp::solvers::highs::highs);
    let model = model.set_option("mip_rel_gap", 0.0).set_option("mip_abs_gap", 0.0);
    let model = model
        .set_option("mip_feasibility_tolerance", TOLERANCE)
        .set_option("primal_feasibility_tolerance", TOLERANCE);
    model.set_threads(1)
}

/// The solver of this build; its gap is 0 unless somebody says otherwise.
#[cfg(not(feature = "highs"))]
fn engine(aimed: good_lp::variable::UnsolvedProblem) -> impl SolverModel<Error = ResolutionError> {
    aimed.using(good_lp::solvers::microlp::microlp)
}

/// A number that is small enough to be one in floating point too.
fn exact(number: u64) -> f64 {
    debug_assert!(number <= SUM_MAX, "sums are held below");
    number as f64
}

/// What all of these numbers can be divided by. The sum of the quotients must not be too large.
fn unit(candidates: &[Candidate], what: &'static str, of: fn(&Candidate) -> u64) -> Result<u64, IlpError> {
    let unit = candidates.iter().map(of).fold(0, gcd).max(1);
    let sum = candidates.iter().map(of).sum::<u64>() / unit;
    if sum < SUM_MAX { Ok(unit) } else { Err(IlpError::TooLarge { what, sum }) }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The shortest beginning of a choice that is as good, as cheap, and can be shown.
fn shortest(problem: &Problem, chosen: Selection) -> Selection {
    let adds =
        |item: &usize| problem.candidates().get(*item).is_some_and(|one| one.utility > 0 || one.cost > 0);
    let least = chosen.selected.iter().rposition(adds).map_or(0, |last| last + 1);
    let beginnings =
        (least..chosen.selected.len()).map(|end| summed(problem, chosen.selected[..end].to_vec()));
    let mut shown = beginnings.filter(|beginning| check_selection(problem, beginning).is_ok());
    shown.next().unwrap_or(chosen)
}

fn summed(problem: &Problem, selected: Vec<usize>) -> Selection {
    let sum = |of: fn(&Candidate) -> u64| selected.iter().map(|item| of(&problem.candidates()[*item])).sum();
    let (utility, cost) = (sum(|candidate| candidate.utility), sum(|candidate| candidate.cost));
    Selection { selected, utility, cost }
}
