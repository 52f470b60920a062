//! Exact fractions, by common denominators: the consensus as one would compute it on paper.

/// A fraction of natural numbers, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    over: u128,
    under: u128,
}

impl Fraction {
    pub(super) const ZERO: Self = Self { over: 0, under: 1 };

    /// `over / under`; what stands below is never 0 here.
    pub(super) fn of(over: u128, under: u128) -> Self {
        let by = greatest_common_divisor(over, under).max(1);
        Self { over: over / by, under: under / by }
    }

    /// So many millionths.
    pub(super) fn millionths(number: u32) -> Self {
        Self::of(u128::from(number), 1_000_000)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let (a, b, under) = self.alike(other);
        Self::of(a + b, under)
    }

    /// Crosswise reduced before multiplying, so that the numbers stay small.
    pub(super) fn times(self, other: Self) -> Self {
        let (a, b) = (Self::of(self.over, other.under), Self::of(other.over, self.under));
        Self { over: a.over * b.over, under: a.under * b.under }
    }

    pub(super) fn within(self, least: Self, most: Self) -> Self {
        if self.is_less_than(least) {
            least
        } else if most.is_less_than(self) {
            most
        } else {
            self
        }
    }

    pub(super) fn is_less_than(self, other: Self) -> bool {
        let (a, b, _) = self.alike(other);
        a < b
    }

    /// Decision 0006: rounded down to millionths.
    pub(super) fn floor_millionths(self) -> u128 {
        self.over * 1_000_000 / self.under
    }

    /// `self / (self + other)` in millionths, rounded down; 0 where nothing weighs on either side (DESIGN §2:
    /// 0/0 is 0). Found by halving: the largest t with t · (pro + contra) ≤ 1,000,000 · pro.
    pub(super) fn share_against(self, other: Self) -> u32 {
        let (pro, contra, _) = self.alike(other);
        if pro + contra == 0 {
            return 0;
        }
        let (mut fits, mut too_much) = (0_u32, 1_000_001_u32);
        while too_much - fits > 1 {
            let t = fits + (too_much - fits) / 2;
            if u128::from(t) * (pro + contra) <= 1_000_000 * pro {
                fits = t;
            } else {
                too_much = t;
            }
        }
        fits
    }

    /// Both numerators over the least common denominator, and that denominator.
    fn alike(self, other: Self) -> (u128, u128, u128) {
        let by = greatest_common_divisor(self.under, other.under);
        let under = self.under / by * other.under;
        (self.over * (under / self.under), other.over * (under / other.under), under)
    }
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
