//! Distributions of confidences and durations, as finite tables of equally likely or weighted values.

use crate::draws::{Draws, Stream};
use orchestrion_kernel::Score;
use statrs::distribution::{Beta, ContinuousCDF};

/// The number of equally likely quantiles that replace a continuous distribution.
pub const QUANTILES: u32 = 4096;

/// A distribution of confidences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confidences {
    /// Values with weights.
    Weighted {
        /// The values.
        values: Vec<Score>,
        /// Their weights, of which one is positive.
        weights: Vec<u64>,
    },
    /// Each millionth from `min` to `max` is equally likely.
    Uniform {
        /// The minimum.
        min: Score,
        /// The maximum.
        max: Score,
    },
    /// Equally likely quantiles of a continuous distribution.
    Quantiles(Vec<Score>),
}

impl Confidences {
    /// Returns the distribution of one value.
    #[must_use]
    pub fn constant(value: Score) -> Self {
        Self::Weighted { values: vec![value], weights: vec![1] }
    }

    /// Returns the beta distribution, as [`QUANTILES`] equally likely values; `None` if a parameter is not positive.
    #[must_use]
    pub fn beta(alpha: f64, beta: f64) -> Option<Self> {
        let distribution = Beta::new(alpha, beta).ok()?;
        let value = |number: u32| {
            let middle = (f64::from(number) + 0.5) / f64::from(QUANTILES);
            let millionths = (distribution.inverse_cdf(middle) * 1e6).round().clamp(0.0, 1e6);
            Score::from_millionths(millionths as u32)
        };
        (0..QUANTILES).map(value).collect::<Option<Vec<Score>>>().map(Self::Quantiles)
    }

    /// Draws a confidence.
    pub fn draw(&self, draws: &mut impl Draws, stream: Stream) -> Score {
        match self {
            Self::Weighted { values, weights } => {
                let index = draws.pick(stream, weights);
                values.get(index).copied().unwrap_or(Score::ZERO)
            }
            Self::Uniform { min, max } => {
                let width = max.millionths().saturating_sub(min.millionths());
                let above = draws.below(stream, width.saturating_add(1));
                Score::from_millionths(min.millionths().saturating_add(above)).unwrap_or(*max)
            }
            Self::Quantiles(values) => {
                let index = draws.below(stream, u32::try_from(values.len()).unwrap_or(1));
                values.get(index as usize).copied().unwrap_or(Score::ZERO)
            }
        }
    }

    /// Returns whether the distribution has so few values that they can be enumerated.
    #[must_use]
    pub const fn is_discrete(&self) -> bool {
        match self {
            Self::Weighted { .. } => true,
            Self::Uniform { .. } | Self::Quantiles(_) => false,
        }
    }
}

/// A distribution of durations, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Durations {
    /// One duration.
    Constant(u32),
    /// Each millisecond from `min_ms` to `max_ms` is equally likely.
    Uniform {
        /// The minimum.
        min_ms: u32,
        /// The maximum.
        max_ms: u32,
    },
    /// Equally likely quantiles of a continuous distribution.
    Quantiles(Vec<u32>),
}

impl Durations {
    /// Returns the exponential distribution with this mean, as [`QUANTILES`] equally likely values.
    #[must_use]
    pub fn exponential(mean_ms: u32) -> Self {
        let value = |number: u32| {
            let middle = (f64::from(number) + 0.5) / f64::from(QUANTILES);
            (-f64::from(mean_ms) * (1.0 - middle).ln()).round() as u32
        };
        Self::Quantiles((0..QUANTILES).map(value).collect())
    }

    /// Draws a duration.
    pub fn draw_ms(&self, draws: &mut impl Draws, stream: Stream) -> u32 {
        match self {
            Self::Constant(duration_ms) => *duration_ms,
            Self::Uniform { min_ms, max_ms } => {
                let width = max_ms.saturating_sub(*min_ms);
                min_ms.saturating_add(draws.below(stream, width.saturating_add(1)))
            }
            Self::Quantiles(values) => {
                let index = draws.below(stream, u32::try_from(values.len()).unwrap_or(1));
                values.get(index as usize).copied().unwrap_or(0)
            }
        }
    }

