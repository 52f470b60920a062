//! `keys create`: a key for every node without one.

use super::{Files, Opened};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output;
use crate::cli::progress::ProgressLine;
use indicatif::HumanCount;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_handoff::KeyError;
use orchestrion_kernel::NodeId;
use orchestrion_network::LoadedNetwork;
use orchestrion_report::text::sanitize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Create a key for every node of a trust network that has no public key.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion keys create net.yaml              writes keys/NODE.key for each
                                                node, and net.yaml
  orchestrion keys create net.yaml --keys /etc/orchestrion/keys
  orchestrion keys create net.yaml --all        after a clone: new keys for the
                                                nodes without a key file

The folder is created if it does not exist. A node that has a public_key is left
out, unless --all is given: its key may be on another machine. A key file that
exists is kept, and its public key is written into the network file. A key file
that is damaged, a copy of another node's, or open to others is refused, as is a
folder that is open to others. Comments of the network file stay.

Exit codes: 0 success; 2 error.")]
pub(super) struct Args {
    #[command(flatten)]
    files: Files,
    /// Also create a key for a node whose key file is missing, and replace each public key that is not that of its key file.
    #[arg(long)]
    all: bool,
}

/// The nodes that get a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Those without a public key.
    PublicKey,
    /// Those without a public key, or without a key file of it.
    AnyKey,
}

/// The key file of a node.
pub(in crate::cli) struct KeyFile {
    pub(in crate::cli) path: PathBuf,
    /// Whether the file is new.
    pub(in crate::cli) is_new: bool,
}

/// Creates the keys that are missing, and writes the public keys into the network file.
pub(super) fn create_keys(network: LoadedNetwork, opened: &Opened, missing: Missing) -> Result<Vec<KeyFile>> {
    let (mut nodes, mut owners) = (BTreeSet::<NodeId>::new(), BTreeMap::<Vec<u8>, NodeId>::new());
    for node in network.network.iter() {
        let has_key = match missing {
            Missing::PublicKey => !node.public_key.is_empty(),
            Missing::AnyKey => opened.has_key_of(node).into_diagnostic()?,
        };
        if has_key {
            owners.insert(node.public_key.to_vec(), node.id.clone());
        } else {
            nodes.insert(node.id.clone());
        }
    }
    drop(network);
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let places = opened.key_places(&nodes)?;
    let (mut files, mut public_keys) = (Vec::new(), BTreeMap::new());
    let (start, mut line) = (Instant::now(), ProgressLine::new("keys", false));
    let count = nodes.len() as u64;
    for node in nodes {
        line.show(start.elapsed(), format!("{} of {}", HumanCount(files.len() as u64), HumanCount(count)));
        let (key, is_new) = match opened.keys.create(&node) {
            Ok(key) => (key, true),
            Err(KeyError::Exists { .. }) => (opened.keys.load(&node).into_diagnostic()?, false),
            Err(error) => return Err(error).into_diagnostic(),
        };
        if let Some(owner) = owners.insert(key.public_key().to_vec(), node.clone()) {
            return Err(miette!(
                help = "delete this file: it is a copy, and both nodes could sign for each other",
                "{}: expected a key of its own, found that of the node {}",
                sanitize(&opened.keys.key_path(&node).into_diagnostic()?.display().to_string()),
                sanitize(owner.as_str())
            ));
        }
        files.push(KeyFile { path: opened.keys.key_path(&node).into_diagnostic()?, is_new });
        public_keys.insert(node, key.public_key());
    }
    line.finish();
    opened.write(&places, &public_keys, || Ok(()))?;
    Ok(files)
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let (network, opened) = args.files.open()?;
    let files = create_keys(network, &opened, if args.all { Missing::AnyKey } else { Missing::PublicKey })?;
    let mut out = output::plain_stdout();
    if files.is_empty() {
        let help = if args.all {
            "no key is missing; replace one with `orchestrion keys rotate`"
        } else {
            "every node has a public key; `--all` also creates key files that are missing here, and `orchestrion keys rotate` \
             replaces a key"
        };
        writeln!(out, "{help}").into_diagnostic()?;
        return Ok(ExitStatus::Success);
    }
    for KeyFile { path, is_new } in files {
        print_file(if is_new { "created" } else { "kept" }, &path, &mut out).into_diagnostic()?;
    }
    print_file("wrote", &opened.path, &mut out).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

fn print_file(action: &str, path: &Path, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "  {action:8} {}", path.display())
}
