//! Sums of large numbers as rows of small ones.
//!
//! A number is split into digits of a base, and a sum into one row for each digit, with an integer carry `r` from each row to the
//! next higher one:
//!
//! ```text
//! Σ aᵢ xᵢ ≥ G:    Sₖ + rₖ₋₁ - base · rₖ ≥ Gₖ    for each digit k, where Sₖ = Σ aᵢₖ xᵢ, and no carry leaves the highest row
//! ```
//!
//! The rows multiplied by the powers of the base add up to the inequality, so they imply it. Conversely, if the inequality holds,
//! the carries are quotients of the lower digits. An upper limit has the same rows with `≤`. So the constraints and objectives have
//! coefficients below the base, and every row has a sum below [`ROW_SUM_MAX`].
//!
//! The largest sum has the largest highest digit, and of these the largest next digit. So one program maximizes a row, with the
//! digits of the higher rows fixed and zeros as the digits of the lower rows. A minimum has digits that are rounded up; below the
//! highest they are zero or negative.

use good_lp::constraint::Constraint;
use good_lp::{Expression, IntoAffineExpression, ProblemVariables, Variable, variable};

/// Limit of the sum of a row, up to which solvers distinguish sums that differ by one.
const ROW_SUM_MAX: u64 = 1 << 29;

/// The variables and constraints of one program.
pub(super) struct Rows {
    pub(super) variables: ProblemVariables,
    pub(super) constraints: Vec<Constraint>,
}

/// The coefficients of a sum.
pub(super) struct Digits {
    /// The coefficients, divided by their greatest common divisor.
    coefficients: Vec<u64>,
    divisor: u64,
    base_bits: u32,
    /// The number of digits.
    count: usize,
}

/// The direction of an inequality.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    AtLeast,
    AtMost,
}

impl Digits {
    /// Splits coefficients into digits of at most this many bits.
    pub(super) fn new(mut coefficients: Vec<u64>, base_bits_max: u32) -> Self {
        let divisor = coefficients.iter().copied().fold(0, gcd).max(1);
        coefficients.iter_mut().for_each(|coefficient| *coefficient /= divisor);
        let sum: u64 = coefficients.iter().sum();
        if sum < ROW_SUM_MAX {
            return Self { coefficients, divisor, base_bits: 0, count: 1 };
        }
        // A row has a digit of each item, and a carry of at most that many.
        let rows_max = ROW_SUM_MAX / (coefficients.len() as u64 + 2);
        let bits_max = rows_max.max(2).ilog2().min(base_bits_max);
        let sum_bits = u64::BITS - sum.leading_zeros();
        let count = sum_bits.div_ceil(bits_max);
        // Digits of equal size, and as few as possible: a solver cannot factorize a long chain of carries.
        Self { coefficients, divisor, base_bits: sum_bits.div_ceil(count), count: count as usize }
    }

    /// The number of digits.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Returns the weight of a row, from the highest, as a power of two.
    const fn shift(&self, row: usize) -> u32 {
        self.base_bits * (self.count - 1 - row) as u32
    }

    /// Returns a digit of a number. The highest has no limit.
    fn digit(&self, number: u64, row: usize) -> u64 {
        let shifted = number >> self.shift(row);
        if row == 0 { shifted } else { shifted & ((1 << self.base_bits) - 1) }
    }

    /// Returns the next digit of a sum, rounded down, given its higher digits.
    pub(super) fn floor_digit(&self, sum: u64, higher: &[i64]) -> i64 {
        self.next_digit(i128::from(sum / self.divisor) >> self.shift(higher.len()), higher)
    }

    /// Returns the next digit of a sum, rounded up, given its higher digits.
    pub(super) fn ceil_digit(&self, sum: u64, higher: &[i64]) -> i64 {
        self.next_digit(-(-i128::from(sum / self.divisor) >> self.shift(higher.len())), higher)
    }

    fn next_digit(&self, prefix: i128, higher: &[i64]) -> i64 {
        let fixed =
            higher.iter().fold(0_i128, |number, digit| (number << self.base_bits) + i128::from(*digit));
        let shifted = if higher.is_empty() { 0 } else { fixed << self.base_bits };
        i64::try_from(prefix - shifted).unwrap_or(i64::MAX)
    }

