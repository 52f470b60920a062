//! Errors as plain text, for snapshots.

/// Renders an error with its source excerpt, without colours and without trailing spaces.
#[must_use]
pub fn render_error(error: &dyn miette::Diagnostic) -> String {
    let mut text = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor())
        .with_width(1000);
    // Writing to a string does not fail.
    let _ = handler.render_report(&mut text, error);
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
