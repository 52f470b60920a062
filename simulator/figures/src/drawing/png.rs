//! A drawing as PNG.

use super::Drawing;
use super::shape::Scale;
use crate::error::FigureError;
use plotters::backend::BitMapBackend;
use png::{BitDepth, ColorType, Encoder, PixelDimensions, Unit};

/// The bytes of a text chunk near the start of every PNG file.
pub const PNG_MARK: &[u8] = b"tEXtSoftware\0orchestrion";

/// The pixels of the file for a pixel of the figure, on each axis.
const FILE_SCALE: usize = 2;
/// The drawn pixels of which each pixel of the file is the mean: slanted lines of the backend have steps.
const SAMPLES: usize = 2;

/// Noto Sans has a line height of 1.362 em and plotters one of 1.24, by which it divides the size in SVG. A text of a bitmap is as large as
/// that of SVG with their quotient. Its baseline is then an eighth of an em too high; the mean is over the anchors.
const DRAWN: Scale =
    Scale { shapes: (FILE_SCALE * SAMPLES) as i32, texts: 4.0 * 1.362 / 1.24, texts_lower: 0.09 };

/// The pixels of the file in a meter, for a figure of 96 pixels in an inch.
const PIXELS_PER_METER: u32 = 7559;

impl Drawing {
    /// Returns the PNG file, on a white ground and at twice the size.
    pub(crate) fn png(&self) -> Result<Vec<u8>, FigureError> {
        let (width, height) = (self.size.0 as usize * FILE_SCALE, self.size.1 as usize * FILE_SCALE);
        let pixels = reduced(&self.pixels()?, width * SAMPLES);
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, width as u32, height as u32);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_pixel_dims(Some(PixelDimensions {
            xppu: PIXELS_PER_METER,
            yppu: PIXELS_PER_METER,
            unit: Unit::Meter,
        }));
        let write = || {
            encoder.add_text_chunk("Software".to_owned(), "orchestrion".to_owned())?;
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&pixels)?;
            writer.finish()
        };
        write().map_err(|error| FigureError::new(&error))?;
        Ok(file)
    }

    /// Returns red, green and blue of all drawn pixels.
    fn pixels(&self) -> Result<Vec<u8>, FigureError> {
        let scale = (FILE_SCALE * SAMPLES) as u32;
        let (width, height) = (self.size.0 * scale, self.size.1 * scale);
        let mut pixels = vec![u8::MAX; width as usize * height as usize * 3];
        let mut backend = BitMapBackend::with_buffer(&mut pixels, (width, height));
        for shape in &self.shapes {
            shape.draw(&mut backend, DRAWN).map_err(|error| FigureError::new(&error))?;
        }
        drop(backend);
        Ok(pixels)
    }
}

/// Returns the means of squares of pixels.
fn reduced(pixels: &[u8], width: usize) -> Vec<u8> {
    let mut means = Vec::with_capacity(pixels.len() / (SAMPLES * SAMPLES));
    for rows in pixels.chunks_exact(width * 3 * SAMPLES) {
        let rows: Vec<&[u8]> = rows.chunks_exact(width * 3).collect();
        for column in (0..width / SAMPLES).map(|column| column * SAMPLES * 3) {
            for channel in 0..3 {
                let samples = rows.iter().flat_map(|row| {
                    row.iter().skip(column + channel).step_by(3).take(SAMPLES).copied().map(usize::from)
                });
                means.push((samples.sum::<usize>() / (SAMPLES * SAMPLES)) as u8);
            }
        }
    }
    means
}