    /// Constrains the sum to at least a minimum.
    pub(super) fn at_least(&self, min: u64, x: &[Expression], rows: &mut Rows) {
        if min > 0 {
            self.constrain(min.div_ceil(self.divisor), Direction::AtLeast, x, rows);
        }
    }

    /// Constrains the sum to at most a maximum.
    pub(super) fn at_most(&self, max: u64, x: &[Expression], rows: &mut Rows) {
        self.constrain(max / self.divisor, Direction::AtMost, x, rows);
    }

    fn constrain(&self, limit: u64, direction: Direction, x: &[Expression], rows: &mut Rows) {
        let limits: Vec<i64> =
            (0..self.count).map(|row| i64::try_from(self.digit(limit, row)).unwrap_or(i64::MAX)).collect();
        let sums = self.rows(limit, direction, x, rows);
        self.limit(sums, &limits, direction, rows);
    }

    /// Returns the next digit of the sum, to be maximized. Its higher digits are fixed.
    pub(super) fn maximum(&self, higher: &[i64], x: &[Expression], rows: &mut Rows) -> Expression {
        self.objective(higher, Direction::AtLeast, x, rows)
    }

    /// Returns the next digit of the sum, to be minimized. Its higher digits are fixed.
    pub(super) fn minimum(&self, higher: &[i64], x: &[Expression], rows: &mut Rows) -> Expression {
        self.objective(higher, Direction::AtMost, x, rows)
    }

    fn objective(
        &self,
        higher: &[i64],
        direction: Direction,
        x: &[Expression],
        rows: &mut Rows,
    ) -> Expression {
        let mut sums = self.rows(0, direction, x, rows);
        let value = sums.remove(higher.len());
        let mut limits = higher.to_vec();
        limits.resize(self.count - 1, 0);
        self.limit(sums, &limits, direction, rows);
        value
    }

    /// Returns the sum of each row with its carries, from the highest row, for an inequality with this limit.
    fn rows(&self, limit: u64, direction: Direction, x: &[Expression], rows: &mut Rows) -> Vec<Expression> {
        let base = 2_f64.powi(self.base_bits as i32);
        let mut lower: Option<Variable> = None;
        let mut sums = Vec::with_capacity(self.count);
        for row in (0..self.count).rev() {
            let terms = x.iter().zip(&self.coefficients);
            let terms = terms.filter_map(|(variable, coefficient)| {
                let digit = self.digit(*coefficient, row);
                (digit > 0).then(|| to_float(digit) * variable.clone())
            });
            let mut sum: Expression = terms.sum();
            sum += lower.take().map_or_else(Expression::default, Expression::from);
            let carry_max = self.carry_max(row, limit, direction);
            // Solvers fail more often on variables and rows that constrain nothing.
            if carry_max > 0 {
                let carry = rows.variables.add(variable().integer().clamp(0, carry_max));
                sum -= base * carry;
                lower = Some(carry);
            }
            sums.push(sum);
        }
        sums.reverse();
        sums
    }

    /// Returns the largest useful carry from a row to the next higher one.
    fn carry_max(&self, row: usize, limit: u64, direction: Direction) -> u32 {
        if row == 0 {
            return 0;
        }
        let bits = self.shift(row) + self.base_bits;
        let low = |number: u64| i128::from(number & ((1 << bits) - 1));
        let excess = self.coefficients.iter().map(|number| low(*number)).sum::<i128>() - low(limit);
        let carry = match direction {
            Direction::AtLeast => excess >> bits,
            Direction::AtMost => -(-excess >> bits),
        };
        u32::try_from(carry.max(0)).unwrap_or(u32::MAX)
    }

    fn limit(&self, sums: Vec<Expression>, limits: &[i64], direction: Direction, rows: &mut Rows) {
        let has_variables = |sum: &Expression| sum.linear_coefficients().next().is_some();
        for (sum, limit) in sums.into_iter().zip(limits).filter(|(sum, _)| has_variables(sum)) {
            let limit = *limit as f64;
            rows.constraints.push(match direction {
                Direction::AtLeast => sum.geq(limit - 0.5),
                Direction::AtMost => sum.leq(limit + 0.5),
            });
        }
    }
}

/// Converts a number that is exact in floating point.
fn to_float(number: u64) -> f64 {
    assert!(number <= ROW_SUM_MAX, "digits are limited");
    number as f64
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
