//! Observations of states and steps.

/// A set of observations, which are numbered from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservationSet {
    words: Vec<u64>,
    count: usize,
    empty: bool,
}

impl ObservationSet {
    /// The empty set for this number of observations.
    #[must_use]
    pub fn empty(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)], count, empty: true }
    }

    /// Inserts an observation.
    ///
    /// # Panics
    ///
    /// If its number is out of range.
    pub fn insert(&mut self, observation: usize) {
        assert!(
            observation < self.count,
            "invalid observation: expected a number below {}, found {observation}",
            self.count
        );
        if let Some(word) = self.words.get_mut(observation / 64) {
            *word |= 1 << (observation % 64);
        }
        self.empty = false;
    }

    /// Whether the set contains an observation.
    #[must_use]
    pub fn contains(&self, observation: usize) -> bool {
        self.words.get(observation / 64).is_some_and(|word| word >> (observation % 64) & 1 == 1)
    }

    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// The observations in the set, the smallest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter(|observation| self.contains(*observation))
    }

    /// Removes every observation.
    #[inline]
    pub(super) fn clear(&mut self) {
        if !self.empty {
            self.words.fill(0);
            self.empty = true;
        }
    }

    /// Removes the observations that occurred before.
    #[inline]
    pub(super) fn remove_all(&mut self, seen: &Self) {
        if !self.empty {
            self.words.iter_mut().zip(&seen.words).for_each(|(word, seen)| *word &= !seen);
            self.empty = self.words.iter().all(|word| *word == 0);
        }
    }
}
