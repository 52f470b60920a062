//! What all figures share: their size, colors and legends.

use crate::drawing::{Area, Drawing, DrawingError};
use crate::error::FigureError;
use plotters::element::{Rectangle, Text};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};
use std::error::Error;
use std::ops::Range;

/// The size of a figure in pixels. On a telephone it is scaled down by a quarter, so its texts stay legible.
pub(crate) const SIZE: (u32, u32) = (480, 330);
/// The height of a line of text in pixels. Letters have a size of 12 pixels, and of 10 on a telephone.
pub(crate) const TEXT_PX: i32 = 15;
/// Texts and axes. The page replaces it by its own color of text.
pub(crate) const INK: RGBColor = RGBColor(0, 0, 0);
/// Grid lines, on light and dark ground.
pub(crate) const GRID: RGBColor = RGBColor(128, 128, 128);
/// Colors of series that people with deficient color vision can distinguish (Okabe and Ito), without yellow and black, which vanish on one
/// of the grounds.
pub(crate) const SERIES: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Draws a figure of this height in pixels.
pub(crate) fn draw<E: Error>(
    height: u32,
    body: impl FnOnce(&Area<'_>) -> Result<(), E>,
) -> Result<Drawing, FigureError> {
    Drawing::record((SIZE.0, height), body)
}

/// Returns the style of texts.
pub(crate) fn text() -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(TEXT_PX), FontStyle::Normal);
    TextStyle::from(font).color(&INK)
}

/// Returns a line style.
pub(crate) fn stroke(color: RGBColor) -> ShapeStyle {
    color.stroke_width(2)
}

/// Returns the color of the series with this number.
pub(crate) fn series_color(number: usize) -> RGBColor {
    SERIES.get(number % SERIES.len()).copied().unwrap_or(INK)
}

/// Returns the color of a text on a filled area, whichever of both has the higher contrast. It is the same on light and dark ground.
pub(crate) fn text_color_on(ground: RGBColor) -> RGBColor {
    let linear = |channel: u8| (f64::from(channel) / 255.0).powf(2.2);
    let luminance = 0.2126 * linear(ground.0) + 0.7152 * linear(ground.1) + 0.0722 * linear(ground.2);
    // The page replaces pure black by the color of its text.
    if luminance > 0.18 { RGBColor(1, 1, 1) } else { RGBColor(255, 255, 255) }
}

/// Returns a range that contains all values with a margin.
pub(crate) fn padded(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return 0.0..1.0;
    }
    let margin = if high > low { (high - low) * 0.06 } else { high.abs().max(0.1) * 0.1 };
    // A count or a rate is not negative.
    let low = if low >= 0.0 { (low - margin).max(0.0) } else { low - margin };
    low..high + margin
}

/// The height of a row of a legend in pixels.
const LEGEND_ROW_PX: i32 = 20;

/// The names of series with their colors, and where each is drawn.
pub(crate) struct Legend(Vec<(String, RGBColor, (i32, i32))>);

impl Legend {
    /// Places the entries in as few rows as fit the width of a figure.
    pub(crate) fn new(entries: impl Iterator<Item = (String, RGBColor)>) -> Self {
        let (mut x, mut y) = (12, 10);
        let place = |(name, color): (String, RGBColor)| {
            // Seven pixels are more than the mean width of a character.
            let width = 30 + 7 * i32::try_from(name.chars().count()).unwrap_or(0);
            if x > 12 && x + width > SIZE.0 as i32 {
                (x, y) = (12, y + LEGEND_ROW_PX);
            }
            let at = (x, y);
            x += width;
            (name, color, at)
        };
        Self(entries.map(place).collect())
    }

    /// The height of all rows in pixels; 0 without entries.
    pub(crate) fn height(&self) -> i32 {
        self.0.last().map_or(0, |(_, _, (_, y))| y + LEGEND_ROW_PX)
    }

    /// Draws the entries at the top of an area.
    pub(crate) fn draw(&self, area: &Area<'_>) -> Result<(), DrawingError> {
        for (name, color, (x, y)) in &self.0 {
            area.draw(&Rectangle::new([(*x, y + 2), (x + 11, y + 13)], color.filled()))?;
            area.draw(&Text::new(name.clone(), (x + 16, y + 1), text()))?;
        }
        Ok(())
    }
}
