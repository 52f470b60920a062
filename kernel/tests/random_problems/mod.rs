//! Random problems and their solutions by enumeration.

use orchestrion_kernel::selection::{Candidate, Inclusion, Selection};

/// Reproducible random numbers (splitmix64).
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `most`, both inclusive.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        self.next() % (most + 1)
    }

    pub(crate) fn of<T: Copy>(&mut self, some: &[T]) -> T {
        some[usize::try_from(self.next() % some.len() as u64).unwrap()]
    }

    pub(crate) fn place(&mut self, below: usize) -> usize {
        usize::try_from(self.next() % below as u64).unwrap()
    }
}

pub(crate) fn free(utility: u64, cost: u64, deps: &[usize]) -> Candidate {
    Candidate { utility, cost, deps: deps.to_vec(), inclusion: Inclusion::Free }
}

/// Returns the solution by enumeration; `None` if the problem is infeasible.
pub(crate) fn best_by_enumeration(budget: u64, candidates: &[Candidate]) -> Option<Selection> {
    let masks: Vec<u32> =
        candidates.iter().map(|one| one.deps.iter().fold(0, |mask, dep| mask | 1 << dep)).collect();
    let mut best: Option<Selection> = None;
    'sets: for set in 0..1_u32 << candidates.len() {
        let (mut utility, mut cost) = (0, 0);
        for (item, candidate) in candidates.iter().enumerate() {
            let inside = set >> item & 1 == 1;
            let allowed = if inside {
                candidate.inclusion != Inclusion::Forbidden
            } else {
                candidate.inclusion != Inclusion::Pinned
            };
            if !allowed || inside && masks[item] & !set != 0 {
                continue 'sets;
            }
            if inside {
                utility += candidate.utility;
                cost += candidate.cost;
            }
        }
        let loses = |best: &Selection| utility < best.utility || utility == best.utility && cost > best.cost;
        if cost > budget || best.as_ref().is_some_and(loses) {
            continue;
        }
        let selected = (0..candidates.len()).filter(|item| set >> item & 1 == 1).collect();
        let found = Selection { selected, utility, cost };
        if best
            .as_ref()
            .is_none_or(|best| (best.utility, best.cost) != (utility, cost) || found.selected < best.selected)
        {
            best = Some(found);
        }
    }
    best
}

/// Returns a problem with up to ten candidates, with many or no ties, zeros, cycles, inclusions, and large numbers.
pub(crate) fn random_problem(rng: &mut Lcg) -> (u64, Vec<Candidate>) {
    let count = rng.place(11);
    let sizes = [0, 1, 2, 3, 10, 1000, 1 << 40, 1 << 57];
    let (utility_max, cost_max) = (rng.of(&sizes), rng.of(&sizes));
    let (likeness, excess) = (rng.up_to(7), rng.up_to(20));
    let (needs, cyclic, marked) = (rng.up_to(4), rng.up_to(3) == 0, rng.up_to(3) == 0);
    let mut names: Vec<usize> = (0..count).collect();
    if rng.up_to(1) == 0 {
        for place in (1..count).rev() {
            names.swap(place, rng.place(place + 1));
        }
    }
    let mut candidates = vec![free(0, 0, &[]); count];
    for item in 0..count {
        let cost = rng.up_to(cost_max);
        let (utility, cost) = match likeness {
            0 => (cost, cost),
            1 => (cost + excess, cost),
            2 => (2 * cost, 2 * cost),
            3 => (cost.saturating_sub(excess), cost),
            _ => (rng.up_to(utility_max), cost),
        };
        let below = if cyclic { count } else { item };
        let deps =
            (0..if below > 0 { rng.up_to(needs) } else { 0 }).map(|_| names[rng.place(below)]).collect();
        let mark = match rng.up_to(if marked { 9 } else { 0 }) {
            8 => Inclusion::Pinned,
            9 => Inclusion::Forbidden,
            _ => Inclusion::Free,
        };
        candidates[names[item]] = Candidate { utility, cost, deps, inclusion: mark };
    }
    let total: u64 = candidates.iter().map(|one| one.cost).sum();
    let budget = match rng.up_to(9) {
        0 => u64::MAX,
        1 => 0,
        _ => rng.up_to(total),
    };
    (budget, candidates)
}
