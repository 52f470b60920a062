//! What a walk draws: numbers, and policies.

use orchestrion_kernel::policy::{Bound, Elo, Rule};
use orchestrion_kernel::{Policy, Score, Weight};

/// Luck that is the same every time (SplitMix64).
pub(crate) struct Luck(pub(crate) u64);

impl Luck {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize].clone()
    }
}

/// Which policies a walk runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Under {
    Hardened,
    AsDrawn,
    ApproverAndStandard,
    AnyValid,
}

pub(crate) fn policy(under: Under, luck: &mut Luck) -> Policy {
    match under {
        Under::Hardened => Policy::hardened(),
        Under::AsDrawn => Policy::as_drawn(),
        Under::ApproverAndStandard => {
            let mut policy = Policy { elo: Elo::Standard, ..Policy::hardened() };
            policy.rules.set(Rule::Approver, true);
            policy
        }
        Under::AnyValid => loop {
            let drawn = any_policy(luck);
            if drawn.validate().is_ok() {
                return drawn;
            }
        },
    }
}

pub(crate) fn any_policy(luck: &mut Luck) -> Policy {
    let mut policy = luck.one_of(&[Policy::hardened(), Policy::as_drawn()]);
    policy.elo = luck.one_of(&Elo::ALL);
    for rule in Rule::ALL {
        if luck.percent(30) {
            policy.rules.set(*rule, luck.percent(50));
        }
    }
    let score = |luck: &mut Luck| Score::from_millionths(luck.one_of(&LINES)).unwrap();
    if luck.percent(50) {
        let t = &mut policy.thresholds;
        for line in [
            &mut t.redebate_below,
            &mut t.proceed_from,
            &mut t.veto_from,
            &mut t.objection_from,
            &mut t.critique_above,
        ] {
            if luck.percent(40) {
                *line = score(luck);
            }
        }
    }
    if luck.percent(50) {
        policy.bounds.passes = luck.one_of(&[1, 2, 3, 4]);
        policy.bounds.repairs = luck.one_of(&[Bound::AtMost(0), Bound::AtMost(1), Bound::Unbounded]);
        policy.bounds.audit_attempts = luck.one_of(&[1, 2]);
    }
    if luck.percent(15) {
        // Equal voices, to be spoken in unison: the consensus is a fifth, two fifths, … and meets the lines.
        let w = &mut policy.weights;
        for weight in [&mut w.analyst, &mut w.solution, &mut w.critic, &mut w.security, &mut w.optimizer] {
            *weight = Weight::ONE;
        }
    } else if luck.percent(50) {
        let w = &mut policy.weights;
        for weight in [&mut w.analyst, &mut w.solution, &mut w.critic, &mut w.security, &mut w.optimizer] {
            *weight =
                Weight::from_millionths(luck.one_of(&[0, 1, 333_333, 1_000_000, 2_000_000, 1_000_000_000]))
                    .unwrap();
        }
    }
    policy
}

/// The lines of the built-in policies, their neighbours, and the ends.
pub(crate) const LINES: [u32; 16] = [
    0, 1, 500_000, 599_999, 600_000, 699_999, 700_000, 700_001, 799_999, 800_000, 800_001, 899_999, 900_000,
    950_000, 999_999, 1_000_000,
];
