//! Liveness properties and fairness assumptions.

/// The maximum number of fairness classes.
pub const CLASSES: u8 = 32;

/// A liveness property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivenessProperty {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: LivenessKind,
    /// The runs that count.
    pub fairness: Fairness,
}

/// The trigger of a property. A run violates the property if a state triggers it and no state from there on, itself
/// included, satisfies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivenessKind {
    /// Triggered in the states that the model names.
    LeadsTo,
    /// Triggered in the initial states only.
    Eventually,
    /// Triggered in every state.
    AlwaysEventually,
}

/// Which infinite runs count, by fairness classes. A finite run always counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fairness {
    /// Weak fairness: taken infinitely often, or disabled infinitely often.
    pub weak: ClassMask,
    /// Strong fairness: taken infinitely often if enabled infinitely often.
    pub strong: ClassMask,
    /// Taken only finitely often.
    pub finitely_often: ClassMask,
}

/// A set of fairness classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassMask(pub(super) u32);

impl ClassMask {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// This set with one more class.
    ///
    /// # Panics
    ///
    /// If the class is not below [`CLASSES`].
    #[must_use]
    pub const fn with(self, class: u8) -> Self {
        assert!(class < CLASSES, "there are 32 classes, from 0 on");
        Self(self.0 | 1 << class)
    }

    /// Whether the set contains the class.
    #[must_use]
    pub const fn has(self, class: u8) -> bool {
        class < CLASSES && self.0 & 1 << class != 0
    }
}
