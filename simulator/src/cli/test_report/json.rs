//! The report as JSON: `orchestrion export schema --schema test-report`.

use super::TestReport;
use orchestrion_report::text::escape_json;
use serde::Serialize;
use std::io::{self, Write};

pub(super) fn write(report: &TestReport, out: &mut impl Write) -> io::Result<()> {
    write_value(report, out)
}

/// Writes a value as JSON that is safe for a terminal, too.
pub(in crate::cli) fn write_value(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", escape_json(&serde_json::to_string_pretty(value)?))
}
