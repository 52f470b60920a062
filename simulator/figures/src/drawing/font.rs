//! The font of texts, which is part of the program: a machine may have none.

use plotters::style::{FontFamily, FontStyle, register_font};
use std::sync::Once;

static REGISTERED: Once = Once::new();

/// Registers the font of all texts. Measuring and drawing a text without a font is an error of plotters.
pub(super) fn register() {
    REGISTERED.call_once(|| {
        let family = FontFamily::SansSerif;
        // The bytes are constant: a test draws with them.
        let _ = register_font(family.as_str(), FontStyle::Normal, ttf_noto_sans::REGULAR);
    });
}
