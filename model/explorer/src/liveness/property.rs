//! What is promised, and what may be taken for granted of those who are to keep it.

/// How many classes of actions there may be.
pub const CLASSES: u8 = 32;

/// An obligation that opens and must be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivenessProperty {
    /// Its name.
    pub name: &'static str,
    /// When it opens.
    pub kind: LivenessKind,
    /// The runs that count.
    pub fair: Fairness,
}

/// When a promise opens. A run breaks it by a state that opens it with none from there on, itself included, that
/// keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivenessKind {
    /// In the states that say so.
    LeadsTo,
    /// In the initial states only.
    Eventually,
    /// In every state.
    AlwaysEventually,
}

/// Which infinite runs count, by classes of actions. A run that ends counts always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fairness {
    /// Taken again and again, or disabled again and again.
    pub weak: ClassMask,
    /// Taken again and again if enabled again and again.
    pub strong: ClassMask,
    /// Taken finitely often.
    pub finitely_often: ClassMask,
}

/// A set of classes of actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassMask(pub(super) u32);

impl ClassMask {
    /// No class.
    pub const NONE: Self = Self(0);

    /// This set and one class more.
    ///
    /// # Panics
    /// If the class is not below [`CLASSES`].
    #[must_use]
    pub const fn with(self, class: u8) -> Self {
        assert!(class < CLASSES, "there are 32 classes, from 0 on");
        Self(self.0 | 1 << class)
    }

    /// Whether the class is in it.
    #[must_use]
    pub const fn has(self, class: u8) -> bool {
        class < CLASSES && self.0 & 1 << class != 0
    }
}
