//! What was explored, for other people's tools.

pub mod dot;
pub mod itf;
