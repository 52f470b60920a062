//! Random choices of an experiment: which module makes which choice, and with which weights.
//!
//! The environment makes every choice through [`Draws`]. So the same code runs at random, and under an enumeration of all choices.

use orchestrion_kernel::Score;
use orchestrion_kernel::module::{Module, Role};

/// The source of the choices.
pub trait Draws {
    /// Returns an index, with a probability in proportion to its weight. The sum of the weights is positive.
    fn pick(&mut self, stream: Stream, weights: &[u64]) -> usize;

    /// Returns a number below `bound`, each equally likely. `bound` is positive.
    fn below(&mut self, stream: Stream, bound: u32) -> u32;

    /// Returns whether an event with this probability happens.
    fn happens(&mut self, stream: Stream, probability: Score) -> bool {
        let millionths = u64::from(probability.millionths());
        self.pick(stream, &[1_000_000 - millionths, millionths]) == 1
    }
}

/// A named random stream: the subject and the purpose of its choices. Equal streams give equal numbers under every policy of an
/// experiment (common random numbers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream {
    /// Who chooses.
    pub subject: Subject,
    /// What is chosen.
    pub purpose: Purpose,
}

/// Who chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The world: the truth about plans, and errors that debaters have in common.
    World,
    /// A module. All additional debaters share one.
    Module(Module),
}

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Whether a plan is acceptable.
    Truth,
    /// The error that debaters have in common.
    CommonError,
    /// Whether a debater takes the common error.
    TakesCommon,
    /// Whether a debater keeps its stance.
    Keeps,
    /// Whether a reply is wrong, or a task fails.
    Error,
    /// The confidence of an argument.
    Confidence,
    /// Whether a plan is revised or repaired.
    Revision,
    /// Whether and how a call fails.
    Failure,
    /// The duration of a call.
    Duration,
    /// Whether a node reports success for a bad result.
    Lie,
    /// The choice of an adversary.
    Adversary,
    /// Whether a summary keeps an item.
    Summary,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 12] = [
        Self::Truth,
        Self::CommonError,
        Self::TakesCommon,
        Self::Keeps,
        Self::Error,
        Self::Confidence,
        Self::Revision,
        Self::Failure,
        Self::Duration,
        Self::Lie,
        Self::Adversary,
        Self::Summary,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Truth => "truth",
            Self::CommonError => "common error",
            Self::TakesCommon => "takes common",
            Self::Keeps => "keeps",
            Self::Error => "error",
            Self::Confidence => "confidence",
            Self::Revision => "revision",
            Self::Failure => "failure",
            Self::Duration => "duration",
            Self::Lie => "lie",
            Self::Adversary => "adversary",
            Self::Summary => "summary",
        }
    }
}

impl Stream {
    /// The number of streams.
    pub const COUNT: usize = (Module::ALL.len() + 1) * Purpose::ALL.len();

    /// Returns the stream of the world.
    #[must_use]
    pub const fn world(purpose: Purpose) -> Self {
        Self { subject: Subject::World, purpose }
    }

    /// Returns the stream of a module.
    #[must_use]
    pub const fn module(module: Module, purpose: Purpose) -> Self {
        Self { subject: Subject::Module(module), purpose }
    }

    /// Returns the stream of a debater or reviewer.
    #[must_use]
    pub const fn role(role: Role, purpose: Purpose) -> Self {
        Self::module(Module::Debater(role), purpose)
    }

    /// Returns the position of the stream, below [`Stream::COUNT`].
    #[must_use]
    pub fn index(self) -> usize {
        let subject = match self.subject {
            Subject::World => 0,
            Subject::Module(module) => 1 + Module::ALL.iter().position(|other| *other == module).unwrap_or(0),
        };
        let purpose = Purpose::ALL.iter().position(|other| *other == self.purpose).unwrap_or(0);
        subject * Purpose::ALL.len() + purpose
    }

    /// Returns the stream at a position.
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        let purpose = *Purpose::ALL.get(index % Purpose::ALL.len())?;
        let subject = match (index / Purpose::ALL.len()).checked_sub(1) {
            None => Subject::World,
            Some(module) => Subject::Module(*Module::ALL.get(module)?),
        };
        Some(Self { subject, purpose })
    }

    /// Returns the name from which the random numbers of the stream are derived.
    #[must_use]
    pub fn name(self) -> String {
        match self.subject {
            Subject::World => format!("world/{}", self.purpose.name()),
            Subject::Module(module) => format!("{}/{}", module.name(), self.purpose.name()),
        }
    }
}
