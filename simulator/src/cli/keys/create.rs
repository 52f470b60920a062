//! `keys create`: a key for every node without one.

use super::Files;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output;
use miette::{IntoDiagnostic, Result};
use orchestrion_handoff::KeyError;
use orchestrion_kernel::NodeId;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Create a key for every node of a trust network that has no public key.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion keys create net.yaml              writes keys/NODE.key for each
                                                node, and net.yaml
  orchestrion keys create net.yaml --keys /etc/orchestrion/keys

The folder is created if it does not exist. A node that has a public_key is left
out: its key may be on another machine. A key file that exists is kept, and its
public key is written into the network file. Comments of the file stay.

Exit codes: 0 success; 2 error.")]
pub(super) struct Args {
    #[command(flatten)]
    files: Files,
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let opened = args.files.open()?;
    let nodes = opened.network.network.iter().filter(|node| node.public_key.is_empty());
    let nodes: Vec<NodeId> = nodes.map(|node| node.id.clone()).collect();
    opened.ensure_editable(&nodes)?;
    let mut public_keys = BTreeMap::new();
    let mut out = output::plain_stdout();
    for node in nodes {
        let (key, action) = match opened.keys.create(&node) {
            Ok(key) => (key, "created"),
            Err(KeyError::Exists { .. }) => (opened.keys.load(&node).into_diagnostic()?, "kept"),
            Err(error) => return Err(error).into_diagnostic(),
        };
        let path = opened.keys.key_path(&node).into_diagnostic()?;
        print_file(action, &path, &mut out).into_diagnostic()?;
        public_keys.insert(node, key.public_key());
    }
    if public_keys.is_empty() {
        writeln!(out, "every node has a public key; replace one with `orchestrion keys rotate`")
            .into_diagnostic()?;
    } else {
        opened.write(&public_keys)?;
        print_file("wrote", &opened.path, &mut out).into_diagnostic()?;
    }
    Ok(ExitStatus::Success)
}

fn print_file(action: &str, path: &Path, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "  {action:8} {}", path.display())
}
