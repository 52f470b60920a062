//! Tests that cross rooms; see `tests/`.
