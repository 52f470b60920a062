//! Locations of the YAML library as byte ranges.

use miette::SourceSpan;

/// Returns the byte range of a location. The library's plain offsets count characters; miette requires bytes.
pub(crate) fn byte_span(location: serde_saphyr::Location) -> Option<SourceSpan> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let len = usize::try_from(span.byte_len()?).ok()?;
    Some(SourceSpan::new(start.into(), len))
}

/// Returns the byte range of a location that may have only a line and a column, as for invalid YAML.
pub(crate) fn byte_span_in(text: &str, location: serde_saphyr::Location) -> Option<SourceSpan> {
    byte_span(location).or_else(|| {
        let before = usize::try_from(location.line()).ok()?.checked_sub(1)?;
        let column = usize::try_from(location.column()).ok()?.saturating_sub(1);
        let lines: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
        let line = text.get(lines..)?.lines().next().unwrap_or("");
        let start = line.char_indices().nth(column).map_or(line.len(), |(start, _)| start);
        Some(SourceSpan::new(lines.saturating_add(start).into(), 0))
    })
}
