//! For tests: an error as its reader sees it, without colours.

/// The drawn error.
pub(crate) fn draw(error: &dyn miette::Diagnostic) -> String {
    let mut text = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor())
        .with_width(1000)
        .render_report(&mut text, error)
        .unwrap();
    // The drawing may pad lines; a snapshot should not depend on that.
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
