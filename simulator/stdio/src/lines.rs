//! The lines of a host, with limits on their lengths.

use orchestrion_files::limits::{HOST_LINE_BYTES_MAX, HOST_SKIPPED_BYTES_MAX};
use std::io::{self, BufRead, Read};

/// A line of the host.
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Its bytes without the newline; why they were not read.
    pub(crate) content: Result<&'a [u8], String>,
    /// Whether it ends with a newline.
    pub(crate) is_complete: bool,
}

/// Reads the lines that are not blank, until the end of the input or a line that never ends.
pub(crate) fn read_lines(mut input: impl BufRead, mut receive: impl FnMut(Line<'_>)) {
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        match input.by_ref().take(HOST_LINE_BYTES_MAX as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let is_complete = line.ends_with(b"\n");
        if !is_complete && line.len() == HOST_LINE_BYTES_MAX {
            let reason = format!("line too long: expected at most {HOST_LINE_BYTES_MAX} bytes, found more");
            match skip_line(&mut input, HOST_SKIPPED_BYTES_MAX) {
                Ok(true) => receive(Line { number, content: Err(reason), is_complete: true }),
                Ok(false) => {
                    let reason = format!(
                        "{reason}; no newline follows within {HOST_SKIPPED_BYTES_MAX} bytes, so the host is disconnected"
                    );
                    receive(Line { number, content: Err(reason), is_complete: true });
                    return;
                }
                Err(_) => return,
            }
            continue;
        }
        // Without its newline, so that an error is located in this line.
        let content = line.trim_ascii_end();
        if !content.trim_ascii().is_empty() {
            receive(Line { number, content: Ok(content), is_complete });
        }
    }
}

/// Reads to the end of a line without keeping it. Returns whether it has at most so many bytes; a device may never end it.
fn skip_line(input: &mut impl BufRead, bytes_max: u64) -> io::Result<bool> {
    let mut skipped = 0u64;
    while skipped < bytes_max {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (read, done) = match end {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(read);
        if done {
            return Ok(true);
        }
        skipped = skipped.saturating_add(read as u64);
    }
    Ok(false)
}
