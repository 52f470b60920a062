//! The references by which claims judge, written from the source clauses.

pub(crate) mod network;
pub(crate) mod trust;
