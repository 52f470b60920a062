//! How many states are expanded at a time.

/// The number of states that are expanded before their successors are observed up: a power of two, and fewer for large
/// states, so that the successors stay in the cache. Tests have small models.
pub(super) const fn batch_len<S>() -> u32 {
    match size_of::<S>() {
        _ if cfg!(test) => 2,
        0..=32 => 64,
        33..=256 => 8,
        _ => 1,
    }
}

/// The number of states that a thread takes at a time; fewer if states are large. Tests have small models.
pub(super) const fn chunk<S>() -> u32 {
    match batch_len::<S>() {
        _ if cfg!(test) => 2,
        1 => 64,
        _ => 128,
    }
}

/// With a smaller frontier, several threads do not pay.
pub(super) const fn parallel_threshold<S>() -> u32 {
    2 * chunk::<S>()
}
