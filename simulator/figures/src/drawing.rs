//! A drawing: the shapes of a figure, recorded once and written as SVG or PNG.
//!
//! [`Recorder`] is the backend on which figures are drawn. Both outputs repeat the same shapes, so they show the same figure, and the code
//! that draws exists once for both. Deliberately absent: pictures, which no figure contains.

mod font;
mod png;
mod recorder;
mod shape;
mod svg;

pub use png::PNG_MARK;
pub(crate) use recorder::Recorder;

use crate::error::FigureError;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use shape::Shape;
use std::convert::Infallible;
use std::error::Error;

/// The area of a figure, or a part of it.
pub(crate) type Area<'a> = DrawingArea<Recorder<'a>, Shift>;

/// The error of a drawing.
pub(crate) type DrawingError = DrawingAreaErrorKind<Infallible>;

/// The shapes of a figure, in the order in which they are drawn.
#[derive(Clone)]
pub(crate) struct Drawing {
    size: (u32, u32),
    shapes: Vec<Shape>,
}

impl Drawing {
    /// Records what `body` draws on an area of this width and height in pixels.
    pub(crate) fn record<E: Error>(
        size: (u32, u32),
        body: impl FnOnce(&Area<'_>) -> Result<(), E>,
    ) -> Result<Self, FigureError> {
        // Labels are placed by the sizes of their texts.
        font::register();
        let mut shapes = Vec::new();
        {
            let area = Recorder::new(size, &mut shapes).into_drawing_area();
            body(&area).map_err(|error| FigureError::new(&error))?;
        }
        Ok(Self { size, shapes })
    }
}
