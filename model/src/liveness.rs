//! Liveness: whether what opens is always kept, on the graph of what was explored.

mod promise;

pub use promise::{CLASSES, ClassSet, Fairness, Promise, PromiseKind};
