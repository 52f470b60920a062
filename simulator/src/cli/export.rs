//! `export`: what others read or draw.

use super::Outcome;
use crate::{pages, policy_file, scenario};
use clap::ValueEnum;
use miette::{IntoDiagnostic, Result};
use std::io::Write;
use std::path::Path;

/// Print the transition table, the diagram, the claims, a schema or a policy.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion export mermaid > diagram.mmd
  orchestrion export dot | dot -Tsvg > diagram.svg           a picture, by Graphviz
  orchestrion export table --policy as-drawn
  orchestrion export schema --of scenario > scenario.schema.json
  orchestrion export policy --policy hardened > mine.yaml    a complete policy file to start from")]
pub(super) struct Args {
    /// What to print.
    what: What,
    /// The policy: `hardened`, `as-drawn`, or a file. The table is whole without it.
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Which schema.
    #[arg(long, value_name = "FORMAT", default_value = "scenario")]
    of: Schema,
    /// In the diagram, also the rows for failing calls and for cancelling.
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// The transition table, as a Markdown page.
    Table,
    /// The diagram, as Mermaid text.
    Mermaid,
    /// The diagram, in the language of Graphviz.
    Dot,
    /// The catalogue of claims, as a Markdown page.
    Claims,
    /// A JSON Schema.
    Schema,
    /// A policy, as a complete file.
    Policy,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Schema {
    /// Of scenario files.
    Scenario,
    /// Of policy files.
    Policy,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let policy =
        args.policy.as_deref().map(|policy| policy_file::resolve(policy, Path::new("."))).transpose()?;
    let default = orchestrion_kernel::Policy::hardened;
    let text = match args.what {
        What::Table => pages::table(policy.as_ref()),
        What::Mermaid => pages::mermaid(&policy.unwrap_or_else(default), args.all),
        What::Dot => pages::dot(&policy.unwrap_or_else(default), args.all),
        What::Claims => pages::claims(),
        What::Schema => schema(match args.of {
            Schema::Scenario => scenario::scenario_schema(),
            Schema::Policy => policy_file::policy_schema(),
        })?,
        What::Policy => policy_file::write(&policy.unwrap_or_else(default)),
    };
    super::files::out().write_all(text.as_bytes()).into_diagnostic()?;
    Ok(Outcome::Fine)
}

fn schema(schema: serde_json::Value) -> Result<String> {
    let mut text = serde_json::to_string_pretty(&schema).into_diagnostic()?;
    text.push('\n');
    Ok(text)
}
