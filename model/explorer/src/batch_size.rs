//! How many states are expanded at a time.

/// Whether successors are looked up one at a time, because dropping and making them takes more time than the lookup.
pub(super) const fn at_once<S>() -> bool {
    std::mem::needs_drop::<S>()
}

/// The number of states that are expanded before their successors are looked up: fewer for large states, so that the
/// successors stay in the cache. Tests have small models.
pub(super) const fn batch_len<S>() -> u32 {
    match size_of::<S>() {
        _ if at_once::<S>() => 1,
        _ if cfg!(test) => 2,
        0..=32 => 64,
        33..=256 => 8,
        _ => 1,
    }
}
