//! The error of a figure.

use std::error::Error;
use thiserror::Error;

/// A figure that cannot be drawn, which is a bug.
#[derive(Debug, Error)]
#[error("figure: {0}")]
pub struct FigureError(String);

impl FigureError {
    pub(crate) fn new(error: &impl Error) -> Self {
        Self(error.to_string())
    }
}
