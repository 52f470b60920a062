//! Exact fractions over a common denominator: the consensus as a person computes it on paper.

/// A fraction of natural numbers, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Fraction {
    pub(super) const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// Returns `numerator / denominator`. The denominator is positive.
    pub(super) fn new(numerator: u128, denominator: u128) -> Self {
        let divisor = greatest_common_divisor(numerator, denominator).max(1);
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    pub(super) fn from_millionths(number: u32) -> Self {
        Self::new(u128::from(number), 1_000_000)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let (a, b, denominator) = self.over_common_denominator(other);
        Self::new(a + b, denominator)
    }

    /// Returns the product. Cross reduction before the multiplication keeps the numbers small.
    pub(super) fn times(self, other: Self) -> Self {
        let a = Self::new(self.numerator, other.denominator);
        let b = Self::new(other.numerator, self.denominator);
        Self { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator }
    }

    pub(super) fn clamp(self, least: Self, most: Self) -> Self {
        if self.is_less_than(least) {
            least
        } else if most.is_less_than(self) {
            most
        } else {
            self
        }
    }

    pub(super) fn is_less_than(self, other: Self) -> bool {
        let (a, b, _) = self.over_common_denominator(other);
        a < b
    }

    /// Returns the fraction in millionths, rounded down (decision 0006).
    pub(super) fn floor_millionths(self) -> u128 {
        self.numerator * 1_000_000 / self.denominator
    }

    /// Returns `self / (self + other)` in millionths, rounded down; 0/0 is 0 (DESIGN §2).
    ///
    /// Bisection finds the largest t with t · (pro + contra) ≤ 1,000,000 · pro.
    pub(super) fn share_against(self, other: Self) -> u32 {
        let (pro, contra, _) = self.over_common_denominator(other);
        if pro + contra == 0 {
            return 0;
        }
        let (mut largest_fit, mut smallest_excess) = (0_u32, 1_000_001_u32);
        while smallest_excess - largest_fit > 1 {
            let t = largest_fit + (smallest_excess - largest_fit) / 2;
            if u128::from(t) * (pro + contra) <= 1_000_000 * pro {
                largest_fit = t;
            } else {
                smallest_excess = t;
            }
        }
        largest_fit
    }

    /// Returns both numerators over the least common denominator, and that denominator.
    fn over_common_denominator(self, other: Self) -> (u128, u128, u128) {
        let divisor = greatest_common_divisor(self.denominator, other.denominator);
        let common = self.denominator / divisor * other.denominator;
        (self.numerator * (common / self.denominator), other.numerator * (common / other.denominator), common)
    }
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
