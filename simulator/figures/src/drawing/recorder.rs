//! The backend that records shapes.

use super::shape::{Lettering, Shape, Stroke};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use std::convert::Infallible;

type Recorded = Result<(), DrawingErrorKind<Infallible>>;

/// A backend that keeps every shape, and draws none.
pub(crate) struct Recorder<'a> {
    size: (u32, u32),
    shapes: &'a mut Vec<Shape>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(size: (u32, u32), shapes: &'a mut Vec<Shape>) -> Self {
        Self { size, shapes }
    }

    fn add(&mut self, shape: Shape) -> Recorded {
        self.shapes.push(shape);
        Ok(())
    }
}

impl DrawingBackend for Recorder<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Recorded {
        Ok(())
    }

    fn present(&mut self) -> Recorded {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Recorded {
        self.add(Shape::Pixel { at, color })
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Recorded {
        self.add(Shape::Line { from, to, stroke: Stroke::new(style) })
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        is_filled: bool,
    ) -> Recorded {
        self.add(Shape::Rectangle { from, to, stroke: Stroke::new(style), is_filled })
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Recorded {
        self.add(Shape::Path { points: path.into_iter().collect(), stroke: Stroke::new(style) })
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        is_filled: bool,
    ) -> Recorded {
        self.add(Shape::Circle { center, radius, stroke: Stroke::new(style), is_filled })
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Recorded {
        self.add(Shape::Polygon { points: corners.into_iter().collect(), color: style.color() })
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Recorded {
        self.add(Shape::Text { text: text.to_owned(), at, style: Lettering::new(style) })
    }
}
