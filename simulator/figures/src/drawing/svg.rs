//! A drawing as SVG.

use super::Drawing;
use super::shape::Scale;
use crate::error::FigureError;
use plotters::backend::SVGBackend;
use plotters_backend::DrawingBackend;

const UNSCALED: Scale = Scale { shapes: 1, texts: 1.0, texts_lower: 0.0 };

impl Drawing {
    /// Returns the SVG document, without a ground.
    pub(crate) fn svg(&self) -> Result<String, FigureError> {
        let mut svg = String::new();
        {
            let mut backend = SVGBackend::with_string(&mut svg, self.size);
            for shape in &self.shapes {
                shape.draw(&mut backend, UNSCALED).map_err(|error| FigureError::new(&error))?;
            }
            backend.present().map_err(|error| FigureError::new(&error))?;
        }
        Ok(svg)
    }
}
