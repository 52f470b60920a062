//! A condition of serialization.

/// Whether a value is the default, which a file omits.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
