//! What states and steps show.

/// A set of marks, which are numbered from 0 on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservationSet {
    words: Vec<u64>,
    count: usize,
    empty: bool,
}

impl ObservationSet {
    /// None of so many marks.
    #[must_use]
    pub fn empty(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)], count, empty: true }
    }

    /// Shows a mark.
    ///
    /// # Panics
    /// If there is no such mark.
    pub fn insert(&mut self, mark: usize) {
        assert!(mark < self.count, "there is no mark {mark}: the model has {}, from 0 on", self.count);
        if let Some(word) = self.words.get_mut(mark / 64) {
            *word |= 1 << (mark % 64);
        }
        self.empty = false;
    }

    /// Whether a mark is shown.
    #[must_use]
    pub fn contains(&self, mark: usize) -> bool {
        self.words.get(mark / 64).is_some_and(|word| word >> (mark % 64) & 1 == 1)
    }

    /// Whether no mark is shown.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// The marks that are shown, the smallest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter(|mark| self.contains(*mark))
    }

    /// Takes every mark away.
    #[inline]
    pub(super) fn clear(&mut self) {
        if !self.empty {
            self.words.fill(0);
            self.empty = true;
        }
    }

    /// Leaves only what was not seen.
    #[inline]
    pub(super) fn remove_all(&mut self, seen: &Self) {
        if !self.empty {
            self.words.iter_mut().zip(&seen.words).for_each(|(word, seen)| *word &= !seen);
            self.empty = self.words.iter().all(|word| *word == 0);
        }
    }
}
