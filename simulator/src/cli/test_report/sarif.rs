//! The diagnostics as SARIF 2.1.0. The tests read them with a library that follows the standard's schema.

use super::json::write_value;
use super::{Diagnostic, Level, Location, Rule, TestReport};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    column_kind: &'static str,
    automation_details: AutomationDetails,
    invocations: [Invocation; 1],
    results: Vec<SarifResult<'a>>,
}

/// Distinguishes the runs of several commands in one workflow.
#[derive(Serialize)]
struct AutomationDetails {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    /// Whether the command could do its work.
    execution_successful: bool,
    exit_code: u8,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
struct Driver<'a> {
    name: &'static str,
    version: &'static str,
    rules: Vec<RuleDescriptor<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleDescriptor<'a> {
    id: &'a str,
    short_description: Message<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'static str,
    message: Message<'a>,
    locations: [SarifLocation; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation {
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<usize>,
}

pub(super) fn write(report: &TestReport, out: &mut impl Write) -> io::Result<()> {
    let mut rules: Vec<&Rule> = Vec::new();
    let mut results = Vec::new();
    for diagnostic in report.diagnostics() {
        let rule_index = rules.iter().position(|rule| rule.id == diagnostic.rule.id).unwrap_or_else(|| {
            rules.push(&diagnostic.rule);
            rules.len() - 1
        });
        results.push(result(diagnostic, rule_index));
    }
    let rules = rules.into_iter().map(|rule| RuleDescriptor {
        id: &rule.id,
        short_description: Message { text: rule.requirement.as_ref().into() },
    });
    let driver = Driver { name: "orchestrion", version: env!("CARGO_PKG_VERSION"), rules: rules.collect() };
    let run = Run {
        tool: Tool { driver },
        column_kind: "unicodeCodePoints",
        automation_details: AutomationDetails { id: format!("orchestrion/{}", report.command) },
        invocations: [Invocation {
            execution_successful: report.exit_code != super::ExitStatus::Error.code(),
            exit_code: report.exit_code,
        }],
        results,
    };
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    write_value(&Log { schema, version: "2.1.0", runs: [run] }, out)
}

fn result(diagnostic: &Diagnostic, rule_index: usize) -> SarifResult<'_> {
    let Diagnostic { rule, level, message, help, location: Location { file, line, column }, .. } = diagnostic;
    let text = help.as_ref().map_or_else(|| message.into(), |help| format!("{message}\n{help}").into());
    SarifResult {
        rule_id: &rule.id,
        rule_index,
        level: match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        },
        message: Message { text },
        locations: [SarifLocation {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri: uri(file) },
                region: line.map(|start_line| Region { start_line, start_column: *column }),
            },
        }],
    }
}

/// Returns a path as a URI reference: relative, or with the scheme `file` if it is absolute.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.trim_start_matches("./").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
