//! Shapes with their places in pixels, and how a backend draws them.

use plotters::style::{FontDesc, FontFamily, FontStyle, FontTransform, TextStyle};
use plotters_backend::text_anchor::Pos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

#[derive(Clone)]
pub(super) enum Shape {
    Pixel { at: BackendCoord, color: BackendColor },
    Line { from: BackendCoord, to: BackendCoord, stroke: Stroke },
    Rectangle { from: BackendCoord, to: BackendCoord, stroke: Stroke, is_filled: bool },
    Path { points: Vec<BackendCoord>, stroke: Stroke },
    Circle { center: BackendCoord, radius: u32, stroke: Stroke, is_filled: bool },
    Polygon { points: Vec<BackendCoord>, color: BackendColor },
    Text { text: String, at: BackendCoord, style: Lettering },
}

/// The color and the width of a line.
#[derive(Clone, Copy)]
pub(super) struct Stroke {
    color: BackendColor,
    width: u32,
}

impl Stroke {
    pub(super) fn new(style: &impl BackendStyle) -> Self {
        Self { color: style.color(), width: style.stroke_width() }
    }

    fn enlarged(self, scale: Scale) -> Self {
        Self { color: self.color, width: self.width * scale.shapes.unsigned_abs() }
    }
}

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        self.color
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

/// The style of a text. Every figure has one family.
#[derive(Clone)]
pub(super) struct Lettering {
    size: f64,
    style: FontStyle,
    transform: FontTransform,
    color: BackendColor,
    anchor: Pos,
}

impl Lettering {
    pub(super) fn new(style: &impl BackendTextStyle) -> Self {
        Self {
            size: style.size(),
            style: style.style(),
            transform: style.transform(),
            color: style.color(),
            anchor: style.anchor(),
        }
    }

    fn enlarged(&self, scale: Scale) -> TextStyle<'static> {
        let font = FontDesc::new(FontFamily::SansSerif, self.size * scale.texts, self.style);
        TextStyle { font: font.transform(self.transform.clone()), color: self.color, pos: self.anchor }
    }
}

/// How much larger a backend draws than the pixels of the figure.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) shapes: i32,
    pub(super) texts: f64,
    /// How far a text moves down, as a share of its size.
    pub(super) texts_lower: f64,
}

impl Scale {
    fn point(self, (x, y): BackendCoord) -> BackendCoord {
        (x * self.shapes, y * self.shapes)
    }
}

impl Shape {
    /// Draws the shape on a backend.
    pub(super) fn draw<B: DrawingBackend>(
        &self,
        backend: &mut B,
        scale: Scale,
    ) -> Result<(), DrawingErrorKind<B::ErrorType>> {
        let place = |point: &BackendCoord| scale.point(*point);
        match self {
            Self::Pixel { at, color } => {
                let (x, y) = place(at);
                let end = (x + scale.shapes - 1, y + scale.shapes - 1);
                backend.draw_rect((x, y), end, color, true)
            }
            Self::Line { from, to, stroke } => {
                backend.draw_line(place(from), place(to), &stroke.enlarged(scale))
            }
            Self::Rectangle { from, to, stroke, is_filled } => {
                backend.draw_rect(place(from), place(to), &stroke.enlarged(scale), *is_filled)
            }
            Self::Path { points, stroke } => {
                backend.draw_path(points.iter().map(place), &stroke.enlarged(scale))
            }
            Self::Circle { center, radius, stroke, is_filled } => {
                let radius = radius * scale.shapes.unsigned_abs();
                backend.draw_circle(place(center), radius, &stroke.enlarged(scale), *is_filled)
            }
            Self::Polygon { points, color } => backend.fill_polygon(points.iter().map(place), color),
            Self::Text { text, at, style } => {
                let lower = (style.size * scale.texts * scale.texts_lower).round() as i32;
                let (x, y) = style.transform.transform(0, lower);
                let (left, top) = place(at);
                backend.draw_text(text, &style.enlarged(scale), (left + x, top + y))
            }
        }
    }
}
