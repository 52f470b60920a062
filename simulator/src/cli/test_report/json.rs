//! The report as JSON: `orchestrion export schema --schema test-report`.

use super::TestReport;
use std::io::{self, Write};

pub(super) fn write(report: &TestReport, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}