    /// Returns whether every call takes the same time.
    #[must_use]
    pub const fn is_constant(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Uniform { min_ms, max_ms } => *min_ms == *max_ms,
            Self::Quantiles(_) => false,
        }
    }

    /// Returns the sum of the equally likely durations up to a deadline. With the first of [`Self::weights_at`] it gives their mean.
    #[must_use]
    pub fn timely_sum_ms(&self, deadline_ms: u64) -> u128 {
        match self {
            Self::Constant(duration_ms) => u128::from(*duration_ms),
            Self::Uniform { min_ms, max_ms } => {
                let (min, last) = (u128::from(*min_ms), u128::from(deadline_ms).min(u128::from(*max_ms)));
                if last < min { 0 } else { (min + last) * (last - min + 1) / 2 }
            }
            Self::Quantiles(values) => {
                let timely = values.iter().filter(|value| u64::from(**value) <= deadline_ms);
                timely.map(|value| u128::from(*value)).sum()
            }
        }
    }

    /// Returns the numbers of equally likely durations at most and above a deadline.
    #[must_use]
    pub fn weights_at(&self, deadline_ms: u64) -> [u64; 2] {
        let is_late = |duration_ms: u32| u64::from(duration_ms) > deadline_ms;
        match self {
            Self::Constant(duration_ms) => {
                [u64::from(!is_late(*duration_ms)), u64::from(is_late(*duration_ms))]
            }
            Self::Uniform { min_ms, max_ms } => {
                let all = u64::from(max_ms.saturating_sub(*min_ms)) + 1;
                let timely = (deadline_ms + 1).saturating_sub(u64::from(*min_ms)).min(all);
                [timely, all - timely]
            }
            Self::Quantiles(values) => {
                let late = values.iter().filter(|value| is_late(**value)).count() as u64;
                [values.len() as u64 - late, late]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Purpose;
    use crate::random::RandomDraws;
    use orchestrion_kernel::module::Role;

    const STREAM: Stream = Stream::role(Role::Critic, Purpose::Confidence);

    fn mean(count: u64, mut draw: impl FnMut(&mut RandomDraws) -> u32) -> f64 {
        let mut draws = RandomDraws::new(1);
        let mut sum = 0.0;
        for run in 0..count {
            draws.start_request(run, 0);
            sum += f64::from(draw(&mut draws));
        }
        sum / count as f64
    }

    /// The mean of beta(8, 2) is 0.8, its standard deviation 0.12.
    #[test]
    fn beta_has_its_mean() {
        let beta = Confidences::beta(8.0, 2.0).unwrap();
        let found = mean(20_000, |draws| beta.draw(draws, STREAM).millionths()) / 1e6;
        assert!((found - 0.8).abs() < 0.005, "{found}");
        assert_eq!(Confidences::beta(0.0, 2.0), None);
    }

    #[test]
    fn exponential_has_its_mean() {
        let durations = Durations::exponential(2000);
        let found = mean(20_000, |draws| durations.draw_ms(draws, STREAM));
        assert!((found - 2000.0).abs() < 75.0, "{found}");
        let [timely, late] = durations.weights_at(2000);
        let share = late as f64 / (timely + late) as f64;
        assert!((share - (-1.0_f64).exp()).abs() < 0.001, "{share}");
    }

    #[test]
    fn uniform_includes_both_limits() {
        let uniform = Durations::Uniform { min_ms: 3, max_ms: 5 };
        let mut draws = RandomDraws::new(1);
        draws.start_request(0, 0);
        let found: std::collections::BTreeSet<u32> =
            (0..100).map(|_| uniform.draw_ms(&mut draws, STREAM)).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(
            [2, 3, 4, 5].map(|deadline| uniform.weights_at(deadline)),
            [[0, 3], [1, 2], [2, 1], [3, 0]]
        );
    }
}
